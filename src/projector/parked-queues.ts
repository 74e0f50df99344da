import type { Offset } from '../event-log/event-log.ts'
import type { ParkedEvent } from '../read-models/parked-event.ts'
import type { Batch } from '../read-models/projection-store.ts'
import type { StreamId } from '../read-models/stream-row.ts'
import type { EventContent } from './record-content.ts'

/** A parked event, and what it says; undefined should this release not take it for an event. */
export interface Parked<Event> {
  readonly event: ParkedEvent
  readonly content: EventContent<Event> | undefined
}

/** What is parked in one partition while a batch of its records is classified: a queue for each stream. */
export class ParkedQueues<Event> {
  readonly #from: Offset
  readonly #streams: Set<StreamId>
  readonly #queues = new Map<StreamId, Map<Offset, Parked<Event>>>()
  readonly #parked = new Map<Offset, ParkedEvent>()
  readonly #unparked: ParkedEvent[] = []

  /** The batch begins at `from`; `known` has the whole queue of each stream whose queue will be asked for. */
  constructor(from: Offset, streams: ReadonlySet<StreamId>, known: ReadonlyMap<StreamId, readonly Parked<Event>[]>) {
    this.#from = from
    this.#streams = new Set(streams)
    for (const [stream, queue] of known)
      this.#queues.set(stream, new Map(queue.map((each) => [each.event.offset, each])))
  }

  get changes(): Pick<Batch, 'parked' | 'unparked'> {
    return { parked: [...this.#parked.values()], unparked: this.#unparked }
  }

  has(stream: StreamId): boolean {
    return this.#streams.has(stream)
  }

  /** In order of offset. Goes on where something is removed or put in its place meanwhile. */
  of(stream: StreamId): IterableIterator<Parked<Event>> {
    return (this.#queues.get(stream) ?? new Map<Offset, Parked<Event>>()).values()
  }

  /** At the end of its queue, or in the place of what is parked at the same offset. */
  put(parked: Parked<Event>): void {
    const { stream, offset } = parked.event
    const queue = this.#queues.get(stream) ?? new Map<Offset, Parked<Event>>()
    this.#queues.set(stream, queue.set(offset, parked))
    this.#parked.set(offset, parked.event)
    this.#streams.add(stream)
  }

  remove(event: ParkedEvent): void {
    const { stream, offset } = event
    const queue = this.#queues.get(stream)
    queue?.delete(offset)
    if (queue?.size === 0) this.#streams.delete(stream)
    this.#parked.delete(offset)
    if (offset < this.#from) this.#unparked.push(event)
  }
}
