import { type TProperties, type TSchema, Type } from 'typebox'
import type { PetEvent } from './events.ts'
import { IdSchema, PetIdSchema, PetSchema } from './pet.ts'

export const eventSource = '/v1/pets'

export type EventName = PetEvent['type'] | 'EventDiscarded'

/** The CloudEvents type. */
export function eventType<Name extends EventName>(name: Name) {
  return `petstore.${name}.v1` as const
}

/** The name in a CloudEvents type, for as long as each has one version: a second one is to be told from the first. */
export function eventName(type: string): EventName {
  return type.split('.')[1] as EventName
}

export type EventType = ReturnType<typeof eventType<EventName>>

export const OrderEventData = Type.Object(
  { orderId: IdSchema({ description: 'Unique identifier of the order' }), petId: PetIdSchema },
  { description: 'Which order of which pet' },
)

export const EventDiscardedData = Type.Object({
  offset: Type.Integer({
    format: 'int64',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Of the event left out, which stands in the same partition',
  }),
})

/** Single values have names too: generators give inline ones names of their own, or do not check them. */
const attributeSchemas = {
  EventSpecversion: Type.Literal('1.0'),
  EventSource: Type.Literal(eventSource),
  EventContentType: Type.Literal('application/json'),
}

/** An event's type and schema: `more`, and the attributes that every one of this service has (CloudEvents 1.0 section 3). */
function eventSchema(name: EventName, description: string, more: TProperties) {
  const type = eventType(name)
  const attributes = {
    specversion: attributeSchemas.EventSpecversion,
    id: Type.String({ minLength: 1, description: 'Unique per event: two records with one id are one event' }),
    type: Type.Literal(type),
    source: attributeSchemas.EventSource,
    subject: Type.String({ description: 'The pet id in decimal, as is the record key: it names the stream' }),
    time: Type.String({ description: 'RFC 3339, UTC' }),
    datacontenttype: attributeSchemas.EventContentType,
    traceparent: Type.Optional(Type.String({ description: 'W3C Trace Context of the request' })),
  }
  return [type, Type.Object({ ...attributes, ...more }, { title: type, description })] as const
}

const streamversion = Type.Integer({
  format: 'int64',
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

const ofOrder = { streamversion, data: OrderEventData }

/** The published schema of the record values of each type. */
export const eventSchemas = Object.fromEntries<TSchema>([
  eventSchema('PetCreated', 'A pet was added to the store. Without streamversion it is 1', {
    ...idempotency,
    streamversion: Type.Optional(streamversion),
    data: PetSchema,
  }),
  eventSchema('OrderPlaced', 'An available pet was ordered, and is pending from now on', {
    ...idempotency,
    ...ofOrder,
  }),
  eventSchema('OrderApproved', 'An order that was placed was approved', ofOrder),
  eventSchema('OrderDelivered', 'An approved order was delivered, and its pet is sold', ofOrder),
  eventSchema(
    'OrderCancelled',
    'An order was cancelled before it was delivered, and its pet is available again',
    ofOrder,
  ),
  eventSchema('EventDiscarded', 'An operator decided to leave out an event that could not be applied', {
    data: EventDiscardedData,
  }),
]) as Readonly<Record<EventType, TSchema>>

/** What a document of these events names, as it is named there. `schemas` are by type. */
export function namedEventSchemas(schemas: Readonly<Record<string, TSchema>>): Readonly<Record<string, TSchema>> {
  const events = Object.entries<TSchema & { properties?: TProperties }>(schemas).flatMap(([type, schema]) => [
    [eventName(type), schema],
    [`${eventName(type)}EventType`, schema.properties?.type],
  ])
  return { ...Object.fromEntries(events), ...attributeSchemas, OrderEventData }
}
