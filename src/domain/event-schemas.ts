import { Type } from 'typebox'
import type { OrderEvent } from './events.ts'
import { PetIdSchema, PetSchema } from './pet.ts'

export const eventSource = '/v1/pets'

const version = 1
export const petCreatedType = `petstore.PetCreated.v${version}`
export const eventDiscardedType = `petstore.EventDiscarded.v${version}`
export const orderEventTypes = ['OrderPlaced', 'OrderApproved', 'OrderDelivered', 'OrderCancelled'] as const

export function orderEventType(type: OrderEvent['type']): string {
  return `petstore.${type}.v${version}`
}

export const OrderEventData = Type.Object(
  {
    orderId: Type.Integer({
      format: 'int64',
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Unique identifier of the order',
    }),
    petId: PetIdSchema,
  },
  { description: 'Which order of which pet' },
)

export const EventDiscardedData = Type.Object({
  offset: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Of the event left out, which stands in the same partition',
  }),
})

/** The attributes that every event of this service has, in the published schema of each (CloudEvents 1.0 section 3). */
function envelope(type: string) {
  return {
    specversion: Type.Literal('1.0'),
    id: Type.String({ minLength: 1, description: 'Unique per event: two records with one id are one event' }),
    type: Type.Literal(type),
    source: Type.Literal(eventSource),
    subject: Type.String({ description: 'The pet id in decimal, as is the record key: it names the stream' }),
    time: Type.String({ description: 'RFC 3339, UTC' }),
    datacontenttype: Type.Literal('application/json'),
    traceparent: Type.Optional(Type.String({ description: 'W3C Trace Context of the request' })),
  }
}

const streamversion = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The version that the stream has after this event: it took effect only if that is one above the last',
})

const idempotency = {
  idempotencykey: Type.Optional(
    Type.String({ description: 'Events with the same one are one: the first in the log counts, the others do not' }),
  ),
  requestfingerprint: Type.Optional(
    Type.String({ description: 'Differs where requests under one idempotency key asked for different things' }),
  ),
}

const whatHappened: Readonly<Record<OrderEvent['type'], string>> = {
  OrderPlaced: 'An available pet was ordered, and is pending from now on',
  OrderApproved: 'An order that was placed was approved',
  OrderDelivered: 'An approved order was delivered, and its pet is sold',
  OrderCancelled: 'An order was cancelled before it was delivered, and its pet is available again',
}

function orderEventSchema(type: OrderEvent['type']) {
  const name = orderEventType(type)
  return Type.Object(
    { ...envelope(name), ...(type === 'OrderPlaced' ? idempotency : {}), streamversion, data: OrderEventData },
    { title: name, description: whatHappened[type] },
  )
}

/** The published schema of the record values of each type. */
export const eventSchemas = {
  [petCreatedType]: Type.Object(
    { ...envelope(petCreatedType), ...idempotency, streamversion: Type.Optional(streamversion), data: PetSchema },
    { title: petCreatedType, description: 'A pet was added to the store. Without streamversion it is 1' },
  ),
  ...Object.fromEntries(orderEventTypes.map((type) => [orderEventType(type), orderEventSchema(type)])),
  [eventDiscardedType]: Type.Object(
    { ...envelope(eventDiscardedType), data: EventDiscardedData },
    { title: eventDiscardedType, description: 'An operator decided to leave out an event that could not be applied' },
  ),
}
