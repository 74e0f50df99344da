import type { Offset } from '../event-log/event-log.ts'
import type { StreamId } from './stream-row.ts'

/** The first event in log order under an idempotency key: it suffices to give its request the first answer again. */
export interface IdempotencyRecord {
  /** Each partition decides keys for itself. */
  readonly partition: number
  readonly key: string
  readonly offset: Offset
  /** Stands for the request that the event came from: another one under the same key is refused. */
  readonly fingerprint: string
  readonly stream: StreamId
  /** The id of what the event made: a pet, an order; 0 where it could not be read. */
  readonly id: number
  /** The version that the stream has after the event. */
  readonly version: number
  /** RFC 3339, of the event. */
  readonly time: string
  /** Whether the event was parked instead of applied. */
  readonly parked: boolean
}

export type IdempotencyKey = Pick<IdempotencyRecord, 'partition' | 'key'>

/** As stored under its partition and key. */
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
