import { hash } from 'node:crypto'
import { type CloudEvent, readCloudEvent } from '../event-log/cloud-event.ts'
import type { LogRecord, Offset } from '../event-log/event-log.ts'
import { eventTag } from '../read-models/event-tag.ts'
import type { KeyDecision } from '../read-models/key-decision.ts'
import type { Insert } from '../read-models/read-models.ts'
import { countedBy } from './counting.ts'
import type { Countable, ReadModelDefinition } from './definition.ts'

/** What a record says by itself, before anything else in the log is looked at. */
export type RecordContent =
  | { readonly kind: 'foreign'; readonly offset: Offset }
  | {
      readonly kind: 'discard'
      readonly offset: Offset
      readonly subject: string
      /** The offset of the event that is to be left out. */
      readonly target: Offset
    }
  | {
      readonly kind: 'unreadable'
      readonly offset: Offset
      readonly subject: string
      readonly claim: KeyDecision | undefined
      readonly reason: string
      readonly value: string
    }
  | {
      readonly kind: 'change'
      readonly offset: Offset
      readonly subject: string
      /** What the idempotency key comes to, should no earlier record have decided it. */
      readonly claim: KeyDecision | undefined
      readonly insert: Insert
      /** The values it is counted by, as `countedBy` has them. */
      readonly counted: readonly Countable[]
      readonly record: LogRecord
    }

/** Design section 4: no readable envelope or an unknown type is foreign; a known type that cannot be read is kept. */
export function readRecord<Event>(definition: ReadModelDefinition<Event>, record: LogRecord): RecordContent {
  const { offset } = record
  const envelope = readCloudEvent(record.value, definition.readData)
  if (envelope === undefined) return { kind: 'foreign', offset }
  const decoded = definition.decode(envelope)
  if (decoded.outcome === 'unknown_type') return { kind: 'foreign', offset }
  const subject = envelope.subject ?? record.key?.toString() ?? `offset ${offset}`
  if (decoded.outcome === 'discard') return { kind: 'discard', offset, subject, target: decoded.offset }
  const claim = claimOf(envelope, offset, subject)
  if (decoded.outcome === 'unreadable') {
    return { kind: 'unreadable', offset, subject, claim, reason: decoded.reason, value: recordText(record) }
  }
  try {
    const { id, document, indexes } = definition.projection.change(decoded.event)
    const insert = { id, document, indexes, tag: eventTag(envelope.id) }
    const counted = countedBy(definition.countings, decoded.event)
    return { kind: 'change', offset, subject, claim, insert, counted, record }
  } catch (error) {
    const reason = `the projection failed: ${error}`
    return { kind: 'unreadable', offset, subject, claim, reason, value: recordText(record) }
  }
}

function claimOf(
  { idempotencykey: key, requestfingerprint }: CloudEvent,
  offset: Offset,
  subject: string,
): KeyDecision | undefined {
  if (typeof key !== 'string') return undefined
  const fingerprint = typeof requestfingerprint === 'string' ? requestfingerprint : ''
  return { key, offset, fingerprint, subject }
}

export function recordText({ value }: LogRecord): string {
  return value?.toString() ?? ''
}

/** Tells a record from any other that another log might hold at the same offset. */
export function recordIdentity({ key, value }: LogRecord): string {
  const keyLength = Buffer.from(`${key?.length ?? -1} `)
  return hash('sha1', Buffer.concat([keyLength, key ?? Buffer.alloc(0), value ?? Buffer.alloc(0)]), 'base64url')
}
