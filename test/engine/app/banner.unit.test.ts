import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { banner } from '../../../src/engine/app/banner.ts'
import type { Definition } from '../../../src/engine/definition/definition.ts'
import { ownCommand } from '../../../src/engine/lib/operating/own-command.ts'
import { theatre } from '../theatre/theatre.ts'

const url = 'http://127.0.0.1:3000'
const paths = { dataDir: '/data', apiKeysFile: '/data/api-keys.json' }
const config = { ...paths, apiKeys: [], hasConsole: true, adminPort: undefined }
const issueAnother = `export THEATRE_KEY=$(API_KEYS_FILE=/data/api-keys.json ${ownCommand()} keys issue --name me)`

it('shows the key of a first start, and that it is shown only once', () => {
  const text = banner(theatre, { url, issuedKey: 'theatre_key' }, config)
  expect(text).toContain('  Your API key, shown only once:\n\n  export THEATRE_KEY=theatre_key\n')
})

it('says at a later start where keys come from, and how to issue another one', () => {
  const text = banner(theatre, { url, issuedKey: undefined }, config)
  const origin = 'You were shown your API key when it was issued. This issues another one:'
  expect(text).toContain(`  ${origin}\n\n  ${issueAnother}\n`)
})

it('lists the scopes, so that a misspelt one is seen', () => {
  const text = banner(theatre, { url, issuedKey: undefined }, config)
  expect(text).toContain('  Scopes of keys: read, write, bookings\n')
})

it('names the console where it is on the same port', () => {
  const shown = (over: object) => banner(theatre, { url, issuedKey: undefined }, { ...config, ...over })
  expect(shown({})).toContain(`  Console:        ${url}/console\n`)
  for (const other of [{ hasConsole: false }, { adminPort: 3001 }]) expect(shown(other)).not.toContain('Console')
})

it('names API_KEYS where it has some', () => {
  const text = banner(theatre, { url, issuedKey: undefined }, { ...config, apiKeys: ['a-key-of-twenty-letters'] })
  expect(text).toContain(
    'You were shown your API key when it was issued, or set it in API_KEYS. This issues another one:',
  )
})

it('names a file as one word for the shell', () => {
  const text = banner(theatre, { url, issuedKey: undefined }, { ...config, apiKeysFile: "/my data/it's.json" })
  expect(text).toContain(`$(API_KEYS_FILE='/my data/it'\\''s.json' ${ownCommand()} keys`)
})

it('sends an example as one word for the shell, whatever it has in it', () => {
  const body = Type.Object({ name: Type.String({ examples: ["it's"] }) })
  const [kind] = theatre.kinds
  const commands = kind.stream.commands.map((each) => ({ ...each, ...(each.body && { body }) }))
  const definition: Definition = { ...theatre, kinds: [{ ...kind, stream: { ...kind.stream, commands } }] }
  const text = banner(definition, { url, issuedKey: undefined }, config)
  expect(text).toContain(` -d '{"name":"it'\\''s"}' http`)
})
