import type { Environment } from '../brokers/program.ts'
import { runCommands } from '../lib/run-commands.ts'
import { petstore } from './petstore.ts'

/** Runs commands of the store, as `runCommands` does. */
export const runHere = (environment: Environment, ...lines: readonly string[]) =>
  runCommands(petstore, environment, ...lines)
