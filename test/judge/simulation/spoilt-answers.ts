import type { Exchange, History, Order, Pet } from '../history.ts'
import { freshId, isOk } from './planted-records.ts'

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
