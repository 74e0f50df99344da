import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { EventLog, LogRecord, Offset } from '../event-log/event-log.ts'
import { readCloudEvent } from '../event-log/record-codec.ts'
import type { ParkedEvent } from '../read-models/parked-event.ts'
import type { StreamId } from '../read-models/stream-row.ts'
import type { Decoded, StreamDefinition } from './definition.ts'

/** What a record says by itself, before anything else in the log is looked at. */
export type RecordContent<Event> = { readonly kind: 'skipped' } | DiscardContent | EventContent<Event>

export interface DiscardContent {
  readonly kind: 'discard'
  readonly offset: Offset
  readonly stream: StreamId
  /** The offset of the event that is to be left out. */
  readonly target: Offset
}

export interface EventContent<Event> {
  readonly kind: 'event'
  readonly offset: Offset
  readonly stream: StreamId
  /** Undefined where it cannot be read. */
  readonly version: number | undefined
  readonly time: string
  /** Its idempotency key. */
  readonly key: string | undefined
  readonly fingerprint: string
  readonly decoded: Exclude<Decoded<Event>, { outcome: 'discard' | 'ignored' }>
  readonly record: LogRecord
}

export interface RecordSource<Event> {
  readonly log: Pick<EventLog, 'partitionFor'>
  readonly definition: Pick<StreamDefinition<unknown, Event>, 'decode' | 'readData' | 'streamVersion'>
}

const skipped = { kind: 'skipped' } as const

/** Skipped is what is no event of a stream (docs/events.md), or not where the default partitioner puts the stream. */
export function readRecord<Event>(
  { log, definition }: RecordSource<Event>,
  partition: number,
  record: LogRecord,
): RecordContent<Event> {
  const { offset, key: recordKey } = record
  const envelope = readCloudEvent(record.value, definition.readData)
  const stream = envelope?.subject
  if (envelope === undefined || stream === undefined || recordKey === null) return skipped
  if (recordKey.toString() !== stream || !isUtf8(recordKey) || log.partitionFor(stream) !== partition) return skipped
  const decoded = definition.decode(envelope)
  if (decoded.outcome === 'ignored') return skipped
  if (decoded.outcome === 'discard') return { kind: 'discard', offset, stream, target: decoded.offset }
  const version = definition.streamVersion(envelope)
  if (decoded.outcome === 'newer_type' && version === undefined) return skipped
  const { idempotencykey, requestfingerprint, time = '' } = envelope
  const key = typeof idempotencykey === 'string' ? idempotencykey.toWellFormed() : undefined
  const fingerprint = typeof requestfingerprint === 'string' ? requestfingerprint : ''
  return { kind: 'event', offset, stream, version, time, key, fingerprint, decoded, record }
}

/** What a parked event says to this release. */
export function readParked<Event>(source: RecordSource<Event>, event: ParkedEvent): RecordContent<Event> {
  const { partition, offset, stream, value } = event
  return readRecord(source, partition, { offset, key: Buffer.from(stream), value: Buffer.from(value) })
}

/** Tells a record from any other that another log might hold at the same offset. */
export function recordIdentity({ key, value }: LogRecord): string {
  const keyLength = Buffer.from(`${key?.length ?? -1} `)
  return hash('sha1', Buffer.concat([keyLength, key ?? Buffer.alloc(0), value ?? Buffer.alloc(0)]), 'base64url')
}
