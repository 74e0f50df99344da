import { ServiceError } from '../lib/errors/errors.ts'
import type { EventLog, Position } from '../log/event-log.ts'
import { RecordGoneError } from '../log/read-at.ts'
import { eventText } from '../log/record-codec.ts'
import type { AtLeast, Reached, ReadModel } from '../read-models/read-model.ts'
import { isEntryOf, type StreamId, type VersionEntry } from '../read-models/stored-texts.ts'
import { SettledEvents, type SettledEventsOptions } from '../rule/settled-events.ts'
import { readEvent } from '../rule/stream-event.ts'
import { Arrivals } from './arrivals.ts'
import { type Earlier, EarlierEvents, type EarlierQuery } from './earlier-events.ts'
import { FairTurns } from './fair-turns.ts'
import type { Account, FeedEvent, FeedPlace } from './feed-batch.ts'
import { type LimitedReader, type Reader, readInTurn } from './read-in-turn.ts'
import { ReleasedEvents } from './released-events.ts'
import { SharedBatches } from './shared-batches.ts'

export interface EventFeedOptions extends SettledEventsOptions {
  readonly log: Pick<EventLog, 'read' | 'endOffsets' | 'partitions' | 'partitionFor'>
  readonly readModel: Pick<ReadModel, 'load' | 'whenApplied' | 'generationOf'>
  /** How often at most a place is told alone; by default once a second. */
  readonly placeEveryMs?: number
}

/** Whoever sends steps on takes them for a sign of life. */
const stepEveryMs = 10_000
const historyWithinMs = 10_000

export interface FeedQuery {
  /** Where to begin: behind these positions, and at the beginning of partitions without one; or with what comes from now on. */
  readonly after: readonly Position[] | 'now'
  /** The events of one stream only. */
  readonly stream?: StreamId | undefined
  /** The events of one CloudEvents type only. */
  readonly type?: string | undefined
}

/** The next events; none where only the place is another, or where nothing has happened for ten seconds. */
export interface FeedStep {
  readonly events: readonly FeedEvent[]
  /** Pass these as `after` to continue. */
  readonly after: readonly Position[]
}

export interface History {
  /** CloudEvents, as they stand in the log. */
  readonly events: readonly string[]
  /** The version up to which they are told, if the stream has more. */
  readonly last: number | undefined
  /** Whether a document shows the stream, or did before it was removed. */
  readonly isKnown: boolean
  readonly reached: Reached
}

/** Events that took effect, for people and programs without a client of the log. */
export class EventFeed {
  readonly #options: EventFeedOptions
  readonly #batches: SharedBatches
  readonly #earlier: EarlierEvents
  readonly #histories = new FairTurns()
  readonly #followed = new Set<Arrivals>()
  #isClosed = false

  constructor(options: EventFeedOptions) {
    this.#options = options
    const settled = new SettledEvents(options)
    this.#batches = new SharedBatches({ ...options, settled, released: new ReleasedEvents(options) })
    this.#earlier = new EarlierEvents({ ...options, settled, turns: this.#histories })
  }

  /** How many follow the feed now. */
  get followers(): number {
    return this.#followed.size
  }

  /**
   * The events of a stream that took effect, oldest first: up to `limit` of those behind the version `after`. Throws what
   * `ReadModel.load` and `EventLog.read` throw, and ServiceError overloaded where they are not read within ten seconds.
   */
  async history(
    stream: StreamId,
    { after = 0, limit }: { readonly after?: number | undefined; readonly limit: number },
    reader: Reader,
    atLeast?: AtLeast,
  ): Promise<History> {
    const events: string[] = []
    const deadlineMs = performance.now() + historyWithinMs
    for (let last = after; ; ) {
      const versions = { first: last + 1, last: last + limit - events.length }
      const { row, entries, reached } = await this.#options.readModel.load({ stream, versions }, atLeast, reader.owner)
      const shown = [...entries.values()].filter(({ isDiscarded }) => !isDiscarded)
      events.push(
        ...(await this.#eventsOf(stream, shown, { ...reader, limitMs: Math.max(0, deadlineMs - performance.now()) })),
      )
      last = versions.last
      const isMore = row !== undefined && last < row.version
      if (isMore && events.length < limit) continue // in place of those that were discarded
      const isKnown = row !== undefined && (row.document !== undefined || row.isRemoved)
      return { events, last: isMore ? last : undefined, isKnown, reached }
    }
  }

  /** Those before a place, of all streams: see `EarlierEvents.find`. */
  earlier(query: EarlierQuery, reader: Reader & Account): Promise<Earlier> {
    return this.#earlier.find(query, reader)
  }

  /**
   * The events of all streams, of each partition in the order of the log, each once the read models show it. One that
   * waited behind a parked event comes when that is discarded. An event may come again after a break, or behind a discard.
   * Ends when the log has lost its end, and with it a place that was told. Throws ServiceError event_log_unavailable, and
   * invalid_consistency_token where `after` is beyond the end of the log.
   */
  async follow(
    { after, stream, type }: FeedQuery,
    account: Account,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<FeedStep>> {
    const { log } = this.#options
    const ends = await log.endOffsets()
    const places = new Map<number, FeedPlace>()
    for (const [partition, end] of ends.entries()) {
      if (stream !== undefined && log.partitionFor(stream) !== partition) continue
      const last = after === 'now' ? end - 1 : (after.find((each) => each.partition === partition)?.offset ?? -1)
      if (last >= end)
        throw new ServiceError('invalid_consistency_token', 'header: Last-Event-ID is beyond the end of the log')
      places.set(partition, { partition, next: last + 1, told: 0 })
    }
    const isWanted = (event: FeedEvent) =>
      (stream === undefined || event.stream === stream) && (type === undefined || event.type === type)
    return this.#steps(places, isWanted, account, signal)
  }

  /** Ends the feed of every follower. */
  close(): void {
    this.#isClosed = true
    this.#batches.close()
    for (const arrivals of this.#followed) arrivals.end()
  }

  async *#steps(
    places: Map<number, FeedPlace>,
    isWanted: (event: FeedEvent) => boolean,
    account: Account,
    signal: AbortSignal,
  ): AsyncGenerator<FeedStep> {
    if (this.#isClosed || signal.aborted) return
    const { placeEveryMs = 1000 } = this.#options
    const arrivals = new Arrivals(this.#batches, account)
    this.#followed.add(arrivals)
    signal.addEventListener('abort', () => arrivals.end())
    try {
      yield { events: [], after: positionsBefore(places) }
      for (const place of places.values()) arrivals.expect(place)
      for (let dueMs = performance.now() + stepEveryMs, toldMs = performance.now(); ; ) {
        const arrived = await arrivals.next(dueMs)
        if (arrived === 'ended' || (arrived !== 'due' && arrived.isLost)) return
        const batch = arrived === 'due' ? undefined : arrived
        if (batch !== undefined) {
          const isMoved = batch.place.next !== places.get(batch.place.partition)?.next
          if (isMoved) dueMs = Math.min(dueMs, toldMs + placeEveryMs)
          places.set(batch.place.partition, batch.place)
        }
        const events = batch?.events.filter(isWanted) ?? []
        if (events.length > 0 || performance.now() >= dueMs) {
          yield { events, after: positionsBefore(places) }
          toldMs = performance.now()
          dueMs = toldMs + stepEveryMs
        }
        if (batch !== undefined) arrivals.expect(batch.place)
      }
    } finally {
      this.#followed.delete(arrivals)
    }
  }

  async #eventsOf(stream: StreamId, entries: readonly VersionEntry[], reader: LimitedReader): Promise<string[]> {
    const partition = this.#options.log.partitionFor(stream)
    const offsets = entries.map(({ offset }) => offset)
    const options = { log: this.#options.log, turns: this.#histories }
    const records = await readInTurn(options, partition, offsets, reader).catch((error) => {
      throw error instanceof RecordGoneError ? notInLog() : error
    })
    return records.map((record, i) => {
      const event = readEvent(this.#options, partition, record)
      const entry = entries[i]
      const isSame = entry !== undefined && event?.discards === undefined && event?.stream === stream
      if (!isSame || !isEntryOf(entry, event)) throw notInLog()
      return eventText(record.value)
    })
  }
}

/** A log that has lost its end may have another event there, until the read models are built anew. */
function notInLog(): ServiceError {
  return new ServiceError('event_log_unavailable', 'The event log does not have an event that the read models name.')
}

function positionsBefore(places: ReadonlyMap<number, FeedPlace>): Position[] {
  return [...places.values()].flatMap(({ partition, next }) => (next > 0 ? [{ partition, offset: next - 1 }] : []))
}
