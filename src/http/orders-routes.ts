import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { UnknownOutcome } from '../command-handling/command-handler.ts'
import { placeOrderIdempotency } from '../domain/idempotency.ts'
import { type Order, type OrderId, type OrderStatus, orderDocument } from '../domain/order.ts'
import type { PetId } from '../domain/pet.ts'
import { type PetCommand, type PetState, petDecider, utc, type VersionedOrder } from '../domain/pet-stream.ts'
import { documentId } from '../domain/queries.ts'
import { ServiceError } from '../lib/errors.ts'
import type { Int64 } from '../lib/int64.ts'
import type { IdempotencyRecord } from '../read-models/idempotency-record.ts'
import { addToken, lastPositions, readAtLeast, untilGone } from './consistency.ts'
import { readCondition } from './etag.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { jsonType } from './media-types.ts'
import { getOrderSchema, listOrdersSchema, placeOrderSchema, updateOrderSchema } from './orders-schemas.ts'
import { addTag, findDocument, type Resource, replyWithDocument, replyWithPage } from './reading.ts'
import type { RouteServices } from './services.ts'
import { traceparentOf } from './trace-context.ts'
import { createdBy, replyWithCreated } from './writing.ts'

const orders: Resource = {
  collection: 'orders',
  path: '/v1/store/orders',
  list: 'orders:',
  noun: 'order',
  notFound: 'order_not_found',
}

/** Orders of pets, in beta (design section 3). */
export function addOrderRoutes(instance: FastifyInstance, services: RouteServices): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>()

  app.get('/store/orders', { schema: listOrdersSchema }, (request, reply) =>
    replyWithPage(services, orders, request.query, request, reply),
  )
  app.post('/store/orders', { schema: placeOrderSchema }, (request, reply) =>
    placeOrder(services, request.body.petId, request, reply),
  )
  app.get('/store/orders/:orderId', { schema: getOrderSchema }, (request, reply) =>
    replyWithDocument(services, orders, request.params.orderId, request, reply),
  )
  app.patch('/store/orders/:orderId', { schema: updateOrderSchema }, (request, reply) =>
    updateOrder(services, request.params.orderId, request.body.status, request, reply),
  )
}

async function placeOrder(
  services: RouteServices,
  orderedPet: Int64,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const key = readIdempotencyKey(request.headers['idempotency-key'])
  const atLeast = readAtLeast(services.log, request, reply)
  if (documentId('pets', orderedPet) === undefined) {
    throw new ServiceError('unknown_pet', `There is no pet ${orderedPet}.`)
  }
  const petId = Number(orderedPet) as PetId
  const command = (id: number): PetCommand => ({ type: 'placeOrder', orderId: id as OrderId, petId })
  const options = {
    stream: String(petId),
    drawsId: true,
    idempotency: key === undefined ? undefined : placeOrderIdempotency(request.apiKeyId, key, petId),
    traceparent: traceparentOf(request.headers),
    atLeast,
    wait: untilGone(reply),
  }
  const handled = await services.commands.handle(petDecider, command, options).catch((error: unknown) => {
    // There may be an order: whoever does not retry with an Idempotency-Key can look for it.
    if (error instanceof UnknownOutcome) reply.header('location', `${orders.path}/${error.id}`)
    throw error
  })
  const created = createdBy(handled)
  const order = created.outcome === 'replayed' ? firstPlaced(created.record, petId) : orderIn(created)
  return replyWithCreated(services, orders, created, { id: order.id, json: orderDocument(order) }, atLeast, reply)
}

/** The order as its first answer had it, whatever became of it since. */
function firstPlaced({ id, time }: IdempotencyRecord, petId: PetId): Order {
  const placedAt = utc(time)
  return { id: id as OrderId, petId, status: 'placed', placedAt, updatedAt: placedAt }
}

async function updateOrder(
  services: RouteServices,
  orderId: Int64,
  status: OrderStatus,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const ifMatch = readCondition('If-Match', request.headers['if-match'], services)
  const atLeast = readAtLeast(services.log, request, reply)
  const found = await findDocument(services, orders, orderId, atLeast, reply)
  const order = JSON.parse(found.json) as Order // written by orderDocument: no id in it needs more than a double
  const finalVersion = order.status === 'cancelled' ? found.version : undefined
  const command = (): PetCommand => ({ type: 'updateOrder', orderId: order.id, status, ifMatch, finalVersion })
  const handled = await services.commands.handle(petDecider, command, {
    stream: String(order.petId),
    traceparent: traceparentOf(request.headers),
    atLeast,
    wait: untilGone(reply),
  })
  reply.type(jsonType)
  if (handled.outcome === 'applied') {
    const changed = orderIn(handled)
    addTag(services, changed.version, reply)
    addToken(services.log, atLeast, [handled.position], reply)
    return orderDocument(changed)
  }
  // It has that status already: since it was found, or since then.
  const now = order.status === status ? found : await findDocument(services, orders, orderId, atLeast, reply)
  addTag(services, now.version, reply)
  addToken(services.log, atLeast, lastPositions(now.reached), reply)
  return now.json
}

function orderIn({ state }: { readonly state: PetState | undefined }): VersionedOrder {
  if (state?.order === undefined) throw new Error('a command about an order left none')
  return state.order
}
