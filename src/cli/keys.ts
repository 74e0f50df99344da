import type { Command } from 'commander'
import { type IssuedKey, issueKey, readKeys, revokeKey, rotateKey } from '../api-keys/api-keys.ts'
import { readConfig } from '../app/config.ts'
import { timeOfDay } from '../lib/clock.ts'
import { does, type Outcome } from './output.ts'

export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('API keys: running instances follow every change within a second')
  const issuing = keys.command('issue').requiredOption('--name <name>', 'whom the key is for')
  does(issuing, 'Make a key and print it; only its hash is stored', issue)
  does(keys.command('rotate <id>'), 'Make another key for the owner of this one, which stays valid', rotate)
  does(keys.command('list'), 'List the keys: id, day of issue, name', list)
  does(keys.command('revoke <id>'), 'Revoke a key by its id', revoke)
}

function issue({ name, json }: { name: string; json?: boolean }): Outcome {
  return show(issueKey(keyFile(), name, timeOfDay()), json)
}

function rotate(id: string, { json }: { json?: boolean }): Outcome {
  const issued = rotateKey(keyFile(), id, timeOfDay())
  if (issued === undefined) throw unknownKey(id)
  return show(issued, json)
}

function show({ id, name, key }: IssuedKey, json: boolean | undefined): Outcome {
  if (!json) process.stderr.write(`Key ${id} for ${name}, shown this once:\n`)
  return { json: { id, name, key }, text: key }
}

function list(): Outcome {
  const stored = (readKeys(keyFile()) ?? []).map(({ id, createdAt, name }) => ({ id, createdAt, name }))
  const lines = stored.map(({ id, createdAt, name }) => `${id}  ${createdAt.slice(0, 10)}  ${name}`)
  return { json: stored, text: lines.join('\n') }
}

function revoke(id: string): Outcome {
  if (!revokeKey(keyFile(), id)) throw unknownKey(id)
  return { json: { id, revoked: true }, text: `Key ${id} is revoked.` }
}

function unknownKey(id: string): Error {
  return new Error(`There is no key with the id ${id}; 'petstore keys list' shows them.`)
}

function keyFile(): string {
  return readConfig(process.env).apiKeysFile
}
