import type { Offset } from '../log/event-log.ts'
import type { KnownLag, Lag } from './lag-meter.ts'

/** A partition with records to handle whose position does not move. */
export interface Stall {
  readonly partition: number
  /** The offset of the next record to handle. */
  readonly next: Offset
  readonly events: number
  readonly seconds: number
}

interface Standstill extends Omit<Stall, 'seconds'> {
  readonly generation: string
  readonly takenUp: number
  readonly sinceMs: number
  readonly forMs: number
  /** When the partition was last seen in the assignment. */
  readonly assignedAtMs: number
}

export interface WatchedProjector {
  /** The partitions that this process has to project. */
  readonly assignment: readonly number[]
  /** How many pages of parked events of a partition were taken up: progress while its position stands. */
  takenUp(partition: number): number
}

/**
 * Distinguishes a stall from idleness and from outages: only time counts in which log and read models answer, there is
 * work, and the partition is assigned to this process.
 */
export class StallWatch {
  readonly #limitMs: number
  readonly #projector: WatchedProjector
  #standstills = new Map<number, Standstill>()

  constructor(limitMs: number, projector: WatchedProjector) {
    this.#limitMs = limitMs
    this.#projector = projector
  }

  look(lag: Lag, atMs: number): void {
    const standing = lag.status === 'known' ? this.#standing(lag, atMs) : []
    this.#standstills = new Map(standing.map((each) => [each.partition, each]))
  }

  /** As of the last look. */
  get stalls(): readonly Stall[] {
    return [...this.#standstills.values()]
      .filter(({ forMs }) => forMs >= this.#limitMs)
      .map(({ partition, next, events, forMs }) => ({ partition, next, events, seconds: Math.round(forMs) / 1000 }))
  }

  #standing({ generation, partitions }: KnownLag, atMs: number): Standstill[] {
    const { assignment } = this.#projector
    return partitions.flatMap(({ partition, events, checkpoint: { next } }) => {
      const known = this.#standstills.get(partition)
      const takenUp = this.#projector.takenUp(partition)
      const isSame = known?.next === next && known.generation === generation && known.takenUp === takenUp
      const before = isSame ? known : undefined
      const sinceMs = before?.sinceMs ?? atMs
      const assignedAtMs = assignment.includes(partition) ? atMs : before?.assignedAtMs
      // A consumer that dies and is created anew again and again loses its partitions for some seconds each time, which
      // must not hide the stall. A consumer that loses them for good, for example to another process, is no longer
      // responsible.
      if (events === 0 || assignedAtMs === undefined || atMs - assignedAtMs > this.#limitMs / 2) return []
      return [{ partition, generation, takenUp, next, events, sinceMs, forMs: atMs - sinceMs, assignedAtMs }]
    })
  }
}
