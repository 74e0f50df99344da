import { randomUUIDv7 } from 'node:crypto'
import type { EventLog, NewRecord, Position, Recorded } from '../event-log/event-log.ts'
import type { GroupCommit } from '../event-log/group-commit.ts'
import type { IdempotencyKey } from '../read-models/idempotency-record.ts'
import type { StreamId } from '../read-models/stream-row.ts'
import type { IdAllocator } from './id-allocator.ts'
import { eventIdOf, type Idempotency } from './idempotency.ts'

export interface EventContext {
  /** CloudEvents id: unique per event. */
  readonly eventId: string
  /** The version that the stream has after the event. */
  readonly version: number
  /** RFC 3339, UTC. */
  readonly time: string
  /** W3C Trace Context of the request, where it had one. */
  readonly traceparent?: string | undefined
  /** Present where the request had an Idempotency-Key. */
  readonly idempotency?: Idempotency | undefined
}

export interface EventWriterParts<Event> {
  readonly log: Pick<EventLog, 'partitionFor'>
  readonly appender: Pick<GroupCommit, 'gathering' | 'append'>
  readonly ids: IdAllocator
  readonly kind: { encode(event: Event, context: EventContext): NewRecord }
  readonly now: () => Date
}

/** What an event is written for. */
export interface WriteRequest {
  readonly stream: StreamId | 'new'
  /** Whether the command makes something in an existing stream that needs an id. A new stream always gets one. */
  readonly drawsId?: boolean | undefined
  /** Present where the request had an Idempotency-Key. */
  readonly idempotency?: Idempotency | undefined
  readonly traceparent?: string | undefined
}

/** Where an event goes, and the id drawn for what it makes; 0 where none is drawn. */
export interface Target {
  readonly stream: StreamId
  readonly partition: number
  readonly id: number
}

/** An event in the log. */
export interface Written<Event> extends Target, Recorded<Event> {
  readonly key: IdempotencyKey | undefined
  readonly position: Position
}

/** Chooses partitions, draws ids and appends. */
export class EventWriter<Event> {
  readonly #parts: EventWriterParts<Event>

  constructor(parts: EventWriterParts<Event>) {
    this.#parts = parts
  }

  /** Events of one key are in one partition, where their order decides between them: that of the stream, if there is one. */
  keyOf({ stream, idempotency }: WriteRequest): IdempotencyKey | undefined {
    if (idempotency === undefined) return undefined
    const { key } = idempotency
    return { partition: this.#parts.log.partitionFor(stream === 'new' ? key : stream), key }
  }

  async target(request: WriteRequest): Promise<Target> {
    const { log, appender } = this.#parts
    const { stream, drawsId } = request
    if (stream !== 'new') {
      const partition = log.partitionFor(stream)
      return drawsId ? { stream, ...(await this.#draw(() => partition)) } : { stream, partition, id: 0 }
    }
    const key = this.keyOf(request)
    const drawn = await this.#draw(() => key?.partition ?? appender.gathering)
    return { stream: String(drawn.id), ...drawn }
  }

  async append(request: WriteRequest, target: Target, event: Event, version: number): Promise<Written<Event>> {
    const { kind, now, appender } = this.#parts
    const { stream, traceparent, idempotency } = request
    const eventId = stream === 'new' && idempotency ? eventIdOf(idempotency) : randomUUIDv7()
    const time = now().toISOString()
    const record = kind.encode(event, { eventId, version, time, traceparent, idempotency })
    const position = await appender.append(target.partition, record)
    return { ...target, event, version, time, key: this.keyOf(request), position }
  }

  /** What was written for this target came to an id that somebody else drew. */
  isTaken({ id }: Target): void {
    this.#parts.ids.abandonBlockOf(id)
  }

  async #draw(choosePartition: () => number): Promise<Omit<Target, 'stream'>> {
    for (;;) {
      const partition = choosePartition() // anew after a wait: the batch gathered before it may have left
      const id = this.#parts.ids.draw(partition)
      if (id !== undefined) return { partition, id }
      await this.#parts.ids.refill()
    }
  }
}
