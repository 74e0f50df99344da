import { Command, CommanderError } from 'commander'
import { ConfigError } from '../app/variables.ts'
import type { Definition } from '../definition/definition.ts'
import { type EngineErrorCode, engineErrors } from '../lib/errors/engine-errors.ts'
import { OutOfReachError, ServiceError } from '../lib/errors/errors.ts'
import { toldOf } from '../lib/errors/file-errors.ts'
import { commandNames } from '../lib/operating/command-names.ts'
import { release } from '../lib/operating/release.ts'
import { escaped, exitCodes, outliveOutput } from './output.ts'

/** Runs one command, by `process.env`. Resolves to the exit code. */
export async function runCommand(
  name: string,
  makeDefinition: () => Definition,
  args: readonly string[],
): Promise<number> {
  try {
    const definition = makeDefinition()
    outliveOutput(name)
    const program = await newProgram(definition, args[0])
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (!(error instanceof CommanderError)) process.stderr.write(`${name}: ${escaped(toldOf(error))}\n`)
    return exitCodeOf(error)
  }
}

/** With the command of this name alone, where there is one; else with all, for help and suggestions. */
async function newProgram(definition: Definition, name = ''): Promise<Command> {
  const program = new Command(definition.service.name)
    .description('Operates the service. Log and read models are found by the variables that the service reads.')
    .version(`${release} (Node ${process.versions.node})`)
    .addHelpText('after', '\nExit codes: 0 done, 1 not as it should be, 2 bad usage or configuration, 3 out of reach.')
    .exitOverride()
  const all = modules(definition)
  const named = all.filter(([names]) => names.includes(name))
  for (const [, load] of named.length > 0 ? named : all) {
    const { addCommands } = await load()
    addCommands(program, definition)
  }
  return program
}

/** Adds some commands, and is loaded only for them, with what they need. */
type Module = Promise<{ addCommands(program: Command, definition: Definition): void }>

function modules({ service: { cli = [] } }: Definition): (readonly [names: readonly string[], load: () => Module])[] {
  return [
    [commandNames.start, () => import('./start.ts')],
    [commandNames.keys, () => import('./keys.ts')],
    [commandNames.readModels, () => import('./read-models.ts')],
    [commandNames.parked, () => import('./parked.ts')],
    [commandNames.published, () => import('./published.ts')],
    [commandNames.events, () => import('./events.ts')],
    [commandNames.streams, () => import('./streams.ts')],
    [commandNames.backup, () => import('./backup.ts')],
    [cli.map(({ name }) => name), () => import('./service-commands.ts')],
    [commandNames.doctor, () => import('./doctor.ts')],
    [commandNames.runbook, () => import('./runbook.ts')],
  ]
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.badUsage
  if (error instanceof ConfigError) return exitCodes.badUsage
  const isFault = error instanceof ServiceError && (engineErrors[error.code as EngineErrorCode]?.status ?? 500) >= 500
  return isFault || error instanceof OutOfReachError ? exitCodes.outOfReach : exitCodes.notAsItShouldBe
}
