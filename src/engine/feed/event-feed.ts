import { ServiceError } from '../lib/errors/errors.ts'
import type { EventLog, Position } from '../log/event-log.ts'
import type { AtLeast, ReadModel } from '../read-models/read-model.ts'
import type { StreamId } from '../read-models/stored-texts.ts'
import { SettledEvents, type SettledEventsOptions } from '../rule/settled-events.ts'
import { Arrivals } from './arrivals.ts'
import { type Earlier, EarlierEvents, type EarlierQuery } from './earlier-events.ts'
import { FairTurns } from './fair-turns.ts'
import { type Account, type EventFilter, type FeedEvent, type FeedPlace, wantedBy } from './feed-batch.ts'
import { Histories, type History, type HistoryPage } from './histories.ts'
import type { Reader } from './read-in-turn.ts'
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

export interface FeedQuery extends EventFilter {
  /** Where to begin: behind these positions, and at the beginning of partitions without one; or with what comes from now on. */
  readonly after: readonly Position[] | 'now'
}

/** The next events; none where only the place is another, or where nothing has happened for ten seconds. */
export interface FeedStep {
  readonly events: readonly FeedEvent[]
  /** Pass these as `after` to continue. */
  readonly after: readonly Position[]
}

/** Events that took effect, for people and programs without a client of the log. */
export class EventFeed {
  readonly #options: EventFeedOptions
  readonly #batches: SharedBatches
  readonly #earlier: EarlierEvents
  readonly #histories: Histories
  readonly #followed = new Set<Arrivals>()
  #isClosed = false

  constructor(options: EventFeedOptions) {
    this.#options = options
    const settled = new SettledEvents(options)
    this.#batches = new SharedBatches({ ...options, settled, released: new ReleasedEvents(options) })
    const turns = new FairTurns()
    this.#earlier = new EarlierEvents({ ...options, settled, turns })
    this.#histories = new Histories({ ...options, turns })
  }

  /** How many follow the feed now. */
  get followers(): number {
    return this.#followed.size
  }

  /** Those of one stream: see `Histories.page`. */
  history(stream: StreamId, page: HistoryPage, reader: Reader, atLeast?: AtLeast): Promise<History> {
    return this.#histories.page(stream, page, reader, atLeast)
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
    { after, ...filter }: FeedQuery,
    account: Account,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<FeedStep>> {
    const { log } = this.#options
    const ends = await log.endOffsets()
    const places = new Map<number, FeedPlace>()
    for (const [partition, end] of ends.entries()) {
      if (filter.stream !== undefined && log.partitionFor(filter.stream) !== partition) continue
      const last = after === 'now' ? end - 1 : (after.find((each) => each.partition === partition)?.offset ?? -1)
      if (last >= end)
        throw new ServiceError('invalid_consistency_token', 'header: Last-Event-ID is beyond the end of the log')
      places.set(partition, { partition, next: last + 1, told: 0 })
    }
    return this.#steps(places, wantedBy(filter), account, signal)
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
}

function positionsBefore(places: ReadonlyMap<number, FeedPlace>): Position[] {
  return [...places.values()].flatMap(({ partition, next }) => (next > 0 ? [{ partition, offset: next - 1 }] : []))
}
