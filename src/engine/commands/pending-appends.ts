import type { IdempotencyKey } from '../read-models/stored-texts.ts'
import type { Written } from './event-writer.ts'

export interface PendingAppend<Event> {
  readonly written: Written<Event>
  readonly fingerprint: string
  /** The generation that was asked about it. */
  readonly generation: string | undefined
}

const keptMax = 10_000

/**
 * Events in the log under an idempotency key whose outcome was not known in time, because the read models are behind. A
 * retry awaits such an event instead of appending another one. Only this process knows them, and it forgets the oldest
 * first. If an event is appended twice all the same, the second one is dropped as a duplicate.
 */
export class PendingAppends<Event> {
  readonly #events = new Map<string, PendingAppend<Event>>()

  find(key: IdempotencyKey | undefined): PendingAppend<Event> | undefined {
    return key && this.#events.get(nameOf(key))
  }

  add(key: IdempotencyKey, event: PendingAppend<Event>): void {
    this.#events.set(nameOf(key), event)
    if (this.#events.size <= keptMax) return
    for (const oldest of this.#events.keys()) return void this.#events.delete(oldest)
  }

  remove(key: IdempotencyKey): void {
    this.#events.delete(nameOf(key))
  }
}

function nameOf({ partition, key }: IdempotencyKey): string {
  return `${partition}/${key}`
}
