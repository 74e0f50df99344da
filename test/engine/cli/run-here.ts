import type { Environment } from '../../brokers/program.ts'
import { runCommands } from '../../lib/run-commands.ts'
import { theatre } from '../theatre/theatre.ts'

/** Runs commands of the theatre, as `runCommands` does. */
export const runHere = (environment: Environment, ...lines: readonly string[]) =>
  runCommands(theatre, environment, ...lines)
