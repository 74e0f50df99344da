import type { Offset } from '../log/event-log.ts'
import type { StreamId } from './stream-row.ts'

/** The first event in log order under an idempotency key: enough to give its request the first answer again. */
export interface IdempotencyRecord {
  /** Each partition decides keys for itself. */
  readonly partition: number
  readonly key: string
  readonly offset: Offset
  /** Identifies the content of the request: another request under the same key is refused. */
  readonly fingerprint: string
  readonly stream: StreamId
  /** The id of the document that the event created; 0 if it was parked. */
  readonly id: number
  /** The version of the stream after the event. */
  readonly version: number
  /** The event's time, RFC 3339; '' if it has none. */
  readonly time: string
  /** Whether the event was parked instead of applied. */
  readonly parked: boolean
}

export type IdempotencyKey = Pick<IdempotencyRecord, 'partition' | 'key'>

/** The id of its record in the set `keys`. */
export function keyId({ partition, key }: IdempotencyKey): string {
  return `${partition}/${key}`
}

/** The stored form, under its partition and key. */
export function encodeIdempotencyRecord(record: IdempotencyRecord): string {
  const { offset, fingerprint, stream, id, version, time, parked } = record
  return JSON.stringify([offset, fingerprint, stream, id, version, time, parked ? 1 : 0])
}

export function decodeIdempotencyRecord({ partition, key }: IdempotencyKey, text: string): IdempotencyRecord {
  const fields: unknown = JSON.parse(text)
  if (!Array.isArray(fields) || fields.length !== 7) throw new Error(`not an idempotency record: ${text}`)
  const [offset, fingerprint, stream, id, version, time, parked] = fields
  return { partition, key, offset, fingerprint, stream, id, version, time, parked: parked === 1 }
}
