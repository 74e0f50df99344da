import type { EventLog, Offset, Position } from '../log/event-log.ts'

/**
 * The ends of a log, as far as the log told this process. What a progress message says beyond them is not believed, since
 * anybody can publish (decision 0059). They may be behind the log, and after a loss of its end beyond it, until the log
 * is asked again.
 */
export class ToldEnds {
  readonly #log: Pick<EventLog, 'endOffsets'>
  readonly #ends: Offset[] = []

  constructor(log: Pick<EventLog, 'endOffsets'>) {
    this.#log = log
  }

  /** 0 for a partition of which the log told nothing, as for one that it lacks. */
  of(partition: number): Offset {
    return this.#ends[partition] ?? 0
  }

  /** The log has a record there. */
  has({ partition, offset }: Position): void {
    this.#ends[partition] = Math.max(this.of(partition), offset + 1)
  }

  /** Throws what the log throws. */
  async ask(): Promise<readonly Offset[]> {
    const before = [...this.#ends]
    const ends = await this.#log.endOffsets()
    for (const [partition, end] of ends.entries()) {
      const isAsBefore = this.#ends[partition] === before[partition]
      this.#ends[partition] = isAsBefore ? end : Math.max(this.of(partition), end)
    }
    return ends
  }
}
