import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { EventLog } from '../event-log/event-log.ts'
import { ServiceError } from '../lib/errors.ts'
import type { ReadModels } from '../read-models/read-models.ts'

/** The generation that a projector fills. */
export interface Target {
  /** Throws what the store throws. */
  current(): Promise<string>
  /**
   * What `generation` holds is not, or no longer, made from the log: it must not be gone on with. Resolves to whether
   * there is another one to go on with at once.
   */
  replace(generation: string, reason: string): Promise<boolean>
}

/** Projectors of two logs, one of which has to be restarted, take the read models from each other no more often. */
const betweenLogsMs = 5000

interface ActiveTargetOptions {
  readonly store: Pick<ReadModels, 'active' | 'start'>
  readonly log: Pick<EventLog, 'epoch'>
  readonly logger: Logger
}

/** The active generation; an empty one is started where there is none, or where it has to be replaced. */
export class ActiveTarget implements Target {
  readonly #options: ActiveTargetOptions
  #tookFromOtherLog = Number.NEGATIVE_INFINITY

  constructor(options: ActiveTargetOptions) {
    this.#options = options
  }

  async current(): Promise<string> {
    const { store, log } = this.#options
    for (;;) {
      const active = await store.active()
      if (active?.epoch === log.epoch) return active.name
      if (active !== undefined) this.#takeFromOtherLog()
      await this.#start(active?.name, active ? 'it is made from another log' : 'there is none')
    }
  }

  async replace(generation: string, reason: string): Promise<boolean> {
    await this.#start(generation, reason)
    return true
  }

  #takeFromOtherLog(): void {
    const now = performance.now()
    if (now - this.#tookFromOtherLog < betweenLogsMs) {
      throw new ServiceError(
        'read_model_rebuilding',
        'A projector of another log fills the read models: restart every process that was started before the log was made anew.',
      )
    }
    this.#tookFromOtherLog = now
  }

  /** The first of several projectors that start one at the same time wins; the others find its generation. */
  async #start(instead: string | undefined, reason: string): Promise<void> {
    const { store, log, logger } = this.#options
    const generation = { name: randomUUID(), epoch: log.epoch }
    await store.start(generation, instead)
    const level = instead === undefined ? 'info' : 'warn'
    logger[level]({ generation: generation.name, instead, reason }, 'projector starts a generation')
  }
}
