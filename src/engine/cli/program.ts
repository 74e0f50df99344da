import { Command, CommanderError } from 'commander'
import { ConfigError } from '../app/environment.ts'
import { OutOfReachError, ServiceError } from '../lib/errors.ts'
import { toldOf } from '../lib/file-errors.ts'
import { release } from '../lib/release.ts'
import { VerifyError } from '../projector/replay.ts'
import { addBackupCommand } from './backup.ts'
import { addDoctorCommand } from './doctor.ts'
import { addEventsCommand } from './events.ts'
import { addKeyCommands } from './keys.ts'
import { escaped, exitCodes } from './output.ts'
import { addParkedCommands } from './parked.ts'
import { addReadModelCommands } from './read-models.ts'
import { addSeedCommand } from '../../store/seed.ts'

/** Runs one command, by `process.env`. Sets `process.exitCode` where it does not succeed. */
export async function runCommand(args: readonly string[]): Promise<void> {
  try {
    await newProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      process.stderr.write(`petstore: ${escaped(toldOf(error))}\n`)
    }
    process.exitCode = exitCodeOf(error)
  }
}

function newProgram(): Command {
  const program = new Command('petstore')
    .description('Operates the pet store. Log and read models are found by the variables that the service reads.')
    .version(`${release} (Node ${process.versions.node})`)
    .addHelpText('after', '\nExit codes: 0 done, 1 not as it should be, 2 bad usage or configuration, 3 out of reach.')
    .exitOverride()
  addKeyCommands(program)
  addReadModelCommands(program)
  addParkedCommands(program)
  addEventsCommand(program)
  addBackupCommand(program)
  addSeedCommand(program)
  addDoctorCommand(program)
  return program
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.badUsage
  if (error instanceof ConfigError) return exitCodes.badUsage
  if (error instanceof ServiceError || error instanceof OutOfReachError) return exitCodes.outOfReach
  return error instanceof VerifyError ? exitCodes.outOfReach : exitCodes.notAsItShouldBe
}
