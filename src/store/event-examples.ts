import type { EventContext } from '../engine/commands/event-writer.ts'
import type { NewRecord } from '../engine/log/event-log.ts'
import { encodeDiscard, encodeEvent } from './event-codec.ts'
import type { OrderEvent, PetEvent } from './events.ts'
import type { OrderId } from './order.ts'
import type { PetId } from './pet.ts'

const [orderId, petId] = [12 as OrderId, 42 as PetId]
const created: PetEvent = {
  type: 'PetCreated',
  pet: { id: petId, name: 'Rex', categoryId: 7, status: 'available' },
}
const ordered = (type: OrderEvent['type']): PetEvent => ({ type, orderId, petId })

const eventId = (version: number) => `019e0000-0000-7000-8000-00000000010${version}`
const timeOf = (version: number) => `2026-11-22T12:0${version}:00.000Z`

const request = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  idempotency: { key: 'fA9kMvEKy4cPhm28OpKWPk', fingerprint: 'QqOmAROuUhSt5iffvUIijM' },
}

function written(event: PetEvent, version: number, more: Partial<EventContext> = {}): NewRecord {
  return encodeEvent(event, { eventId: eventId(version), version, time: timeOf(version), ...more })
}

/** A record as a consumer of the topic gets it. */
function example(name: string, summary: string, { value, headers }: NewRecord, more: object = {}) {
  return { name, summary, headers, payload: { ...JSON.parse(value), ...more } }
}

const discarded = encodeDiscard({ stream: String(petId), offset: 1234 }, new Date(timeOf(5)))

/** Examples of each type, as this release writes it. Their numbers are exact in every JSON parser. */
export const eventExamples = [
  example('petCreated', 'Pet 42 was added', written(created, 1)),
  example('petCreatedOnce', 'The same, under an Idempotency-Key and in a trace', written(created, 1, request)),
  example('orderPlaced', 'Pet 42 is pending', written(ordered('OrderPlaced'), 2)),
  example('orderApproved', 'Pet 42 stays pending', written(ordered('OrderApproved'), 3)),
  example('orderDelivered', 'Pet 42 is sold', written(ordered('OrderDelivered'), 4)),
  example('orderCancelled', 'Pet 42 is available again', written(ordered('OrderCancelled'), 3)),
  example('eventDiscarded', 'The parked event at offset 1234 of this partition has no effect', discarded, {
    id: eventId(5),
  }),
]
