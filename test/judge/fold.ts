import { type Effect, takeRecord } from '../../examples/journal/rule.ts'
import { MapMemory } from '../store/reference-consumer.ts'
import { eventIn, type LogRecord } from './history.ts'

/** A record that was counted: what it came to, or undefined if it cannot be applied, and is parked. */
export interface Counted {
  readonly record: LogRecord
  readonly effect: Effect | undefined
}

/** What the records of a log come to by the rules of docs/journal.md: the published one for consumers, and what parks. */
export class Fold {
  readonly #memory = new MapMemory()
  readonly #partitionFor: (key: string) => number
  /** Parked events by stream: the first cannot be applied, the others wait behind it. */
  readonly #queues = new Map<string, readonly LogRecord[]>()

  constructor(partitionFor: (key: string) => number) {
    this.#partitionFor = partitionFor
  }

  versionOf(stream: string): number {
    return this.#memory.versionOf(stream)
  }

  parkedIn(stream: string): readonly LogRecord[] {
    return this.#queues.get(stream) ?? []
  }

  /** What an operator may discard. */
  get firstParked(): LogRecord[] {
    return [...this.#queues.values()].flatMap(([first]) => first ?? [])
  }

  /** What is counted with the next record of its partition: mostly itself, with a discard what waited behind another. */
  take(record: LogRecord): Counted[] {
    const stream = String(record.key)
    const [first, ...others] = this.parkedIn(stream)
    if (first === undefined) return [...this.#takeAll(stream, [record])]
    const event = eventIn(record)
    if (event?.type !== 'petstore.EventDiscarded.v1') this.#queues.set(stream, [first, ...others, record])
    else if ((event.data as { readonly offset?: unknown }).offset === first.offset) {
      this.#queues.delete(stream)
      return [...this.#takeAll(stream, others)]
    }
    return []
  }

  /** Up to the first one that cannot be applied. */
  *#takeAll(stream: string, records: readonly LogRecord[]): Generator<Counted> {
    for (const [at, record] of records.entries()) {
      const version = this.versionOf(stream)
      const [key, value] = [bytesOf(record.key), bytesOf(record.value)]
      const effect = takeRecord({ partition: record.partition, key, value }, this.#memory, this.#partitionFor)
      const isCounted = this.versionOf(stream) > version
      if (isCounted) yield { record, effect }
      if (!isCounted || effect !== undefined) continue
      this.#queues.set(stream, records.slice(at))
      return
    }
  }
}

function bytesOf(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text)
}
