import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { Decoded } from '../definition/event-codec.ts'
import type { AnyEvent } from '../door/stream.ts'
import type { LogRecord, Offset } from '../log/event-log.ts'
import { readCloudEvent } from '../log/record-codec.ts'
import type { StreamId } from '../read-models/stored-texts.ts'
import type { Rules } from './rules.ts'

/** An event of a stream: what its record says by itself, before the rest of the log is considered. */
export interface StreamEvent<Event = AnyEvent> {
  readonly offset: Offset
  /** The CloudEvents id. */
  readonly id: string
  readonly stream: StreamId
  /** The CloudEvents type. */
  readonly type: string
  /** Undefined if it cannot be read. */
  readonly version: number | undefined
  /** '' if it has none. */
  readonly time: string
  /** As found: it may be malformed. */
  readonly traceparent: string | undefined
  /** What its idempotency key is stored as. */
  readonly key: string | undefined
  readonly fingerprint: string
  readonly decoded: Exclude<Decoded<Event>, { outcome: 'ignored' | 'discard' }>
  readonly discards?: undefined
}

/** Discards the parked event at the offset `discards`. */
export interface Discard {
  readonly offset: Offset
  readonly stream: StreamId
  readonly discards: Offset
}

/** Bounds on what one event can store, in characters; of a record key in bytes. Those of this service are far below. */
const recordKeyMax = 128
const attributeMax = 64
const timeMax = 40

/** Undefined for a record to skip: not an event of a stream (docs/journal.md), or not in the partition of its stream. */
export function readEvent(
  { log, definition }: Rules,
  partition: number,
  { offset, key: recordKey, value }: LogRecord,
): StreamEvent | Discard | undefined {
  if (recordKey === null || value === null || recordKey.length > recordKeyMax) return undefined
  const stream = recordKey.toString()
  const kind = definition.kindOf(stream)
  if (kind === undefined) return undefined
  const { events } = kind === 'newer' ? definition.kinds[0] : kind
  const envelope = readCloudEvent(value, events.quick)
  if (envelope?.subject !== stream || !isUtf8(recordKey) || log.partitionFor(stream) !== partition) return undefined
  const decoded = kind === 'newer' ? ofNewerKind(events.decode(envelope)) : events.decode(envelope)
  if (decoded.outcome === 'ignored') return undefined
  if (decoded.outcome === 'discard') return { offset, stream, discards: decoded.offset }
  const version = events.streamVersion(envelope)
  if (decoded.outcome === 'newer_type' && version === undefined) return undefined
  const { id, type, idempotencykey, requestfingerprint, time: found = '' } = envelope
  const time = found.length > timeMax ? '' : found
  const traceparent = typeof envelope.traceparent === 'string' ? envelope.traceparent : undefined
  const [key, fingerprint = ''] = [bounded(idempotencykey), bounded(requestfingerprint)]
  return { offset, id, stream, type, version, time, traceparent, key, fingerprint, decoded }
}

/** What a type of this release means in a stream of a kind that it does not know: only the discard of an operator. */
function ofNewerKind(decoded: Decoded<AnyEvent>): Decoded<AnyEvent> {
  if (decoded.outcome === 'ignored' || decoded.outcome === 'discard') return decoded
  return { outcome: 'newer_type', reason: 'streams of this kind are unknown' }
}

/** The text of an attribute, or a hash of it if it is too long to be stored. Undefined if it is no text. */
function bounded(attribute: unknown): string | undefined {
  if (typeof attribute !== 'string') return undefined
  const text = attribute.toWellFormed()
  return text.length > attributeMax ? hash('sha256', text, 'base64url') : text
}
