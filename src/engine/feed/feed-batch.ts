import type { Offset } from '../log/event-log.ts'
import { eventText } from '../log/record-codec.ts'
import { shownEvents } from '../log/shown-event.ts'
import type { StreamId } from '../read-models/stored-texts.ts'
import type { EffectiveRecord } from '../rule/settled-events.ts'

export interface FeedEvent {
  readonly stream: StreamId
  /** The CloudEvents type. */
  readonly type: string
  /** The CloudEvent, as it is told. */
  readonly json: string
  /**
   * What a client is sent of it, made once for all who follow. It stands here, not in a WeakMap: with those V8 collects
   * its garbage ten times as long (decision 0037).
   */
  sent?: string
}

type Told = Pick<EffectiveRecord, 'record' | 'event'>

/** What is told of a record, in its order. */
export function feedEventsOf({ record, event }: Told): readonly FeedEvent[] {
  const { stream, type } = event
  const texts = shownEvents(eventText(record.value))
  return texts.map((json) => ({ stream, type: texts.length === 1 ? type : JSON.parse(json).type, json }))
}

/** A batch has no more, unless one record does: each of several events may come to as much as their record. */
const batchCharactersMax = 4_000_000

/** What is told of the first `taken` of these records: of all of them, or of as many as a batch has room for. */
export function batchOf(records: readonly Told[]): { readonly events: readonly FeedEvent[]; readonly taken: number } {
  const events: FeedEvent[] = []
  let [taken, characters] = [0, 0]
  for (const record of records) {
    if (characters >= batchCharactersMax) break
    const told = feedEventsOf(record)
    characters += told.reduce((sum, { json }) => sum + json.length, 0)
    events.push(...told)
    taken++
  }
  return { events, taken }
}

export interface EventFilter {
  /** The events of one stream only. */
  readonly stream?: StreamId | undefined
  /** The events of one CloudEvents type only. */
  readonly type?: string | undefined
}

export function wantedBy({ stream, type }: EventFilter): (event: FeedEvent) => boolean {
  return (event) => (stream === undefined || event.stream === stream) && (type === undefined || event.type === type)
}

/** Where a feed goes on in a partition. */
export interface FeedPlace {
  readonly partition: number
  /** The offset of the next record. */
  readonly next: Offset
  /**
   * If that record discards an event: the version up to which the events that it released are told; 0 if none is told.
   */
  readonly told: number
}

/** The events that took effect between one place and another. */
export interface FeedBatch {
  readonly events: readonly FeedEvent[]
  readonly place: FeedPlace
  /** The log has lost its end, and the place with it. */
  readonly isLost?: boolean
}

/** On whose account batches are read. */
export interface Account {
  /** An owner of API keys. */
  readonly owner: string
  /**
   * Counts a batch as a request. Returns 0, or, where the rate of the owner allows none now, the milliseconds until it may.
   */
  count(): number
}
