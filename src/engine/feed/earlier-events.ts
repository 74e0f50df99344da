import { timeOfDay } from '../lib/clock.ts'
import { ServiceError } from '../lib/errors/errors.ts'
import type { EventLog, Offset, Position } from '../log/event-log.ts'
import { RecordGoneError, readBefore } from '../log/read-at.ts'
import { type EffectiveRecord, type SettledEvents, tookEffect } from '../rule/settled-events.ts'
import type { FairTurns } from './fair-turns.ts'
import { type Account, type EventFilter, type FeedEvent, feedEventsOf, wantedBy } from './feed-batch.ts'
import { inTurns, type Reader } from './read-in-turn.ts'

/** Events of one answer, unless more are of its last record. */
const eventsMax = 50
/** A batch is up to so many records, of up to so many partitions. */
const recordsMax = 100
const partitionsMax = 10
/** Batches of one answer, beyond one for each partition; and how long further ones are begun. */
const batchesMax = 10
const beginWithinMs = 3000
const limitMs = 10_000
/** Clocks differ: what is further ahead than this is no time at which an event can have happened. */
const aheadMaxMs = 60_000

export interface EarlierQuery extends EventFilter {
  /** Up to these positions; nothing of partitions without one. */
  readonly upTo: readonly Position[]
}

export interface Earlier {
  /** The latest one first. */
  readonly events: readonly FeedEvent[]
  /** Pass these as `upTo` to continue; none at the beginning of the log. */
  readonly upTo: readonly Position[]
}

export interface EarlierEventsOptions {
  readonly log: Pick<EventLog, 'read' | 'endOffsets' | 'partitionFor'>
  readonly settled: SettledEvents
  readonly turns: FairTurns
}

/** Events that took effect, read backwards. */
export class EarlierEvents {
  readonly #options: EarlierEventsOptions

  constructor(options: EarlierEventsOptions) {
    this.#options = options
  }

  /**
   * The last events up to a place, by their times; those of one partition in the order of the log, whatever their times. One
   * answer reads so many batches at most, each in a turn, and those behind the first one on the account of its reader: it
   * may have fewer events than there are, and then says where to go on. Throws what `EventLog.read` throws, ServiceError read_model_unavailable where the read
   * models do not say what became of a record, and overloaded where that takes longer than ten seconds.
   */
  async find(query: EarlierQuery, reader: Reader & Pick<Account, 'count'>): Promise<Earlier> {
    const { turns } = this.#options
    const lanes = await this.#lanesOf(query)
    const events: FeedEvent[] = []
    const untilMs = performance.now() + beginWithinMs
    const batches = batchesMax + lanes.length
    await inTurns(turns, { ...reader, limitMs }, async (turn) => {
      for (let read = 0; events.length < eventsMax; ) {
        const unread = lanes.filter(({ isShort }) => isShort).slice(0, partitionsMax)
        if (unread.length === 0) {
          const latest = latestOf(lanes)?.take()
          if (latest === undefined) break
          events.push(...latest)
          continue
        }
        if (read >= batches || performance.now() > untilMs) break
        if (read > 0 && reader.count() > 0) break // the first one counts as the request
        await turn(() => this.#readBatch(unread))
        read++
      }
    })
    return { events, upTo: lanes.flatMap(({ upTo }) => upTo ?? []) }
  }

  /** A log that has lost its end has nothing there any more. */
  async #lanesOf({ upTo, ...filter }: EarlierQuery): Promise<Lane[]> {
    const { log } = this.#options
    const { stream } = filter
    const ends = await log.endOffsets()
    return upTo
      .filter(({ partition }) => stream === undefined || log.partitionFor(stream) === partition)
      .map(({ partition, offset }) => new Lane(partition, Math.min(offset + 1, ends[partition] ?? 0), wantedBy(filter)))
  }

  async #readBatch(lanes: readonly Lane[]): Promise<void> {
    const { log, settled } = this.#options
    const count = Math.floor(recordsMax / lanes.length)
    await Promise.all(
      lanes.map(async (lane) => {
        const { records, from } = await readBefore(log, lane.partition, lane.from, count).catch(notInLog)
        const known = await settled.settle(lane.partition, records)
        if (known.some(({ outcome }) => outcome === 'waiting')) throw unsettled()
        lane.add(known.filter(tookEffect), from)
      }),
    )
  }
}

interface Dated {
  readonly settled: EffectiveRecord
  /** In milliseconds; undefined where the event does not tell. */
  readonly at: number | undefined
  /** Where it comes among those of other partitions. */
  order: number
}

/** What was read of a partition and is not told yet. */
class Lane {
  readonly partition: number
  /** Everything before it is not read yet. */
  from: Offset
  /** Oldest first. */
  #records: Dated[] = []
  readonly #isWanted: (event: FeedEvent) => boolean

  constructor(partition: number, from: Offset, isWanted: (event: FeedEvent) => boolean) {
    this.partition = partition
    this.from = from
    this.#isWanted = isWanted
  }

  /** Where the last one comes cannot be told before the one before it is known. */
  get isShort(): boolean {
    return this.#records.length < 2 && this.from > 0
  }

  get order(): number | undefined {
    return this.#records.at(-1)?.order
  }

  get upTo(): Position | undefined {
    const offset = this.#records.at(-1)?.settled.record.offset ?? this.from - 1
    return offset < 0 ? undefined : { partition: this.partition, offset }
  }

  /** The wanted events of the last record, the last one first. */
  take(): readonly FeedEvent[] | undefined {
    const last = this.#records.pop()
    return last && this.#wantedOf(last.settled).reverse()
  }

  /** Not kept: each of several events may come to as much as their record. */
  #wantedOf(settled: EffectiveRecord): FeedEvent[] {
    return feedEventsOf(settled).filter(this.#isWanted)
  }

  /**
   * What programs say of the time may be wrong, or nothing: an event comes no earlier than the one before it, and where it
   * tells no time, with that one.
   */
  add(records: readonly EffectiveRecord[], from: Offset): void {
    const now = timeOfDay().getTime()
    const wanted = records.filter((settled) => this.#wantedOf(settled).length > 0)
    const found = wanted.map((settled) => ({ settled, at: timeOf(settled.event.time, now), order: 0 }))
    this.from = from
    this.#records = [...found, ...this.#records]
    let order = this.#records.find(({ at }) => at !== undefined)?.at ?? now
    for (const each of this.#records) {
      order = Math.max(order, each.at ?? order)
      each.order = order
    }
  }
}

function timeOf(text: string, now: number): number | undefined {
  const at = Date.parse(text)
  return at <= now + aheadMaxMs ? at : undefined // NaN too
}

function latestOf(lanes: readonly Lane[]): Lane | undefined {
  let latest: Lane | undefined
  for (const lane of lanes) {
    if (lane.order !== undefined && lane.order > (latest?.order ?? Number.NEGATIVE_INFINITY)) latest = lane
  }
  return latest
}

function notInLog(error: unknown): never {
  if (!(error instanceof RecordGoneError)) throw error
  throw new ServiceError('event_log_unavailable', 'The event log has lost its end.')
}

function unsettled(): ServiceError {
  return new ServiceError('read_model_unavailable', 'The read models do not say now what became of each event.')
}
