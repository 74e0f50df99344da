import type { EventLog, Offset, Position } from '../event-log/event-log.ts'
import { eventText } from '../event-log/record-codec.ts'
import { ServiceError } from '../lib/errors.ts'
import type { AtLeast, Reached, ReadModel } from '../read-models/read-model.ts'
import type { StreamId } from '../read-models/stream-row.ts'
import { SettledEvents, type SettledEventsParts } from './settled-events.ts'
import { type FeedBatch, type FeedEvent, SharedBatches } from './shared-batches.ts'

export interface EventFeedParts extends SettledEventsParts {
  readonly log: Pick<EventLog, 'read' | 'endOffsets' | 'partitions' | 'partitionFor'>
  readonly readModel: Pick<ReadModel, 'load' | 'whenApplied' | 'generationOf'>
}

export interface FeedQuery {
  /** Where to begin: behind these positions, and at the beginning of partitions without one; or with what comes from now on. */
  readonly after: readonly Position[] | 'now'
  /** The events of one stream only. */
  readonly stream?: StreamId | undefined
  /** The events of one CloudEvents type only. */
  readonly type?: string | undefined
}

/** The next events; empty now and then while there are none. */
export interface FeedStep {
  readonly events: readonly FeedEvent[]
  /** Pass these as `after` to continue. */
  readonly after: readonly Position[]
}

export interface History {
  /** CloudEvents, as they stand in the log. */
  readonly events: readonly string[]
  /** The offset of the last one, if more follow behind it. */
  readonly last: Offset | undefined
  /** Whether a document shows the stream. */
  readonly isKnown: boolean
  readonly reached: Reached
}

/** Events that took effect, for people and programs without a client of the log. */
export class EventFeed {
  readonly #parts: EventFeedParts
  readonly #batches: SharedBatches
  readonly #followed = new Set<Arrivals>()
  #isClosed = false

  constructor(parts: EventFeedParts) {
    this.#parts = parts
    this.#batches = new SharedBatches({ ...parts, settled: new SettledEvents(parts) })
  }

  /** How many follow the feed now. */
  get followers(): number {
    return this.#followed.size
  }

  /**
   * The events of a stream that took effect, oldest first: up to `limit` of those behind the offset `after`. If a stream
   * has more than a thousand, only its last thousand are told. Throws what `ReadModel.load` and `EventLog.read` throw.
   */
  async history(
    stream: StreamId,
    { after = -1, limit }: { readonly after?: Offset | undefined; readonly limit: number },
    atLeast?: AtLeast,
  ): Promise<History> {
    const { log, readModel } = this.#parts
    const { row, reached } = await readModel.load({ stream }, atLeast)
    const offsets = row?.offsets.filter((offset) => offset > after) ?? []
    const shown = offsets.slice(0, limit)
    const partition = log.partitionFor(stream)
    const events = await Promise.all(shown.map((offset) => this.#event(stream, { partition, offset })))
    const last = offsets.length > shown.length ? shown.at(-1) : undefined
    return { events, last, isKnown: row?.document !== undefined, reached }
  }

  /**
   * The events of all streams, of each partition in the order of the log, each once the read models show it. One that
   * waited behind a parked event comes when that is discarded. An event may come again after a break, or behind a discard.
   * Throws ServiceError event_log_unavailable, and invalid_consistency_token where `after` is beyond the end of the log.
   */
  async follow({ after, stream, type }: FeedQuery, signal: AbortSignal): Promise<AsyncGenerator<FeedStep>> {
    const { log } = this.#parts
    const ends = await log.endOffsets()
    const next = new Map<number, Offset>()
    for (const [partition, end] of ends.entries()) {
      if (stream !== undefined && log.partitionFor(stream) !== partition) continue
      const last = after === 'now' ? end - 1 : (after.find((each) => each.partition === partition)?.offset ?? -1)
      if (last >= end) throw new ServiceError('invalid_consistency_token', 'The position is beyond the end of the log.')
      next.set(partition, last + 1)
    }
    const isWanted = (event: FeedEvent) =>
      (stream === undefined || event.stream === stream) && (type === undefined || event.type === type)
    return this.#steps(next, isWanted, signal)
  }

  /** Ends the feed of every follower. */
  close(): void {
    this.#isClosed = true
    this.#batches.close()
    for (const arrivals of this.#followed) arrivals.end()
  }

  async *#steps(
    next: Map<number, Offset>,
    isWanted: (event: FeedEvent) => boolean,
    signal: AbortSignal,
  ): AsyncGenerator<FeedStep> {
    if (this.#isClosed || signal.aborted) return
    const arrivals = new Arrivals(this.#batches)
    this.#followed.add(arrivals)
    signal.addEventListener('abort', () => arrivals.end())
    try {
      yield { events: [], after: positionsBefore(next) }
      for (const [partition, offset] of next) arrivals.expect(partition, offset)
      for (;;) {
        const batch = await arrivals.next()
        if (batch === undefined) return
        next.set(batch.partition, batch.next)
        yield { events: batch.events.filter(isWanted), after: positionsBefore(next) }
        arrivals.expect(batch.partition, batch.next)
      }
    } finally {
      this.#followed.delete(arrivals)
    }
  }

  async #event(stream: StreamId, { partition, offset }: Position): Promise<string> {
    const { records } = await this.#parts.log.read(partition, offset, 1)
    const [record] = records
    // A log that has lost its end may have another record there, until the read models are built anew.
    if (record?.offset === offset && record.key?.toString() === stream) return eventText(record.value)
    throw new ServiceError('event_log_unavailable', 'The event log does not have an event that the read models name.')
  }
}

/** The batches of several partitions, as they come. */
class Arrivals {
  readonly #batches: SharedBatches
  readonly #arrived: FeedBatch[] = []
  #isEnded = false
  #wake = Promise.withResolvers<void>()

  constructor(batches: SharedBatches) {
    this.#batches = batches
  }

  expect(partition: number, from: Offset): void {
    void this.#batches.behind(partition, from).then((batch) => {
      this.#arrived.push(batch)
      this.#wake.resolve()
    })
  }

  /** Undefined once it is ended. */
  async next(): Promise<FeedBatch | undefined> {
    await this.#wake.promise
    if (this.#isEnded) return undefined
    const batch = this.#arrived.shift()
    if (this.#arrived.length === 0) this.#wake = Promise.withResolvers()
    return batch
  }

  end(): void {
    this.#isEnded = true
    this.#wake.resolve()
  }
}

function positionsBefore(next: ReadonlyMap<number, Offset>): Position[] {
  return [...next].flatMap(([partition, offset]) => (offset > 0 ? [{ partition, offset: offset - 1 }] : []))
}
