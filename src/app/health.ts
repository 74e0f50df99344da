import type { EventLog } from '../event-log/event-log.ts'
import type { Check, Health, Liveness, Readiness } from '../http/health.ts'
import { parkedIn } from '../projector/lag-meter.ts'
import type { Tracker } from '../read-models/tracker.ts'
import type { WatchedLag } from './lag.ts'
import type { Projectors } from './projectors.ts'
import type { ReadSide } from './read-side.ts'

export interface HealthSources {
  readonly log: Pick<EventLog, 'endOffsets' | 'logId'>
  readonly shards: readonly { readonly tracker: Pick<Tracker, 'look'> }[]
  /** Undefined in a process that does not project. */
  readonly projectors: Pick<Projectors, 'state'> | undefined
  /** Undefined in a process that serves no API. */
  readonly reads: Pick<ReadSide, 'state'> | undefined
  readonly lag: Pick<WatchedLag, 'lag' | 'stalls'>
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

  /** Not live means that a projector stands still though it could move: a restart does not cure being unable to. */
  live(): Liveness {
    const { stalls } = this.#sources.lag
    if (stalls === undefined) return { live: true, checks: {} }
    const live = stalls.length === 0
    return { live, checks: { projector: live ? { status: 'ok' } : { status: 'stalled', partitions: stalls } } }
  }

  async ready(): Promise<Readiness> {
    const { projectors, reads } = this.#sources
    const [eventLog, readModels] = await Promise.all([this.#eventLog(), this.#readModels()])
    this.#caughtUp ||= (reads?.state ?? projectors?.state)?.status === 'up'
    const serving = eventLog.status === 'up' || readModels.status === 'up' || readModels.status === 'degraded'
    const checks = { eventLog, readModels, ...(projectors && { projector: projectors.state }) }
    return { ready: this.#caughtUp && serving, checks }
  }

  async #eventLog(): Promise<Check> {
    const { log } = this.#sources
    try {
      return { status: 'up', logId: log.logId, endOffsets: await log.endOffsets() }
    } catch (error) {
      return { status: 'down', reason: reasonOf(error) }
    }
  }

  /** Says why where there is none, as a figure that is not known must not look like a good one. */
  #lag(): Omit<Check, 'status'> {
    const { lag } = this.#sources.lag
    if (lag.status === 'unknown') return { lag: 'unknown', lagUnknown: lag.reason }
    const { partitions } = lag
    const behind = partitions.map(({ partition, events, seconds }) => ({ partition, events, seconds }))
    return { lag: behind, parked: parkedIn(partitions) }
  }

  async #readModels(): Promise<Check> {
    const { reads, shards } = this.#sources
    if (reads !== undefined) return { ...reads.state, ...this.#lag() }
    try {
      const looks = await Promise.all(shards.map(({ tracker }) => tracker.look()))
      const [generation, ...others] = looks.map(({ active }) => active?.name)
      return { status: 'up', generation, ...(others.length > 0 && { shards: [generation, ...others] }), ...this.#lag() }
    } catch (error) {
      return { status: 'down', reason: reasonOf(error) }
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
