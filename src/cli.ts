#!/usr/bin/env node
import { Command } from 'commander'
import { issueKey, readKeys, revokeKey } from './api-keys/key-file.ts'
import { readConfig } from './config.ts'

const program = new Command('petstore').description('Operates the pet store: see docs/operations.md.')
const keys = program.command('keys').description('API keys: running instances follow every change within a second')

keys
  .command('issue')
  .description('Make a key and print it; only its hash is stored')
  .requiredOption('--name <name>', 'whom the key is for')
  .action(({ name }: { name: string }) => {
    const { id, key } = issueKey(keyFile(), name, new Date())
    process.stderr.write(`Key ${id} for ${name}, shown this once:\n`)
    process.stdout.write(`${key}\n`)
  })

keys
  .command('list')
  .description('List the keys: id, day of issue, name')
  .action(() => {
    for (const { id, createdAt, name } of readKeys(keyFile()) ?? []) {
      process.stdout.write(`${id}  ${createdAt.slice(0, 10)}  ${name}\n`)
    }
  })

keys
  .command('revoke <id>')
  .description('Revoke a key by its id')
  .action((id: string) => {
    if (!revokeKey(keyFile(), id))
      throw new Error(`There is no key with the id ${id}; 'petstore keys list' shows them.`)
    process.stdout.write(`Key ${id} is revoked.\n`)
  })

function keyFile(): string {
  return readConfig(process.env).apiKeysFile
}

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`petstore: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
