import type { Command } from 'commander'
import { run } from '../app/run.ts'
import type { Definition } from '../definition/definition.ts'

export function addCommands(program: Command, definition: Definition): void {
  program
    .command('start')
    .description('Serve until told to end (SIGTERM), as configured by environment variables')
    .action(() => run(definition.service.name, () => definition, process.env))
}
