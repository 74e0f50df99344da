import type { Service } from './door/service.ts'

/** A service that can be run. */
export interface Program {
  readonly service: Service
  /**
   * All that the program of a service does, by what follows its name: runs the command of operators that `argv` names, by
   * `process.env`, and sets the exit code; or, where it names none, serves until this process is told to end. A service
   * that cannot be started, or is wrongly defined, ends the process with words that say why.
   */
  run(argv: readonly string[]): Promise<void>
  /** Runs a command, or says which there are. Resolves to the exit code of the process. */
  command(argv: readonly string[]): Promise<number>
}
