import { Type } from 'typebox'
import { command, Int64Schema, type Resource } from '../engine/index.ts'
import { type OrderId, OrderSchema, OrderStatus, orderDocument } from './order.ts'
import type { PetId } from './pet.ts'
import { type PetCommand, utc } from './pet-stream.ts'

/** Orders of pets, in beta (docs/releases.md). */
export const orders: Resource<'order'> = {
  path: '/v1/store/orders',
  noun: 'order',
  tag: { name: 'store', description: 'Orders of pets (beta)' },
  isBeta: true,
  schema: OrderSchema,
  example: {
    id: 2,
    petId: 1,
    status: 'approved',
    placedAt: '2026-11-20T09:30:00.000Z',
    updatedAt: '2026-11-20T10:15:00.000Z',
  },
  filters: {
    status: OrderStatus,
    petId: Int64Schema({
      description: 'Identifier of the pet that the orders are for (beta)',
      examples: [1],
      'x-stability': 'beta',
    }),
  },
  together: [['petId', 'status']],
  list: {
    operationId: 'listOrders',
    summary: 'List all orders (beta)',
    description:
      'Orders in ascending order of id, page by page. `Link` has the address of the next page, if there is one. ' +
      'Ids are not chronological.',
  },
  find: {
    operationId: 'getOrder',
    summary: 'Get an order (beta)',
    description:
      'The order as it is now. `ETag` names this state: a change with it in `If-Match` applies to no other one.',
  },
}

export const placeOrder = command({
  method: 'POST',
  path: '/v1/store/orders',
  scope: 'orders',
  texts: {
    operationId: 'placeOrder',
    summary: 'Order a pet (beta)',
    description:
      'Orders an available pet, which is then pending. With an `Idempotency-Key` the request can be ' +
      'repeated any number of times, and places one order.',
    answer: 'Order placed',
  },
  body: Type.Object(
    { petId: Int64Schema({ description: 'Identifier of the pet to order, which must be available', examples: [1] }) },
    { title: 'OrderInput', additionalProperties: false, description: 'An order to place' },
  ),
  on: { stream: ({ petId }) => petId },
  creates: 'orders',
  rejects: { pet_not_available: 'Pet 1 is pending: order 11 holds it.', unknown_pet: 'There is no pet 1.' },
  command: ({ id, body: { petId } }): PetCommand => ({ type: 'placeOrder', orderId: id as OrderId, petId }),
  key: {
    text: 'for the same pet get the order of the first',
    scope: ({ petId }) => ['placeOrder', String(petId)],
    content: ({ petId }) => [String(petId)],
    again({ id, time }, { petId }) {
      const placedAt = utc(time)
      const order = { id: id as OrderId, petId: Number(petId) as PetId, status: 'placed' } as const
      return orderDocument({ ...order, placedAt, updatedAt: placedAt })
    },
  },
})

export const updateOrder = command({
  method: 'PATCH',
  path: '/v1/store/orders/:orderId',
  scope: 'orders',
  texts: {
    operationId: 'updateOrder',
    summary: 'Change the status of an order (beta)',
    description:
      'From placed to approved to delivered, which makes the pet sold; from placed or approved to cancelled, which ' +
      'makes it available again. An order that already has the status stays as it is, whatever `If-Match` says; only a ' +
      'key with the scope `read` is shown it, any other gets 403.',
    answer: 'The order with that status',
  },
  body: Type.Object(
    { status: OrderStatus },
    {
      title: 'OrderChange',
      additionalProperties: false,
      description: 'A change of an order',
      examples: [{ status: 'approved' }],
    },
  ),
  on: { document: 'orders' },
  rejects: { order_transition_invalid: 'Order 2 is delivered and cannot become cancelled.' },
  command: ({ id, body: { status } }): PetCommand => ({ type: 'updateOrder', orderId: id as OrderId, status }),
})
