import type { Service } from './definition/service.ts'

/** A service that can be run. */
export interface Program {
  readonly service: Service
  /**
   * Serves until this process is told to end. A service that cannot be started, or is wrongly defined, ends the process
   * with words that say why.
   */
  start(env: NodeJS.ProcessEnv): Promise<Running>
  /** Runs a command of operators. Resolves to the exit code of the process. */
  command(argv: readonly string[]): Promise<number>
}

export interface Running {
  readonly url: string
  /** Finishes what is in flight. */
  close(): Promise<void>
}
