import { randomUUIDv7 } from 'node:crypto'
import type { Static, TSchema } from 'typebox'
import type { EventContext } from '../command-handling/event-writer.ts'
import type { NewRecord, Offset } from '../event-log/event-log.ts'
import { type CloudEvent, writeCloudEvent } from '../event-log/record-codec.ts'
import { compileCheck } from '../lib/validation.ts'
import {
  EventDiscardedData,
  eventDiscardedType,
  eventSource,
  OrderEventData,
  orderEventType,
  orderEventTypes,
  petCreatedType,
} from './event-schemas.ts'
import type { OrderEvent, PetEvent } from './events.ts'
import type { OrderId } from './order.ts'
import { type Pet, type PetId, PetSchema, petDocument, WrittenPet } from './pet.ts'

/** The record of an event: its key is the pet id, so that all events of a pet share a partition. */
export function encodeEvent(event: PetEvent, context: EventContext): NewRecord {
  const { eventId: id, version: streamversion, time, traceparent, idempotency } = context
  const envelope = { id, source: eventSource, time, traceparent, idempotency, streamversion }
  if (event.type === 'PetCreated') {
    return writeCloudEvent({
      ...envelope,
      type: petCreatedType,
      subject: String(event.pet.id),
      data: petDocument(event.pet),
    })
  }
  const { orderId, petId } = event
  const data = `{"orderId":${orderId},"petId":${petId}}`
  return writeCloudEvent({ ...envelope, type: orderEventType(event.type), subject: String(petId), data })
}

/** The record that discards a parked event. It belongs into the same partition, behind it. */
export function encodeDiscard({ stream, offset }: { stream: string; offset: Offset }, time: Date): NewRecord {
  return writeCloudEvent({
    id: randomUUIDv7(),
    type: eventDiscardedType,
    source: eventSource,
    subject: stream,
    time: time.toISOString(),
    data: JSON.stringify({ offset }),
  })
}

type Decoded =
  | { readonly outcome: 'event'; readonly event: PetEvent; readonly id: number }
  | { readonly outcome: 'discard'; readonly offset: Offset }
  | { readonly outcome: 'unreadable' | 'newer_type'; readonly reason: string }
  | { readonly outcome: 'ignored' }

const orderEventNames = new Map<string, OrderEvent['type']>(orderEventTypes.map((type) => [orderEventType(type), type]))

/** Reads what an event says. */
export function decodeEvent({ type, data }: CloudEvent): Decoded {
  if (type === petCreatedType) return decodePetCreated(data)
  const orderEvent = orderEventNames.get(type)
  if (orderEvent !== undefined) return decodeOrderEvent(orderEvent, data)
  if (type === eventDiscardedType) {
    return checkDiscarded(data) === undefined
      ? { outcome: 'discard', offset: (data as Static<typeof EventDiscardedData>).offset }
      : { outcome: 'ignored' }
  }
  return type.startsWith('petstore.')
    ? { outcome: 'newer_type', reason: `type ${type} is not known` }
    : { outcome: 'ignored' }
}

/** The version that an event gives its stream. Events of earlier releases have none: a PetCreated begins its stream. */
export function streamVersion({ type, streamversion }: CloudEvent): number | undefined {
  if (streamversion === undefined) return type === petCreatedType ? 1 : undefined
  return Number.isSafeInteger(streamversion) ? (streamversion as number) : undefined
}

const checkPet = compileCheck(PetSchema)
const checkOrderEvent = compileCheck(OrderEventData)
const checkDiscarded = compileCheck(EventDiscardedData)

function decodePetCreated(data: unknown): Decoded {
  if (data instanceof WrittenPet) return created(data)
  return decodeAs(checkPet, data, ({ id, name, categoryId, status }: Static<typeof PetSchema>) =>
    created({ id: id as PetId, name, categoryId, status }),
  )
}

function created(pet: Pet): Decoded {
  return { outcome: 'event', event: { type: 'PetCreated', pet }, id: pet.id }
}

function decodeOrderEvent(type: OrderEvent['type'], data: unknown): Decoded {
  return decodeAs(checkOrderEvent, data, ({ orderId, petId }: Static<typeof OrderEventData>) => ({
    outcome: 'event',
    event: { type, orderId: orderId as OrderId, petId: petId as PetId },
    id: orderId,
  }))
}

function decodeAs<Data extends Static<TSchema>>(
  check: ReturnType<typeof compileCheck>,
  data: unknown,
  read: (data: Data) => Decoded,
): Decoded {
  const problem = check(data)
  return problem === undefined ? read(data as Data) : { outcome: 'unreadable', reason: `data: ${problem}` }
}
