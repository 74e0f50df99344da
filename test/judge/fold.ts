import { eventIn, type LogRecord } from './history.ts'
import type { Effect, Rule } from './service.ts'
import { membersOf } from './values.ts'

/** A record that was counted: what it came to, or undefined if it cannot be applied, and is parked. */
export interface Counted {
  readonly record: LogRecord
  readonly effect: Effect | undefined
}

/** What the records of a log come to by the rules of docs/journal.md: that of the service, and what parks. */
export class Fold {
  readonly #rule: Rule
  /** Parked events by stream: the first cannot be applied, the others wait behind it. */
  readonly #queues = new Map<string, readonly LogRecord[]>()

  constructor(rule: Rule) {
    this.#rule = rule
  }

  versionOf(stream: string): number {
    return this.#rule.versionOf(stream)
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
    const { type, data } = eventIn(record) ?? {}
    if (!String(type).endsWith('.EventDiscarded.v1')) this.#queues.set(stream, [first, ...others, record])
    else if (membersOf(data).offset === first.offset) {
      this.#queues.delete(stream)
      return [...this.#takeAll(stream, others)]
    }
    return []
  }

  /** Up to the first one that cannot be applied. */
  *#takeAll(stream: string, records: readonly LogRecord[]): Generator<Counted> {
    for (const [at, record] of records.entries()) {
      const version = this.versionOf(stream)
      const effect = this.#rule.take(record)
      const isCounted = this.versionOf(stream) > version
      if (isCounted) yield { record, effect }
      if (!isCounted || effect !== undefined) continue
      this.#queues.set(stream, records.slice(at))
      return
    }
  }
}
