import { randomUUIDv7 } from 'node:crypto'
import type { Static } from 'typebox'
import type { EventContext } from '../engine/commands/event-writer.ts'
import type { NewRecord, Offset } from '../engine/log/event-log.ts'
import { type CloudEvent, type Decoded, writeCloudEvent } from '../engine/log/record-codec.ts'
import { compileCheck } from '../engine/lib/validation.ts'
import { EventDiscardedData, eventName, eventSchemas, eventSource, eventType, OrderEventData } from './event-schemas.ts'
import type { OrderEvent, PetEvent } from './events.ts'
import { type Pet, PetSchema, petDocument, WrittenPet } from './pet.ts'
import type { TypedData, Upcaster } from './upcasting.ts'

/** The record of an event. Its key is the pet id, so that all events of a pet share a partition. */
export function encodeEvent(event: PetEvent, context: EventContext): NewRecord {
  const { eventId: id, version: streamversion, time, traceparent, idempotency } = context
  const type = eventType(event.type)
  const envelope = { id, type, source: eventSource, time, traceparent, idempotency, streamversion }
  if (event.type === 'PetCreated') {
    return writeCloudEvent({ ...envelope, subject: String(event.pet.id), data: petDocument(event.pet) })
  }
  const { orderId, petId } = event
  return writeCloudEvent({ ...envelope, subject: String(petId), data: `{"orderId":${orderId},"petId":${petId}}` })
}

/** The record that discards a parked event. It belongs in the same partition, after that event. */
export function encodeDiscard({ stream, offset }: { stream: string; offset: Offset }, time: Date): NewRecord {
  return writeCloudEvent({
    id: randomUUIDv7(),
    type: eventType('EventDiscarded'),
    source: eventSource,
    subject: stream,
    time: time.toISOString(),
    data: JSON.stringify({ offset }),
  })
}

const nameOf = new Map(Object.keys(eventSchemas).map((type) => [type, eventName(type)]))
const checkPet = compileCheck(PetSchema)
const checkOrderEvent = compileCheck(OrderEventData)
const checkDiscarded = compileCheck(EventDiscardedData)

/** Upcasters, by the type that they read. None is needed yet; test/domain/upcasting.unit.test.ts shows how a version is raised. */
const upcasters: ReadonlyMap<string, Upcaster> = new Map()

/** Reads what an event says. */
export function decodeEvent({ type, data }: TypedData, earlier = upcasters): Decoded<PetEvent> {
  const upcast = earlier.get(type)
  if (upcast !== undefined) {
    const said = upcast(data)
    return typeof said === 'string' ? unreadable(said) : decodeEvent(said, earlier)
  }
  const name = nameOf.get(type)
  switch (name) {
    case undefined:
      if (!type.startsWith('petstore.')) return { outcome: 'ignored' }
      return { outcome: 'newer_type', reason: `type ${type} is unknown` }
    case 'EventDiscarded':
      if (checkDiscarded(data) !== undefined) return { outcome: 'ignored' }
      return { outcome: 'discard', offset: (data as Static<typeof EventDiscardedData>).offset }
    case 'PetCreated': {
      const problem = data instanceof WrittenPet ? undefined : checkPet(data)
      if (problem !== undefined) return unreadable(problem)
      const pet = data as Pet
      return { outcome: 'event', event: { type: name, pet }, id: pet.id }
    }
    default: {
      const problem = checkOrderEvent(data)
      if (problem !== undefined) return unreadable(problem)
      const { orderId, petId } = data as OrderEvent
      return { outcome: 'event', event: { type: name, orderId, petId }, id: orderId }
    }
  }
}

function unreadable(problem: string): Decoded<PetEvent> {
  return { outcome: 'unreadable', reason: `data: ${problem}` }
}

/** The version that an event gives its stream. Release 1.0.0 wrote none: its only event begins a stream. */
export function streamVersion({ type, streamversion }: CloudEvent): number | undefined {
  if (streamversion === undefined) return type === 'petstore.PetCreated.v1' ? 1 : undefined
  return Number.isSafeInteger(streamversion) ? (streamversion as number) : undefined
}
