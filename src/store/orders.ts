import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { UnknownOutcome } from '../engine/commands/command-handler.ts'
import { ownErrors } from './errors.ts'
import { placeOrderIdempotency } from './idempotency.ts'
import { type Order, type OrderId, OrderSchema, OrderStatus, orderDocument } from './order.ts'
import { Int64Schema, type PetId } from './pet.ts'
import { type PetCommand, type PetState, utc } from './pet-stream.ts'
import { ServiceError } from '../engine/lib/errors.ts'
import type { Int64 } from '../engine/lib/int64.ts'
import type { IdempotencyRecord } from '../engine/read-models/idempotency-record.ts'
import { checkScope, holderOf, requireScope } from '../engine/http/auth.ts'
import { checkConditions, readConditions, tagOf } from '../engine/http/conditions.ts'
import * as fields from '../engine/http/header-schemas.ts'
import { readIdempotencyKey } from '../engine/http/headers.ts'
import { admitBody } from '../engine/http/messages.ts'
import {
  addReached,
  addressOf,
  created,
  documentId,
  handle,
  notFound,
  type Resource,
  type RouteServices,
  readExchange,
  replyToCommand,
  replyWithCreated,
  replyWithDocument,
  replyWithPage,
} from '../engine/http/resource.ts'
import * as doc from '../engine/http/schema-parts.ts'

const reading = requireScope('read')
const ordering = [requireScope('orders'), admitBody]
const orders: Resource = { collection: 'orders', path: '/v1/store/orders', list: 'orders:', noun: 'order' }

/** Orders of pets, in beta (design section 3). */
export function addOrderRoutes(instance: FastifyInstance, services: RouteServices): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>()

  app.get('/store/orders', { schema: listOrdersSchema, onRequest: reading }, (request, reply) =>
    replyWithPage(services, orders, request.query, reply),
  )
  app.post('/store/orders', { schema: placeOrderSchema, onRequest: ordering }, (request, reply) =>
    placeOrder(services, request.body.petId, reply),
  )
  app.get('/store/orders/:orderId', { schema: getOrderSchema, onRequest: reading }, (request, reply) =>
    replyWithDocument(services, orders, request.params.orderId, reply),
  )
  app.patch('/store/orders/:orderId', { schema: updateOrderSchema, onRequest: ordering }, (request, reply) =>
    updateOrder(services, request.params.orderId, request.body.status, reply),
  )
}

async function placeOrder(services: RouteServices, orderedPet: Int64, reply: FastifyReply): Promise<string> {
  const { headers } = reply.request
  const { owner } = holderOf(reply.request)
  const key = readIdempotencyKey(headers['idempotency-key'])
  checkConditions(readConditions(headers))
  const exchange = readExchange(services, orders, reply)
  if (documentId('pets', orderedPet) === undefined) {
    throw ServiceError.own('unknown_pet', `There is no pet ${orderedPet}.`)
  }
  const petId = Number(orderedPet) as PetId
  const idempotency = key === undefined ? undefined : placeOrderIdempotency(owner, key, petId)
  const command = (id: number): PetCommand => ({ type: 'placeOrder', orderId: id as OrderId, petId })
  const placing = handle(exchange, command, { stream: String(petId), drawsId: true, idempotency })
  const placed = await placing.catch((error: unknown) => {
    // The order may exist: a client that does not retry with an Idempotency-Key can look for it.
    if (error instanceof UnknownOutcome) reply.header('location', addressOf(reply, `${orders.path}/${error.id}`))
    throw error
  })
  const handled = created(placed)
  const order = handled.outcome === 'replayed' ? firstPlaced(handled.record, petId) : orderIn(handled)
  return replyWithCreated(exchange, handled, { id: order.id, json: orderDocument(order) })
}

/** The order as in its first answer, whatever has happened to it since. */
function firstPlaced({ id, time }: IdempotencyRecord, petId: PetId): Order {
  const placedAt = utc(time)
  return { id: id as OrderId, petId, status: 'placed', placedAt, updatedAt: placedAt }
}

async function updateOrder(
  services: RouteServices,
  orderId: Int64,
  status: Order['status'],
  reply: FastifyReply,
): Promise<string> {
  const conditions = readConditions(reply.request.headers)
  const precondition = (json: string) => checkConditions(conditions, tagOf(json))
  const exchange = readExchange(services, orders, reply)
  const stream = documentId(orders.collection, orderId)
  const command = (): PetCommand => ({ type: 'updateOrder', orderId: Number(orderId) as OrderId, status })
  const handled = stream === undefined ? noOrder : await handle(exchange, command, { stream, precondition })
  if (handled.outcome === 'applied') return replyToCommand(exchange, orderDocument(orderIn(handled)), handled.position)
  if (handled.outcome === 'replayed') throw new Error('an order is not changed under a key')
  if (handled.outcome === 'unchanged' && handled.document !== undefined) {
    checkScope('read', reply) // nothing was done, so all that the answer can do is show the order
    return replyToCommand(exchange, handled.document, handled.reached)
  }
  addReached(exchange, handled.reached)
  throw notFound(exchange, orderId)
}

const noOrder = { outcome: 'not_found', reached: [] } as const

function orderIn({ state }: { readonly state: PetState }): Order {
  if (state.order === undefined) throw new Error('a command about an order returned no order')
  return state.order
}

export const orderSchemas = {
  Order: OrderSchema,
  OrderInput: Type.Object(
    { petId: Int64Schema({ description: 'Identifier of the pet to order, which must be available', examples: [1] }) },
    { additionalProperties: false, description: 'An order to place' },
  ),
  OrderChange: Type.Object(
    { status: OrderStatus },
    {
      additionalProperties: false,
      description: 'A change of an order',
      examples: [{ status: 'approved' }],
    },
  ),
  Orders: Type.Array(OrderSchema, { description: 'A list of orders' }),
  OrderStatus,
}
export const ordersTag = { name: 'store', description: 'Orders of pets (beta)' }

const beta = { tags: [ordersTag.name], 'x-stability': 'beta' }
const params = Type.Object({ orderId: Int64Schema({ description: 'Identifier of the order', examples: [2] }) })

const path = '/v1/store/orders/12'
const placedAt = '2026-11-20T09:30:00.000Z'
const placed = { id: 12, petId: 1, status: 'placed', placedAt, updatedAt: placedAt }
const approved = { ...placed, status: 'approved', updatedAt: '2026-11-20T10:15:00.000Z' }

const ownError = doc.errorsOf(ownErrors)
const isMissing = doc.notFound('order', 12)
const held = 'Pet 1 is pending: order 11 holds it.'
const isDelivered = 'Order 12 is delivered and cannot become cancelled.'
const isOther = 'header: If-Match does not have the entity tag of the present state'

const listOrdersSchema = {
  ...doc.listSchema('orders', OrderStatus, {
    schema: orderSchemas.Orders,
    example: [approved],
    unavailable: doc.rebuilding,
  }),
  ...beta,
  operationId: 'listOrders',
  summary: 'List all orders (beta)',
  description:
    'Orders in ascending order of id, page by page. `Link` has the address of the next page, if there is one. ' +
    'Ids are not chronological.',
}

const placeOrderSchema = {
  ...doc.anySchema,
  ...beta,
  operationId: 'placeOrder',
  summary: 'Order a pet (beta)',
  description:
    'Orders an available pet, which is then pending. With an `Idempotency-Key` the request can be ' +
    'repeated any number of times, and places one order.',
  headers: fields.headers({
    ...fields.requestHeaders.idempotencyKey('for the same pet get the order of the first'),
    ...fields.requestHeaders.consistency(),
  }),
  body: orderSchemas.OrderInput,
  response: {
    ...doc.anyCommand,
    201: doc.answer('Order placed', OrderSchema, placed, fields.createdHeaders('order', path)),
    400: doc.invalid('body: petId is required'),
    409: ownError('The pet is already ordered, or sold', 'pet_not_available', held),
    422: ownError('There is no such pet', 'unknown_pet', 'There is no pet 1.'),
    504: doc.outcomeUnknown('order', fields.location('order that may exist', path)),
  },
}

const getOrderSchema = {
  ...doc.findSchema('order', { idName: 'orderId', schema: OrderSchema, example: approved, notFound: isMissing }),
  ...beta,
  operationId: 'getOrder',
  summary: 'Get an order (beta)',
  description:
    'The order as it is now. `ETag` names this state: a change with it in `If-Match` applies to no other one.',
  params,
}

const updateOrderSchema = {
  ...doc.anySchema,
  ...beta,
  operationId: 'updateOrder',
  summary: 'Change the status of an order (beta)',
  description:
    'From placed to approved to delivered, which makes the pet sold; from placed or approved to cancelled, which ' +
    'makes it available again. An order that already has the status stays as it is, whatever `If-Match` says; only a key ' +
    'with the scope `read` is shown it, any other gets 403.',
  params,
  headers: fields.headers({ ...fields.requestHeaders.ifMatch, ...fields.requestHeaders.consistency() }),
  body: orderSchemas.OrderChange,
  response: {
    ...doc.anyCommand,
    200: doc.answer('The order with that status', OrderSchema, approved, fields.commandHeaders('status')),
    400: doc.invalid('body: status must be one of placed, approved, delivered, cancelled'),
    404: isMissing,
    409: ownError('The order cannot change to this status', 'order_transition_invalid', isDelivered),
    412: doc.error('The order is not in a state that `If-Match` names', 'precondition_failed', isOther),
    415: {
      ...doc.anyCommand[415],
      headers: {
        ...doc.anyCommand[415].headers,
        'Accept-Patch': fields.header({}, 'Media types that the body may have', 'application/json'),
      },
    },
    504: doc.outcomeUnknown('change'),
  },
}
