import type { Offset } from '../event-log/event-log.ts'
import type { KnownLag, Lag } from './lag-meter.ts'

/** A partition with records to handle whose position does not move. */
export interface Stall {
  readonly partition: number
  /** The offset of the record that is not handled. */
  readonly next: Offset
  readonly events: number
  readonly seconds: number
}

interface Standstill extends Omit<Stall, 'seconds'> {
  readonly generation: string
  readonly sinceMs: number
  readonly forMs: number
  /** When the partition was last seen in the assignment. */
  readonly assignedAtMs: number
}

/**
 * Tells standing still from having nothing to do and from being unable to: only time counts in which log and read models
 * answer, there is work, and this process is to project the partition.
 */
export class StallWatch {
  readonly #limitMs: number
  readonly #assignment: () => readonly number[]
  #standstills = new Map<number, Standstill>()

  /** `assignment` tells the partitions that this process is to project. */
  constructor(limitMs: number, assignment: () => readonly number[]) {
    this.#limitMs = limitMs
    this.#assignment = assignment
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
    const assignment = this.#assignment()
    return partitions.flatMap(({ partition, events, checkpoint: { next } }) => {
      const known = this.#standstills.get(partition)
      const before = known?.next === next && known.generation === generation ? known : undefined
      const sinceMs = before?.sinceMs ?? atMs
      const assignedAtMs = assignment.includes(partition) ? atMs : before?.assignedAtMs
      // A consumer that dies and is made anew, over and over, loses its partitions each time for some seconds: that
      // must not hide it. One that loses them for good, to another process say, has nothing to answer for.
      if (events === 0 || assignedAtMs === undefined || atMs - assignedAtMs > this.#limitMs / 2) return []
      return [{ partition, generation, next, events, sinceMs, forMs: atMs - sinceMs, assignedAtMs }]
    })
  }
}
