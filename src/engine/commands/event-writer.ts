import { randomUUIDv7 } from 'node:crypto'
import type { StreamDefinition, StreamKinds } from '../definition/kinds.ts'
import type { AnyEvent } from '../door/stream.ts'
import { endWith, readSpanContext, type Tracing, traceparentOf } from '../lib/operating/tracing.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { EventLog, NewRecord, Position } from '../log/event-log.ts'
import { notSentInTime } from '../log/failures.ts'
import type { GroupCommit } from '../log/group-commit.ts'
import type { IdempotencyKey, StreamId } from '../read-models/stored-texts.ts'
import type { RecordedEvents, StreamState } from '../rule/stream-state.ts'
import { applyFirst, type Leaving } from './applicable.ts'
import type { IdAllocator } from './id-allocator.ts'
import { eventIdOf, type Idempotency } from './idempotency.ts'

export interface EventWriterOptions<State, Event extends AnyEvent> {
  readonly definition: StreamKinds
  /** That of the streams that are written. */
  readonly kind: StreamDefinition<State, unknown, Event>
  readonly log: Pick<EventLog, 'partitionFor'>
  readonly appender: Pick<GroupCommit, 'gathering' | 'append'>
  readonly ids: IdAllocator
  /** Undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined
}

/** What the caller knows before an event is written. */
export interface WriteRequest {
  readonly stream: StreamId | 'new'
  /** The collection of what the command creates, whose id is drawn. A new stream always creates its own document. */
  readonly creates?: string | undefined
  /** Present if the request had an Idempotency-Key. */
  readonly idempotency?: Idempotency | undefined
  readonly traceparent?: string | undefined
}

/** Where an event goes, and the id drawn for what it creates (0 if none is drawn). */
export interface Target {
  readonly stream: StreamId
  readonly partition: number
  readonly id: number
}

/** What a command made happen, in the log. */
export interface Written<Event> extends Target, RecordedEvents<Event> {
  /** The CloudEvents id of the record. */
  readonly eventId: string
  readonly key: IdempotencyKey | undefined
  readonly position: Position
}

/** Chooses partitions, draws ids and appends. */
export class EventWriter<State, Event extends AnyEvent> {
  readonly #options: EventWriterOptions<State, Event>

  constructor(options: EventWriterOptions<State, Event>) {
    this.#options = options
  }

  /**
   * Events under one key share a partition, whose order decides between them: the partition of the stream, if there is
   * one.
   */
  keyOf({ stream, idempotency }: WriteRequest): IdempotencyKey | undefined {
    if (idempotency === undefined) return undefined
    const { key } = idempotency
    return { partition: this.#options.log.partitionFor(stream === 'new' ? key : stream), key }
  }

  /** Throws ServiceError event_log_unavailable by the deadline, where that needs an id and there is none. */
  async target(request: WriteRequest, deadline: number): Promise<Target> {
    const { log, appender } = this.#options
    const { stream, creates } = request
    if (stream !== 'new') {
      const partition = log.partitionFor(stream)
      const drawn = creates === undefined ? { partition, id: 0 } : await this.#draw('', () => partition, deadline)
      return { stream, ...drawn }
    }
    const key = this.keyOf(request)
    const prefix = this.#prefix
    const drawn = await this.#draw(prefix, () => key?.partition ?? appender.gathering, deadline)
    return { stream: `${prefix}${drawn.id}`, ...drawn }
  }

  /**
   * Appends one record. Settles by the deadline. Throws what `applyFirst` throws, before anything is appended; `before` is
   * the stream that the events follow, and has their state afterwards.
   */
  async append(
    request: WriteRequest,
    target: Target & Leaving,
    recorded: RecordedEvents<Event>,
    before: StreamState<State, Event>,
    deadline: number,
  ): Promise<Written<Event>> {
    const { kind, tracing } = this.#options
    const { events, version, time } = recorded
    const { stream: about, idempotency } = request
    const { partition, stream, id } = target
    const eventId = about === 'new' && idempotency ? eventIdOf(idempotency) : randomUUIDv7()
    const span = tracing?.startOfEvent({
      operation: 'append',
      parent: readSpanContext(request.traceparent),
      partition,
      attributes: { 'messaging.message.id': eventId },
    })
    const traceparent = span === undefined ? request.traceparent : traceparentOf(span)
    const record = kind.events.encode(events, { stream, eventId, version, time, traceparent, idempotency })
    const appended = this.#append(target, before, record, deadline)
    const position = await (span === undefined ? appended : endWith(span, appended))
    return { stream, partition, id, ...recorded, eventId, key: this.keyOf(request), position }
  }

  /** The id drawn for this target turned out to be taken. */
  abandonBlockOf({ id }: Target): void {
    this.#options.ids.abandonBlockOf(id)
  }

  async #append(
    target: Target & Leaving,
    before: StreamState<State, Event>,
    record: NewRecord,
    deadline: number,
  ): Promise<Position> {
    applyFirst(this.#options, target, before, record)
    return await this.#options.appender.append(target.partition, record, deadline)
  }

  /** What stands before the id in the name of a new stream. */
  get #prefix(): string {
    const { definition, kind } = this.#options
    return definition.names.prefixOf(kind.stream.collection)
  }

  async #draw(prefix: string, choosePartition: () => number, deadline: number): Promise<Omit<Target, 'stream'>> {
    for (;;) {
      const partition = choosePartition() // chosen again after a wait: the batch may have been sent meanwhile
      const id = this.#options.ids.draw(partition, prefix)
      if (id !== undefined) return { partition, id }
      await withTimeout(deadline - performance.now(), this.#options.ids.refill(), notSentInTime)
    }
  }
}
