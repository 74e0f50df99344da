import { Command, CommanderError } from 'commander'
import { ConfigError } from '../app/environment.ts'
import type { Definition } from '../definition/definition.ts'
import { OutOfReachError, ServiceError } from '../lib/errors.ts'
import { toldOf } from '../lib/file-errors.ts'
import { release } from '../lib/release.ts'
import { VerifyError } from '../projector/scratch.ts'
import { addBackupCommand } from './backup.ts'
import { addDoctorCommand } from './doctor.ts'
import { addEventsCommand } from './events.ts'
import { addKeyCommands } from './keys.ts'
import { escaped, exitCodes, outliveOutput } from './output.ts'
import { addParkedCommands } from './parked.ts'
import { addReadModelCommands } from './read-models.ts'
import { addServiceCommands } from './service-commands.ts'

/** Runs one command, by `process.env`. Resolves to the exit code. */
export async function runCommand(makeDefinition: () => Definition, args: readonly string[]): Promise<number> {
  let name = 'service'
  try {
    const definition = makeDefinition()
    name = definition.service.name
    outliveOutput(name)
    await newProgram(definition).parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (!(error instanceof CommanderError)) process.stderr.write(`${name}: ${escaped(toldOf(error))}\n`)
    return exitCodeOf(error)
  }
}

function newProgram(definition: Definition): Command {
  const program = new Command(definition.service.name)
    .description('Operates the service. Log and read models are found by the variables that the service reads.')
    .version(`${release} (Node ${process.versions.node})`)
    .addHelpText('after', '\nExit codes: 0 done, 1 not as it should be, 2 bad usage or configuration, 3 out of reach.')
    .exitOverride()
  addKeyCommands(program, definition)
  addReadModelCommands(program, definition)
  addParkedCommands(program, definition)
  addEventsCommand(program, definition)
  addBackupCommand(program, definition)
  addServiceCommands(program, definition)
  addDoctorCommand(program, definition)
  return program
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.badUsage
  if (error instanceof ConfigError) return exitCodes.badUsage
  if (error instanceof ServiceError || error instanceof OutOfReachError) return exitCodes.outOfReach
  return error instanceof VerifyError ? exitCodes.outOfReach : exitCodes.notAsItShouldBe
}
