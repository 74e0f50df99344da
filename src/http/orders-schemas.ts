import { Type } from 'typebox'
import { OrderSchema, OrderStatus } from '../domain/order.ts'
import { Int64Schema } from '../domain/pet.ts'
import {
  answer,
  anyBody,
  anyOperation,
  asked,
  askedOfReads,
  error,
  header,
  headers,
  invalid,
  listQuery,
  noQuery,
  notModified,
  outcomeUnknown,
  secured,
  told,
  toldByPages,
  toldByReads,
  unavailable,
} from './schema-parts.ts'

const OrdersSchema = Type.Array(OrderSchema, { description: 'A list of orders' })
const NewOrderSchema = Type.Object(
  { petId: Int64Schema({ description: 'Identifier of the pet to order, which must be available', examples: [1] }) },
  { additionalProperties: false, description: 'An order to place' },
)
const OrderChangeSchema = Type.Object(
  { status: OrderStatus },
  { additionalProperties: false, description: 'What is to become of an order' },
)

export const orderSchemas = {
  Order: OrderSchema,
  NewOrder: NewOrderSchema,
  OrderChange: OrderChangeSchema,
  Orders: OrdersSchema,
  OrderStatus,
}
export const ordersTag = { name: 'store', description: 'Orders of pets (beta)' }

const shared = { ...secured, tags: [ordersTag.name], 'x-stability': 'beta' }
const params = Type.Object({ orderId: Int64Schema({ description: 'Identifier of the order', examples: [12] }) })

const placedAt = '2026-11-20T09:30:00.000Z'
const placed = { id: 12, petId: 1, status: 'placed', placedAt, updatedAt: placedAt }
const approved = { ...placed, status: 'approved', updatedAt: '2026-11-20T10:15:00.000Z' }

const noOrder = error('No such order', 'order_not_found', 'There is no order 12.')
const noInt64 = invalid('path: orderId must be an integer from -9223372036854775808 to 9223372036854775807')
const noRead = unavailable('read_model_rebuilding', 'The read model is being rebuilt.')
const noWrite = unavailable('event_log_unavailable', 'The event log does not answer; nothing was stored.')

export const listOrdersSchema = {
  ...shared,
  operationId: 'listOrders',
  summary: 'List all orders (beta)',
  description:
    'The orders in ascending order of id, page by page: as long as there is a next page, its address is in `Link`. ' +
    'Ids say nothing of the order in time.',
  querystring: listQuery(OrderStatus, 'orders'),
  headers: headers(askedOfReads),
  response: {
    ...anyOperation,
    200: answer('The list of orders', OrdersSchema, [approved], toldByPages),
    400: invalid('query: limit must be <= 100'),
    503: noRead,
  },
}

export const placeOrderSchema = {
  ...shared,
  operationId: 'placeOrder',
  summary: 'Order a pet (beta)',
  description:
    'An available pet can be ordered, and is pending from then on. With an `Idempotency-Key` the request can be ' +
    'sent again, as often as need be, and places one order.',
  querystring: noQuery,
  headers: headers({
    ...asked.idempotencyKey('for one pet get the order of the first'),
    ...askedOfReads,
  }),
  body: NewOrderSchema,
  response: {
    ...anyOperation,
    ...anyBody,
    201: answer('Order placed', OrderSchema, placed, {
      ...told.location('new order', '/v1/store/orders/12'),
      ...told.etag,
      ...told.token('this order'),
      ...told.replayed,
      ...told.preferenceApplied,
    }),
    400: invalid('body: petId is required'),
    409: error('The pet is ordered already, or sold', 'pet_not_available', 'Pet 1 is pending: order 11 holds it.'),
    422: error('There is no such pet', 'unknown_pet', 'There is no pet 1.'),
    503: noWrite,
    504: outcomeUnknown('order', told.location('order that may be there', '/v1/store/orders/12')),
  },
}

export const getOrderSchema = {
  ...shared,
  operationId: 'getOrder',
  summary: 'Get an order (beta)',
  params,
  querystring: noQuery,
  headers: headers({ ...asked.ifNoneMatch, ...askedOfReads }),
  response: {
    ...anyOperation,
    200: answer('The requested order', OrderSchema, approved, { ...told.etag, ...toldByReads }),
    304: notModified,
    400: noInt64,
    404: noOrder,
    503: noRead,
  },
}

export const updateOrderSchema = {
  ...shared,
  operationId: 'updateOrder',
  summary: 'Move an order on (beta)',
  description:
    'From placed to approved to delivered, which makes the pet sold; from placed or approved to cancelled, which ' +
    'makes it available again. An order that has the status already stays as it is, whatever `If-Match` says.',
  params,
  querystring: noQuery,
  headers: headers({ ...asked.ifMatch, ...askedOfReads }),
  body: OrderChangeSchema,
  response: {
    ...anyOperation,
    ...anyBody,
    200: answer('The order with that status', OrderSchema, approved, {
      ...told.etag,
      ...told.token('this status'),
      ...told.preferenceApplied,
    }),
    400: invalid('body: status must be one of placed, approved, delivered, cancelled'),
    404: noOrder,
    409: error(
      'Not from where the order stands',
      'order_transition_invalid',
      'Order 12 is delivered and cannot become cancelled.',
    ),
    412: error(
      'The order is in another state than `If-Match` says',
      'precondition_failed',
      'Order 12 is in another state than If-Match says.',
    ),
    415: { ...anyBody[415], headers: { 'Accept-Patch': header('What the body can be', 'application/json') } },
    503: noWrite,
    504: outcomeUnknown('change'),
  },
}
