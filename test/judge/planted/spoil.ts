import { writeToken } from '../../../src/engine/http/values/tokens.ts'
import { type Exchange, eventIn, type History, type LogRecord, numberOf, type Order, type Pet } from '../history.ts'
import { partitions } from '../simulated.ts'
import { freshId, isOk } from './records.ts'

/** What a bug makes of an exchange; undefined: nothing. */
export type Spoil = (exchange: Exchange, history: History) => Exchange | undefined

/** A bug in the answers to one operation that say that it was done. */
export function done(operation: Exchange['operation'], spoil: Spoil): Spoil {
  return (exchange, history) =>
    exchange.operation === operation && isOk(exchange) ? spoil(exchange, history) : undefined
}

export function petIn(exchange: Exchange): Pet | undefined {
  return exchange.body as Pet | undefined
}

export function orderIn(exchange: Exchange): Order | undefined {
  return exchange.body as Order | undefined
}

export function withBody(exchange: Exchange, change: object): Exchange {
  return { ...exchange, body: { ...(exchange.body as object), ...change } }
}

export function refused({ body: _, tokenAfter: __, ...exchange }: Exchange, status: number, code: string): Exchange {
  return { ...exchange, status, code }
}

/** An order that is shown to somebody whose token has its change, as it was before. */
export function olderThanItsToken(exchange: Exchange, { exchanges }: History): Exchange | undefined {
  const { session, token, number } = exchange
  const isNewer = (other: Exchange) =>
    other.session === session && other.number < number && other.operation === 'updateOrder' && other.tokenAfter
  const update = exchanges.find((other) => isNewer(other) && orderIn(other)?.id === exchange.id && isChanged(other))
  return session && token && update ? asPlaced(exchange) : undefined
}

/** The same order as it was before it changed. */
export function asPlaced(exchange: Exchange): Exchange | undefined {
  const order = orderIn(exchange)
  return isChanged(exchange) ? withBody(exchange, { status: 'placed', updatedAt: order?.placedAt }) : undefined
}

function isChanged(exchange: Exchange): boolean {
  return exchange.operation.endsWith('Order') && isOk(exchange) && orderIn(exchange)?.status !== 'placed'
}

/** A refused order, as if it had been placed. */
export function acknowledged({ code: _, id = 0, ...exchange }: Exchange, history: History): Exchange {
  const at = '2026-11-20T00:00:00.000Z'
  const body = { id: freshId(history, id), petId: id, status: 'placed', placedAt: at, updatedAt: at }
  return { ...exchange, id, status: 201, body }
}

/** Whether a pet is shown as available that nobody had asked to order. */
export function isFree({ id, answeredMs, body }: Exchange, { exchanges }: History): boolean {
  const isOrder = (one: Exchange) => one.operation === 'placeOrder' && one.id === id && one.sentMs <= answeredMs
  return (body as Pet).status === 'available' && !exchanges.some(isOrder)
}

/** Whether anybody asked for the pet to be removed: then it may be gone at any time. */
export function mayBeRemoved({ id }: Exchange, { exchanges }: History): boolean {
  return exchanges.some((one) => one.operation === 'removePet' && one.id === id)
}

/** Whether the same instance had answered it before the other one was sent. */
export function isEarlier(one: Exchange, other: Exchange): boolean {
  return one.instance === other.instance && one.answeredMs < other.sentMs
}

export function isSame(one: Exchange, other: Exchange): boolean {
  const isOfSame = one.operation === other.operation && one.id === other.id
  return isOfSame && isOk(one) && isOk(other) && orderIn(one)?.status === orderIn(other)?.status
}

/** The number of the exchange that wrote the event. */
export function writerOf(record: LogRecord): number {
  return numberOf(eventIn(record)?.traceparent) ?? -1
}

export function tokenOf(positions: Parameters<typeof writeToken>[1]): string {
  return writeToken({ logId: 'simulated', partitions }, positions)
}
