import { Type } from 'typebox'
import type { EarlierExample, EventType, Stream } from '../engine/index.ts'
import type { OrderId, OrderStatus } from './order.ts'
import { IdSchema, type Pet, type PetId, PetIdSchema, PetSchema, PetV1Schema, petDocument } from './pet.ts'

/** A pet was added to the store. */
export interface PetCreated {
  readonly type: 'PetCreated'
  readonly pet: Pet
}

/** Its name, its category or its description was changed; `pet` is all of it after that. */
export interface PetChanged {
  readonly type: 'PetChanged'
  readonly pet: Pet
}

/** A pet has left the store for good. */
export interface PetRemoved {
  readonly type: 'PetRemoved'
  readonly petId: PetId
}

/** The order of a pet has changed. */
export interface OrderEvent<Type = `Order${Capitalize<OrderStatus>}`> {
  readonly type: Type
  readonly orderId: OrderId
  readonly petId: PetId
}

/** Everything that can happen to a pet: the events of its stream. */
export type PetEvent =
  | PetCreated
  | PetChanged
  | PetRemoved
  | { [Type in OrderEvent['type']]: OrderEvent<Type> }[OrderEvent['type']]

const OrderEventData = Type.Object(
  { orderId: IdSchema({ description: 'Unique identifier of the order' }), petId: PetIdSchema },
  { title: 'OrderEventData', description: 'Which order of which pet' },
)

const PetRemovedData = Type.Object({ petId: PetIdSchema }, { title: 'PetRemovedData', description: 'Which pet' })

const petId = 42 as PetId
const orderId = 12 as OrderId
const rex: Pet = { id: petId, name: 'Rex', categoryId: 7, status: 'available' }
const described: Pet = { ...rex, description: 'Likes children' }
const created = { stream: petId, version: 1, data: rex }
const changed = { stream: petId, version: 2 }

type PetExample = EarlierExample & { readonly data: Pet }
interface Examples {
  readonly first: readonly PetExample[]
  readonly second: readonly PetExample[]
}

const underKey = 'The same, under an Idempotency-Key and in a trace'

/** `isKeyed`: whether such an event may be written under an Idempotency-Key. */
function ofOrder<Type extends OrderEvent['type']>(
  type: Type,
  description: string,
  { version, summary, isKeyed = false }: { version: number; summary: string; isKeyed?: boolean },
): EventType<OrderEvent<Type>> {
  const name = `order${type.slice('Order'.length)}`
  const example = { name, summary, stream: petId, version, event: { type, orderId, petId } }
  const keyed = { ...example, name: `${name}Once`, summary: underKey, isKeyed: true } as const
  return { version: 1, description, data: OrderEventData, examples: isKeyed ? [example, keyed] : [example] }
}

/** An event that has all of the pet: in version 1 as long as there is no description. */
function ofPet<Type extends 'PetCreated' | 'PetChanged'>(
  type: Type,
  { first, second, ...more }: Omit<EventType<never>, 'version' | 'data' | 'examples'> & Examples,
): EventType<{ readonly type: Type; readonly pet: Pet }> {
  const read = (pet: unknown) => ({ type, pet: pet as Pet })
  return {
    ...more,
    version: 2,
    data: PetSchema,
    write: ({ pet }) => petDocument(pet),
    read,
    earlier: {
      1: {
        data: PetV1Schema,
        downcast: (pet) => ((pet as Pet).description === undefined ? (pet as Pet) : undefined),
        examples: first,
      },
    },
    examples: second.map(({ data, ...example }) => ({ ...example, event: { type, pet: data } })),
  }
}

export const petEvents: Stream<unknown, unknown, PetEvent>['events'] = {
  PetCreated: ofPet('PetCreated', {
    description: 'A pet was added to the store',
    isUnversioned: true, // in release 1.0.0, where it was the only event
    first: [
      { name: 'petCreated', summary: 'Pet 42 was added', ...created },
      { name: 'petCreatedOnce', summary: underKey, ...created, isKeyed: true },
    ],
    second: [{ name: 'petDescribed', summary: 'Pet 42 was added, with a description', ...created, data: described }],
  }),
  OrderPlaced: ofOrder('OrderPlaced', 'An available pet was ordered, and is pending from now on', {
    version: 2,
    summary: 'Pet 42 is pending',
    isKeyed: true,
  }),
  OrderApproved: ofOrder('OrderApproved', 'An order that was placed was approved', {
    version: 3,
    summary: 'Pet 42 stays pending',
  }),
  OrderDelivered: ofOrder('OrderDelivered', 'An approved order was delivered, and its pet is sold', {
    version: 4,
    summary: 'Pet 42 is sold',
  }),
  OrderCancelled: ofOrder(
    'OrderCancelled',
    'An order was cancelled before it was delivered, and its pet is available again',
    { version: 3, summary: 'Pet 42 is available again' },
  ),
  PetChanged: ofPet('PetChanged', {
    description: 'The name, the category or the description of a pet was changed; this is all of the pet after it',
    first: [
      { name: 'petChanged', summary: 'Pet 42 is called Max from now on', ...changed, data: { ...rex, name: 'Max' } },
    ],
    second: [
      { name: 'petChangedDescribed', summary: 'Pet 42 has a description from now on', ...changed, data: described },
    ],
  }),
  PetRemoved: {
    version: 1,
    description: 'A pet without an open order has left the store; its id never comes again',
    data: PetRemovedData,
    examples: [
      {
        name: 'petRemoved',
        summary: 'Pet 42, which was sold, is gone',
        stream: petId,
        version: 5,
        event: { type: 'PetRemoved', petId },
      },
    ],
  },
}
