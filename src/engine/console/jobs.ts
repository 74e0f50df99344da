import type { Logger } from 'pino'
import { ServiceError } from '../lib/errors/errors.ts'
import type { Job, Result } from './answers.ts'

/** What a job is to do. `update` has to be told how far it is; what that throws ends the job. */
export type Work = (update: (step: string, done: number, total: number) => void, signal: AbortSignal) => Promise<Result>

/** Work of minutes that an operator started in this process: one at a time. The last one stays to be looked at. */
export class Jobs {
  readonly #closing = new AbortController()
  readonly #now: () => number
  readonly #logger: Logger
  #last: Job | undefined
  #ended: Promise<void> = Promise.resolve()

  constructor(now: () => number, logger: Logger) {
    this.#now = now
    this.#logger = logger
  }

  /** The one that goes on, or went on last. */
  get last(): Job | undefined {
    return this.#last
  }

  /** Throws ServiceError already_running while one goes on. */
  start(kind: string, actor: string, work: Work): Job {
    if (this.#last !== undefined && this.#last.endedAt === undefined)
      throw new ServiceError(
        'already_running',
        `This process is busy with ${this.#last.kind}, begun by ${this.#last.actor}.`,
      )
    const job: Job = { kind, actor, startedAt: this.#now(), step: kind, done: 0, total: 0 }
    this.#last = job
    this.#ended = this.#run(work)
    return job
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#ended
  }

  async #run(work: Work): Promise<void> {
    const { signal } = this.#closing
    const update = (step: string, done: number, total: number) => {
      signal.throwIfAborted()
      this.#change({ step, done, total })
    }
    const result = await work(update, signal).catch((error): Result => {
      this.#logger.warn({ err: error, job: this.#last?.kind }, 'what an operator started has failed')
      return { outcome: error instanceof Error ? error.message : String(error), isGood: false }
    })
    this.#change({ endedAt: this.#now(), result })
  }

  #change(change: Partial<Job>): void {
    if (this.#last !== undefined) this.#last = { ...this.#last, ...change }
  }
}
