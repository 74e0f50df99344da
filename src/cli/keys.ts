import type { Command } from 'commander'
import { issueKey, readKeys, revokeKey } from '../api-keys/api-keys.ts'
import { readConfig } from '../app/config.ts'
import { print, printJson } from './output.ts'

export function addKeyCommands(program: Command): void {
  const keys = program.command('keys').description('API keys: running instances follow every change within a second')

  keys
    .command('issue')
    .description('Make a key and print it; only its hash is stored')
    .requiredOption('--name <name>', 'whom the key is for')
    .option('--json', 'print JSON')
    .action(({ name, json }: { name: string; json?: boolean }) => {
      const issued = issueKey(keyFile(), name, new Date())
      if (json) return printJson({ id: issued.id, name, key: issued.key })
      process.stderr.write(`Key ${issued.id} for ${name}, shown this once:\n`)
      print(issued.key)
    })

  keys
    .command('list')
    .description('List the keys: id, day of issue, name')
    .option('--json', 'print JSON')
    .action(({ json }: { json?: boolean }) => {
      const stored = readKeys(keyFile()) ?? []
      if (json) return printJson(stored.map(({ id, createdAt, name }) => ({ id, createdAt, name })))
      for (const { id, createdAt, name } of stored) print(`${id}  ${createdAt.slice(0, 10)}  ${name}`)
    })

  keys
    .command('revoke <id>')
    .description('Revoke a key by its id')
    .option('--json', 'print JSON')
    .action((id: string, { json }: { json?: boolean }) => {
      if (!revokeKey(keyFile(), id))
        throw new Error(`There is no key with the id ${id}; 'petstore keys list' shows them.`)
      if (json) return printJson({ id, revoked: true })
      print(`Key ${id} is revoked.`)
    })
}

function keyFile(): string {
  return readConfig(process.env).apiKeysFile
}
