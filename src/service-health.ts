import type { Projector } from '../projections/projector.ts'
import type { EventLog } from './event-log/event-log.ts'
import type { Check, Health, Liveness, Readiness } from './http/health.ts'
import type { ProvenReads } from './read-models/proven-reads.ts'
import type { ReadModels } from './read-models/read-models.ts'

export interface HealthSources {
  readonly log: Pick<EventLog, 'ends' | 'epoch'>
  readonly store: Pick<ReadModels, 'active'>
  /** Undefined in a process that does not project. */
  readonly projector: Pick<Projector<never>, 'state'> | undefined
  /** Undefined in a process that serves no API. */
  readonly reads: Pick<ProvenReads, 'state'> | undefined
}

/**
 * Ready means that some request can be served. While the log is away reads go on, and the other way round, so a
 * process is unready only when both are away, and until its read model has caught up for the first time.
 */
export class ServiceHealth implements Health {
  readonly #sources: HealthSources
  #caughtUp = false

  constructor(sources: HealthSources) {
    this.#sources = sources
  }

  live(): Liveness {
    return { live: true, checks: {} }
  }

  async ready(): Promise<Readiness> {
    const { projector, reads } = this.#sources
    const [eventLog, readModels] = await Promise.all([this.#eventLog(), this.#readModels()])
    this.#caughtUp ||= (reads?.state ?? projector?.state)?.status === 'up'
    const serving = eventLog.status === 'up' || readModels.status === 'up'
    const checks = { eventLog, readModels, ...(projector && { projector: projector.state }) }
    return { ready: this.#caughtUp && serving, checks }
  }

  async #eventLog(): Promise<Check> {
    const { log } = this.#sources
    try {
      return { status: 'up', epoch: log.epoch, ends: await log.ends() }
    } catch (error) {
      return { status: 'down', reason: reasonOf(error) }
    }
  }

  async #readModels(): Promise<Check> {
    const { reads, store } = this.#sources
    if (reads !== undefined) return reads.state
    try {
      return { status: 'up', generation: (await store.active())?.name }
    } catch (error) {
      return { status: 'down', reason: reasonOf(error) }
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
