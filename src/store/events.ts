import { Type } from 'typebox'
import type { EventType, Stream } from '../engine/index.ts'
import type { OrderId } from './order.ts'
import { IdSchema, type Pet, type PetId, PetIdSchema, PetSchema, petDocument, WrittenPet } from './pet.ts'

/** A pet was added to the store. */
export interface PetCreated {
  readonly type: 'PetCreated'
  readonly pet: Pet
}

/** Its name or its category was changed; `pet` is all of it after that. */
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
export interface OrderEvent<Type = 'OrderPlaced' | 'OrderApproved' | 'OrderDelivered' | 'OrderCancelled'> {
  readonly type: Type
  readonly orderId: OrderId
  readonly petId: PetId
}

/** Everything that can happen to a pet: the events of its stream. */
export type PetEvent =
  | PetCreated
  | PetChanged
  | PetRemoved
  | OrderEvent<'OrderPlaced'>
  | OrderEvent<'OrderApproved'>
  | OrderEvent<'OrderDelivered'>
  | OrderEvent<'OrderCancelled'>

const OrderEventData = Type.Object(
  { orderId: IdSchema({ description: 'Unique identifier of the order' }), petId: PetIdSchema },
  { title: 'OrderEventData', description: 'Which order of which pet' },
)

const PetRemovedData = Type.Object({ petId: PetIdSchema }, { title: 'PetRemovedData', description: 'Which pet' })

const petId = 42 as PetId
const orderId = 12 as OrderId
const rex: Pet = { id: petId, name: 'Rex', categoryId: 7, status: 'available' }
const created = { stream: petId, version: 1, event: { type: 'PetCreated', pet: rex } } as const

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

export const petEvents: Stream<unknown, unknown, PetEvent>['events'] = {
  PetCreated: {
    version: 1,
    description: 'A pet was added to the store. Without streamversion it is 1',
    data: PetSchema,
    isUnversioned: true, // in release 1.0.0, where it was the only event
    write: ({ pet }) => petDocument(pet),
    read: (pet) => ({ type: 'PetCreated', pet: pet as Pet }),
    quick(json) {
      const pet = WrittenPet.in(json)
      return pet && { type: 'PetCreated', pet }
    },
    examples: [
      { name: 'petCreated', summary: 'Pet 42 was added', ...created },
      { name: 'petCreatedOnce', summary: underKey, ...created, isKeyed: true },
    ],
  },
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
  PetChanged: {
    version: 1,
    description: 'The name or the category of a pet was changed; this is all of the pet after it',
    data: PetSchema,
    write: ({ pet }) => petDocument(pet),
    read: (pet) => ({ type: 'PetChanged', pet: pet as Pet }),
    quick(json) {
      const pet = WrittenPet.in(json)
      return pet && { type: 'PetChanged', pet }
    },
    examples: [
      {
        name: 'petChanged',
        summary: 'Pet 42 is called Max from now on',
        stream: petId,
        version: 2,
        event: { type: 'PetChanged', pet: { ...rex, name: 'Max' } },
      },
    ],
  },
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
