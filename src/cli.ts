#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { ConfigError } from './app/environment.ts'
import { addBackupCommand } from './cli/backup.ts'
import { addDoctorCommand } from './cli/doctor.ts'
import { addEventsCommand } from './cli/events.ts'
import { addKeyCommands } from './cli/keys.ts'
import { escaped, exitCodes } from './cli/output.ts'
import { addParkedCommands } from './cli/parked.ts'
import { addReadModelCommands } from './cli/read-models.ts'
import { addSeedCommand } from './cli/seed.ts'
import { OutOfReachError, ServiceError } from './lib/errors.ts'
import { release } from './lib/release.ts'
import { VerifyError } from './projector/replay.ts'

for (const stream of [process.stdout, process.stderr]) {
  // Whoever reads has seen enough, as `head` has after some lines.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
}

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

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.badUsage
  if (error instanceof ConfigError) return exitCodes.badUsage
  if (error instanceof ServiceError || error instanceof OutOfReachError) return exitCodes.outOfReach
  return error instanceof VerifyError ? exitCodes.outOfReach : exitCodes.notAsItShouldBe
}

try {
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) {
    process.stderr.write(`petstore: ${escaped(error instanceof Error ? error.message : String(error))}\n`)
  }
  process.exitCode = exitCodeOf(error)
}
