import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { EventLog } from '../event-log/event-log.ts'
import { ServiceError } from '../lib/errors.ts'
import type { ActiveGeneration, Generations } from '../read-models/generations.ts'

/** Which generation a projector fills. */
export interface Target {
  /**
   * Whether the generation that was found is the one to fill. If not, another one was begun in its place, to be looked
   * for. Throws what the store throws.
   */
  accepts(found: ActiveGeneration | undefined): Promise<boolean>
  /**
   * What `generation` holds is not, or no longer, made from the log: it must not be gone on with. Resolves to whether
   * there is another one to look for.
   */
  replace(generation: string, reason: string): Promise<boolean>
}

/** Projectors of two logs, one of which has to be restarted, take the read models from each other no more often. */
const betweenLogsMs = 5000

interface ActiveTargetOptions {
  readonly generations: Pick<Generations, 'start'>
  readonly log: Pick<EventLog, 'logId'>
  readonly logger: Logger
}

/** The active generation; an empty one is started where there is none, or where it has to be replaced. */
export class ActiveTarget implements Target {
  readonly #options: ActiveTargetOptions
  #tookFromOtherLog = Number.NEGATIVE_INFINITY

  constructor(options: ActiveTargetOptions) {
    this.#options = options
  }

  async accepts(found: ActiveGeneration | undefined): Promise<boolean> {
    if (found?.logId === this.#options.log.logId) return true
    if (found !== undefined) this.#takeFromOtherLog()
    await this.#start(found?.name, found ? 'it is made from another log' : 'there is none')
    return false
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
    const { generations, log, logger } = this.#options
    const generation = { name: randomUUID(), logId: log.logId }
    await generations.start(generation, instead)
    if (instead === undefined) logger.info({ generation: generation.name }, 'building read models for the first time')
    else logger.warn({ generation: generation.name, instead, reason }, 'building read models anew')
  }
}
