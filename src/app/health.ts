import type { EventLog } from '../event-log/event-log.ts'
import type { Check, Health, Liveness, Readiness } from '../http/health.ts'
import { type LagMeter, parkedIn } from '../projector/lag-meter.ts'
import type { Projector } from '../projector/projector.ts'
import type { StallWatch } from '../projector/stall-watch.ts'
import type { ReadModels } from '../read-models/read-models.ts'
import type { ReadSide } from './read-side.ts'

export interface HealthSources {
  readonly log: Pick<EventLog, 'ends' | 'epoch'>
  /** Of each shard. */
  readonly stores: readonly Pick<ReadModels, 'active'>[]
  /** Undefined in a process that does not project. */
  readonly projector: Pick<Projector<never>, 'state'> | undefined
  /** Undefined in a process that serves no API. */
  readonly reads: Pick<ReadSide, 'state'> | undefined
  readonly lag: Pick<LagMeter, 'lag'>
  /** Undefined in a process that does not project. */
  readonly stalls: Pick<StallWatch, 'stalls'> | undefined
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

  /** Not live means that a projector stands still though it could move: being unable to is not cured by a restart. */
  live(): Liveness {
    const stalls = this.#sources.stalls?.stalls
    if (stalls === undefined) return { live: true, checks: {} }
    const live = stalls.length === 0
    return { live, checks: { projector: live ? { status: 'ok' } : { status: 'stalled', partitions: stalls } } }
  }

  async ready(): Promise<Readiness> {
    const { projector, reads } = this.#sources
    const [eventLog, readModels] = await Promise.all([this.#eventLog(), this.#readModels()])
    this.#caughtUp ||= (reads?.state ?? projector?.state)?.status === 'up'
    const serving = eventLog.status === 'up' || readModels.status === 'up' || readModels.status === 'degraded'
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

  /** Says why where there is none, as a figure that is not known must not look like a good one. */
  #lag(): Omit<Check, 'status'> {
    const { lag } = this.#sources.lag
    if (lag.status === 'unknown') return { lag: 'unknown', lagUnknown: lag.reason }
    const { partitions } = lag
    const behind = partitions.map(({ partition, events, seconds }) => ({ partition, events, seconds }))
    return { lag: behind, parked: parkedIn(partitions) }
  }

  async #readModels(): Promise<Check> {
    const { reads, stores } = this.#sources
    if (reads !== undefined) return { ...reads.state, ...this.#lag() }
    try {
      const active = await Promise.all(stores.map((store) => store.active()))
      const [generation, ...others] = active.map((each) => each?.name)
      const shards = others.length > 0 && { shards: [generation, ...others] }
      return { status: 'up', generation, ...shards, ...this.#lag() }
    } catch (error) {
      return { status: 'down', reason: reasonOf(error) }
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
