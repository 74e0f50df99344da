import type { EventContext as OfStream } from '../../../src/engine/definition/event-codec.ts'
import type { LogRecord, NewRecord, Offset } from '../../../src/engine/log/event-log.ts'
import { type EventAttributes, eventRecord } from '../../lib/event-record.ts'
import type { BookingEvent, NewSeat } from '../theatre/seats.ts'
import { encodeEvent, theatre } from '../theatre/theatre.ts'

/** A record before it has its place in a log. */
export type AnyRecord = Omit<LogRecord, 'offset'>

export function record(value: string | Buffer | null, key: string | Buffer | null = null): AnyRecord {
  return { key: key === null ? null : Buffer.from(key), value: value === null ? null : Buffer.from(value) }
}

export function logOf(records: readonly AnyRecord[], from: Offset = 0): LogRecord[] {
  return records.map(({ key, value }, at) => ({ key, value, offset: from + at }))
}

/** As this service appends them: as text. Records without key or value are the business of classify.unit.test.ts. */
export function asText(records: readonly AnyRecord[]): NewRecord[] {
  const text = (bytes: Buffer | null) => bytes?.toString() ?? ''
  return records.map(({ key, value }) => ({ key: text(key), value: text(value), headers: {} }))
}

/** The record of an event as any program writes one: with these attributes and no others. */
export function foreignRecord(event: EventAttributes): AnyRecord {
  const { key, value } = eventRecord(event)
  return record(value, key)
}

export type EventContext = Omit<OfStream, 'stream'>
const context: EventContext = { eventId: 'event', version: 1, time: '2026-11-20T09:30:00.000Z' }

/** The record of an event, as its service writes it. `over`: what differs of its context. */
export function writtenBy<Event>(encode: (event: Event, context: EventContext) => NewRecord) {
  return (event: Event, over: Partial<EventContext> = {}): AnyRecord => {
    const { key, value } = encode(event, { ...context, ...over })
    return record(value, key)
  }
}
const written = writtenBy(encodeEvent)

export function seatAdded(seat: Partial<NewSeat> & { id: number }, over: Partial<EventContext> = {}): AnyRecord {
  const defaults: NewSeat = { name: `seat ${seat.id}`, rowId: 1, status: 'available' }
  const complete = { ...defaults, ...seat, id: seat.id }
  return written({ type: 'SeatAdded', seat: complete }, over)
}

export function bookingEvent(
  type: BookingEvent['type'],
  seatId: number,
  bookingId: number,
  version: number,
  over: Partial<EventContext> = {},
): AnyRecord {
  const event = { type, seatId, bookingId }
  return written(event, { version, ...over })
}

export function seatRemoved(seatId: number, over: Partial<EventContext> = {}): AnyRecord {
  return written({ type: 'SeatRemoved', seatId }, over)
}

export function discard(
  stream: string,
  offset: Offset,
  events: Pick<typeof theatre.events, 'encodeDiscard'> = theatre.events,
): AnyRecord {
  const { key, value } = events.encodeDiscard({ stream, offset }, new Date(0))
  return record(value.replace(/"id":"[^"]*"/, `"id":"discard ${offset}"`), key) // the same each time
}

/** The record with some attributes of its CloudEvent replaced; `undefined` leaves one out. */
export function altered(
  { key, value }: AnyRecord,
  attributes: Record<string, unknown>,
  otherKey: string | Buffer | null = key,
): AnyRecord {
  return record(JSON.stringify({ ...JSON.parse(String(value)), ...attributes }), otherKey)
}

/** One record of the events of these records, which has the key and the attributes of the first, but for these. */
export function several(records: readonly AnyRecord[], attributes: Record<string, unknown> = {}): AnyRecord {
  const [first = record(null)] = records
  const { type } = JSON.parse(String(first.value))
  const events = records.map(({ value }, i) => {
    const { id, type: each, data } = JSON.parse(String(value))
    return { id: `${id}/${i}`, type: each, data }
  })
  return altered(first, { type: `${type.split('.')[0]}.Several.v1`, data: { events }, ...attributes })
}

/** An event of a type that only a newer release knows. */
export function newerEvent(
  stream: string,
  streamversion: unknown,
  attributes: Record<string, unknown> = {},
): AnyRecord {
  const moved = { id: 'newer', type: 'theatre.SeatMoved.v1', source: '/v1/seats', subject: stream }
  return foreignRecord({ ...moved, streamversion, ...attributes })
}

/** A key by an Idempotency-Key, as part of the context of an event. */
export function keyed(key: string): Pick<EventContext, 'idempotency'> {
  return { idempotency: { key, fingerprint: `fingerprint of ${key}` } }
}
