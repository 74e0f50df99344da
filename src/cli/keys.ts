import type { Command } from 'commander'
import { issueKey, readKeys, revokeKey } from '../api-keys/api-keys.ts'
import { readConfig } from '../app/config.ts'
import { does, type Outcome } from './output.ts'

export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('API keys: running instances follow every change within a second')
  const issuing = keys.command('issue').requiredOption('--name <name>', 'whom the key is for')
  does(issuing, 'Make a key and print it; only its hash is stored', issue)
  does(keys.command('list'), 'List the keys: id, day of issue, name', list)
  does(keys.command('revoke <id>'), 'Revoke a key by its id', revoke)
}

function issue({ name, json }: { name: string; json?: boolean }): Outcome {
  const { id, key } = issueKey(keyFile(), name, new Date())
  if (!json) process.stderr.write(`Key ${id} for ${name}, shown this once:\n`)
  return { json: { id, name, key }, text: key }
}

function list(): Outcome {
  const stored = (readKeys(keyFile()) ?? []).map(({ id, createdAt, name }) => ({ id, createdAt, name }))
  const lines = stored.map(({ id, createdAt, name }) => `${id}  ${createdAt.slice(0, 10)}  ${name}`)
  return { json: stored, text: lines.join('\n') }
}

function revoke(id: string): Outcome {
  if (!revokeKey(keyFile(), id)) throw new Error(`There is no key with the id ${id}; 'petstore keys list' shows them.`)
  return { json: { id, revoked: true }, text: `Key ${id} is revoked.` }
}

function keyFile(): string {
  return readConfig(process.env).apiKeysFile
}
