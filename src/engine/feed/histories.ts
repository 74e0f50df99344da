import { ServiceError } from '../lib/errors/errors.ts'
import type { EventLog, LogRecord } from '../log/event-log.ts'
import { RecordGoneError } from '../log/read-at.ts'
import { eventText } from '../log/record-codec.ts'
import { shownEvents } from '../log/shown-event.ts'
import type { AtLeast, Reached, ReadModel } from '../read-models/read-model.ts'
import { isEntryOf, type StreamId, type VersionEntry } from '../read-models/stored-texts.ts'
import type { Rules } from '../rule/rules.ts'
import { readEvent } from '../rule/stream-event.ts'
import type { FairTurns } from './fair-turns.ts'
import { type LimitedReader, type Reader, readInTurn } from './read-in-turn.ts'

export interface HistoriesOptions extends Rules {
  readonly log: Pick<EventLog, 'read' | 'endOffsets' | 'partitionFor'>
  readonly readModel: Pick<ReadModel, 'load'>
  readonly turns: FairTurns
}

/** A place in a stream. */
export interface HistoryPlace {
  /** Behind the event that gives the stream this version, */
  readonly version: number
  /** and where that is one of several, behind the one of this `streamindex`; behind them all where it is undefined. */
  readonly index?: number | undefined
}

export interface HistoryPage {
  /** The beginning, if it is not said. */
  readonly after?: HistoryPlace | undefined
  readonly limit: number
}

export interface History {
  /** CloudEvents, as they are told. */
  readonly events: readonly string[]
  /** How far they are told, if the stream has more. */
  readonly last: HistoryPlace | undefined
  /** Whether a document shows the stream, or did before it was removed. */
  readonly isKnown: boolean
  readonly reached: Reached
}

const withinMs = 10_000
const beginning: HistoryPlace = { version: 0 }

/** The events of one stream that took effect. */
export class Histories {
  readonly #options: HistoriesOptions

  constructor(options: HistoriesOptions) {
    this.#options = options
  }

  /**
   * Oldest first: up to `limit` of those behind the place `after`. Throws what `ReadModel.load` and `EventLog.read` throw,
   * and ServiceError overloaded where they are not read within ten seconds.
   */
  async page(
    stream: StreamId,
    { after = beginning, limit }: HistoryPage,
    reader: Reader,
    atLeast?: AtLeast,
  ): Promise<History> {
    const events: string[] = []
    const deadlineMs = performance.now() + withinMs
    for (let first = after.index === undefined ? after.version + 1 : after.version; ; ) {
      const room = limit - events.length
      const versions = { first, last: first + room - 1 }
      const { row, entries, reached } = await this.#options.readModel.load({ stream, versions }, atLeast, reader.owner)
      const limitMs = Math.max(0, deadlineMs - performance.now())
      const records = await this.#recordsOf(stream, entries, { ...reader, limitMs })
      const told = toldOf(records, after, room)
      events.push(...told.slice(0, room).map(({ json }) => json))
      const isKnown = row !== undefined && (row.document !== undefined || row.isRemoved)
      const [last, next] = told.slice(room - 1)
      if (last !== undefined && next !== undefined) return { events, last: placeOf(last, next), isKnown, reached }
      first = versions.last + 1
      const isMore = row !== undefined && versions.last < row.version
      if (isMore && events.length < limit) continue // in place of those that were discarded
      return { events, last: isMore ? { version: versions.last } : undefined, isKnown, reached }
    }
  }

  /** Those that were not discarded, with their versions. */
  async #recordsOf(
    stream: StreamId,
    entries: ReadonlyMap<number, VersionEntry>,
    reader: LimitedReader,
  ): Promise<readonly (readonly [version: number, record: LogRecord])[]> {
    const partition = this.#options.log.partitionFor(stream)
    const shown = [...entries].filter(([, { isDiscarded }]) => !isDiscarded)
    const offsets = shown.map(([, { offset }]) => offset)
    const records = await readInTurn(this.#options, partition, offsets, reader).catch((error) => {
      throw error instanceof RecordGoneError ? notInLog() : error
    })
    return records.map((record, i) => {
      const event = readEvent(this.#options, partition, record)
      const [version = 0, entry] = shown[i] ?? []
      const isSame = entry !== undefined && event?.discards === undefined && event?.stream === stream
      if (!isSame || !isEntryOf(entry, event)) throw notInLog()
      return [version, record]
    })
  }
}

interface ToldEvent {
  readonly json: string
  readonly version: number
  /** Among those of its record. */
  readonly index: number
}

/** What is told of these records behind a place: up to `room` events, and at least one more if there is one. */
function toldOf(
  records: readonly (readonly [version: number, record: LogRecord])[],
  after: HistoryPlace,
  room: number,
): readonly ToldEvent[] {
  const told: ToldEvent[] = []
  for (const [version, { value }] of records) {
    if (told.length > room) break // each of several events may come to as much as their record
    const events = shownEvents(eventText(value)).map((json, index) => ({ json, version, index }))
    told.push(...events.filter((each) => isBehind(each, after)))
  }
  return told
}

function isBehind({ version, index }: ToldEvent, after: HistoryPlace): boolean {
  return version > after.version || (after.index !== undefined && index > after.index)
}

function placeOf({ version, index }: ToldEvent, next: ToldEvent): HistoryPlace {
  return next.version === version ? { version, index } : { version }
}

/** A log that has lost its end may have another event there, until the read models are built anew. */
function notInLog(): ServiceError {
  return new ServiceError('event_log_unavailable', 'The event log does not have an event that the read models name.')
}
