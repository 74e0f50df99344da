import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventLog, LogRecord, Offset, Subscriber, Subscription } from '../../src/event-log/event-log.ts'

/** A log of one partition that comes in batches which end where the test says, and at its end. */
export class CutLog implements Pick<EventLog, 'epoch' | 'ends' | 'subscribe'> {
  readonly epoch = 'epoch'
  readonly records: readonly LogRecord[]
  readonly #cuts: readonly Offset[]

  constructor(records: readonly LogRecord[], cuts: readonly Offset[]) {
    this.records = records.map((record, offset) => ({ ...record, offset }))
    this.#cuts = cuts
  }

  async ends(): Promise<readonly Offset[]> {
    return [this.records.length]
  }

  async subscribe(_group: string, subscriber: Subscriber): Promise<Subscription> {
    let position: Offset | undefined
    let closed = false
    const read = async () => {
      await nextTurn()
      subscriber.assigned([0])
      while (!closed) {
        const from: Offset | undefined = position
        const next = this.#endAfter(from ?? this.records.length)
        if (from === undefined || next === undefined) {
          await nextTurn()
          continue
        }
        const done = await subscriber.batch({ partition: 0, from, records: this.records.slice(from, next), next })
        if (position === from) position = done ? next : undefined
      }
    }
    const reading = read()
    return {
      seek: (_partition, offset) => {
        position = offset
      },
      close: async () => {
        closed = true
        await reading
      },
    }
  }

  #endAfter(from: Offset): Offset | undefined {
    return [...this.#cuts, this.records.length]
      .filter((end) => end > from && end <= this.records.length)
      .sort(byNumber)[0]
  }
}

function byNumber(a: number, b: number): number {
  return a - b
}
