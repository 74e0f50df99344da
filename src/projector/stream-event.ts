import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { LogRecord, Offset } from '../event-log/event-log.ts'
import { type Decoded, readCloudEvent } from '../event-log/record-codec.ts'
import type { ParkedEvent } from '../read-models/parked-event.ts'
import type { StreamId } from '../read-models/stream-row.ts'
import type { Rules } from './definition.ts'

/** An event of a stream: what its record says by itself, before the rest of the log is considered. */
export interface StreamEvent<Event = unknown> {
  readonly offset: Offset
  readonly stream: StreamId
  /** The CloudEvents type. */
  readonly type: string
  /** Undefined if it cannot be read. */
  readonly version: number | undefined
  readonly time: string
  /** As found: it may be malformed. */
  readonly traceparent: string | undefined
  /** Its idempotency key. */
  readonly key: string | undefined
  readonly fingerprint: string
  readonly decoded: Exclude<Decoded<Event>, { outcome: 'ignored' | 'discard' }>
  /** The value of its record. */
  readonly value: Buffer
  readonly discards?: undefined
}

/** Discards the parked event at the offset `discards`. */
export interface Discard {
  readonly offset: Offset
  readonly stream: StreamId
  readonly discards: Offset
}

/** Undefined for a record to skip: not an event of a stream (docs/events.md), or not in the partition of its stream. */
export function readEvent<Event>(
  { log, definition }: Rules<unknown, Event>,
  partition: number,
  { offset, key: recordKey, value }: LogRecord,
): StreamEvent<Event> | Discard | undefined {
  if (recordKey === null || value === null) return undefined
  const envelope = readCloudEvent(value, definition.readData)
  const stream = envelope?.subject
  if (envelope === undefined || stream === undefined) return undefined
  if (recordKey.toString() !== stream || !isUtf8(recordKey) || log.partitionFor(stream) !== partition) return undefined
  const decoded = definition.decode(envelope)
  if (decoded.outcome === 'ignored') return undefined
  if (decoded.outcome === 'discard') return { offset, stream, discards: decoded.offset }
  const version = definition.streamVersion(envelope)
  if (decoded.outcome === 'newer_type' && version === undefined) return undefined
  const { type, idempotencykey, requestfingerprint, time = '' } = envelope
  const traceparent = typeof envelope.traceparent === 'string' ? envelope.traceparent : undefined
  const key = typeof idempotencykey === 'string' ? idempotencykey.toWellFormed() : undefined
  const fingerprint = typeof requestfingerprint === 'string' ? requestfingerprint : ''
  return { offset, stream, type, version, time, traceparent, key, fingerprint, decoded, value }
}

/** The meaning of a parked event for this release; undefined if this release does not consider it an event. */
export function readParked<Event>(
  rules: Rules<unknown, Event>,
  { partition, offset, stream, value }: ParkedEvent,
): StreamEvent<Event> | undefined {
  const event = readEvent(rules, partition, { offset, key: Buffer.from(stream), value: Buffer.from(value) })
  return event?.discards === undefined ? event : undefined
}

/** Identifies a record, as opposed to one that another log might hold at the same offset. */
export function recordIdentity({ key, value }: LogRecord): string {
  const keyLength = Buffer.from(`${key?.length ?? -1} `)
  return hash('sha1', Buffer.concat([keyLength, key ?? Buffer.alloc(0), value ?? Buffer.alloc(0)]), 'base64url')
}
