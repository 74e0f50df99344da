import type { Offset } from '../event-log/event-log.ts'
import type { Batch, ParkedEvent } from '../read-models/read-models.ts'
import type { RecordContent } from './read-record.ts'

/** A parked event, and what it says when it is read by the projections of today. */
export interface ParkedContent {
  readonly event: ParkedEvent
  readonly content: RecordContent
}

/** What is parked in one partition, while a stretch of its records is decided: a queue for each subject. */
export class Parking {
  readonly #subjects: Set<string>
  readonly #queues: Map<string, ParkedContent[]>
  /** The offsets of what was parked before. */
  readonly #stored: ReadonlySet<Offset>
  readonly #parked = new Map<Offset, ParkedEvent>()
  readonly #unparked = new Set<Offset>()
  readonly #freed = new Set<string>()
  #added = 0

  /** `known` has the whole queue of each subject that will be asked for its first or told to remove one. */
  constructor(subjects: ReadonlySet<string>, known: ReadonlyMap<string, readonly ParkedContent[]>) {
    this.#subjects = new Set(subjects)
    this.#queues = new Map([...known].map(([subject, queue]) => [subject, [...queue]]))
    this.#stored = new Set([...known.values()].flat().map(({ event }) => event.offset))
  }

  get subjects(): ReadonlySet<string> {
    return this.#subjects
  }

  /** How many more events are parked than before; below 0 for fewer. */
  get added(): number {
    return this.#added
  }

  get changes(): Pick<Batch, 'parked' | 'unparked' | 'freed'> {
    return { parked: [...this.#parked.values()], unparked: [...this.#unparked], freed: [...this.#freed] }
  }

  has(subject: string): boolean {
    return this.#subjects.has(subject)
  }

  /** At the end of its subject's queue, or anew in its place. */
  park({ offset, subject, reason, value }: ParkedEvent, content: RecordContent): void {
    const event = { offset, subject, reason, value }
    const queue = this.#queues.get(subject) ?? []
    this.#queues.set(subject, queue)
    const isLast = offset > (queue.at(-1)?.event.offset ?? -1)
    const at = isLast ? queue.length : queue.findIndex((each) => each.event.offset === offset)
    if (isLast) this.#added++
    queue.splice(at, 1, { event, content })
    this.#parked.set(offset, event)
    this.#subjects.add(subject)
    this.#freed.delete(subject)
  }

  first(subject: string): ParkedContent | undefined {
    return this.#queues.get(subject)?.[0]
  }

  /** Whether it was parked. */
  remove(subject: string, offset: Offset): boolean {
    const queue = this.#queues.get(subject) ?? []
    const at = queue.findIndex(({ event }) => event.offset === offset)
    if (at === -1) return false
    queue.splice(at, 1)
    this.#added--
    this.#parked.delete(offset)
    if (this.#stored.has(offset)) this.#unparked.add(offset)
    if (queue.length === 0) {
      this.#subjects.delete(subject)
      this.#freed.add(subject)
    }
    return true
  }
}
