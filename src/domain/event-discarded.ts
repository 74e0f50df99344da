import { randomUUIDv7 } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { cloudEventMediaType } from '../event-log/cloud-event.ts'
import type { NewRecord, Offset } from '../event-log/event-log.ts'
import { compileCheck } from '../lib/validation.ts'
import { envelopeAttributes, eventSource } from './envelope.ts'

export const eventDiscardedType = 'petstore.EventDiscarded.v1'

const DataSchema = Type.Object({
  offset: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Of the event left out, which stands in the same partition',
  }),
})

/** The published schema of an EventDiscarded record value, version 1. */
export const EventDiscardedSchema = Type.Object(
  {
    ...envelopeAttributes(eventDiscardedType, { id: 'Unique per event', subject: 'That of the event left out' }),
    data: DataSchema,
  },
  { title: eventDiscardedType, description: 'An operator decided to leave out an event that could not be applied' },
)

/** The record that discards a parked event. It belongs into the same partition, behind it. */
export function eventDiscardedRecord({ subject, offset }: { subject: string; offset: Offset }, time: Date): NewRecord {
  const event: Static<typeof EventDiscardedSchema> = {
    specversion: '1.0',
    id: randomUUIDv7(),
    type: eventDiscardedType,
    source: eventSource,
    subject,
    time: time.toISOString(),
    datacontenttype: 'application/json',
    data: { offset },
  }
  return { key: subject, value: JSON.stringify(event), headers: { 'content-type': cloudEventMediaType } }
}

const check = compileCheck(DataSchema)

export function decodeEventDiscarded(
  data: unknown,
): { outcome: 'discard'; offset: Offset } | { outcome: 'unreadable'; reason: string } {
  const problem = check(data)
  if (problem !== undefined) return { outcome: 'unreadable', reason: `data: ${problem}` }
  return { outcome: 'discard', offset: (data as Static<typeof DataSchema>).offset }
}
