import { writeToken } from '../../../src/http/tokens.ts'
import { type Exchange, fromStart, type LogRecord, numberOf, positionsOf } from '../history.ts'
import { endsOf, isOk } from './planted-records.ts'
import { partitions } from './simulated-log.ts'
import { acknowledged, asPlaced, done, orderIn, petIn, refused, type Spoil } from './spoilt-answers.ts'

/** Bugs that only the log gives away. */
export const answersSeenWithLog: Readonly<Record<string, Spoil>> = {
  'an instance goes back': (exchange, { exchanges }) => {
    const { instance, token } = exchange
    const newer = exchanges.find(
      (one) => isEarlier(one, exchange) && one.operation === 'getOrder' && isSame(one, exchange),
    )
    return instance && !token && newer ? asPlaced(exchange) : undefined
  },
  'an order that never was is acknowledged': (exchange, history) => {
    const isGone = exchange.operation === 'placeOrder' && exchange.status === 503
    return isGone ? acknowledged(exchange, history) : undefined
  },
  'a token goes back': (exchange) =>
    exchange.operation.startsWith('get') && isOk(exchange) ? withEarlierToken(exchange) : undefined,
  'the token of a 404 goes back': (exchange) => (exchange.status === 404 ? withEarlierToken(exchange) : undefined),
  'a feed leaves an event out': withEvents('followEvents', (exchange, [, ...rest]) => ({ ...exchange, body: rest })),
  'a feed tells of an event twice': withEvents('followEvents', (exchange, [first, ...rest]) => ({
    ...exchange,
    body: [first, first, ...rest],
  })),
  'a feed goes back': withEvents('followEvents', (exchange) => {
    const { token, tokenAfter } = exchange
    const isFurther = token !== undefined && tokenAfter !== undefined
    return isFurther ? { ...exchange, body: [], token: tokenAfter, tokenAfter: token } : undefined
  }),
  'a feed from the start begins at the end': done('followEvents', (exchange, { log }) =>
    exchange.token === fromStart ? { ...exchange, body: [], tokenAfter: tokenUpTo(endsOf(log)) } : undefined,
  ),
  'a feed begins beyond the log': done('followEvents', (exchange, { log }) => {
    const beyond = endsOf(log).map((end) => end + 1)
    return exchange.token === undefined ? { ...exchange, tokenAfter: tokenUpTo(beyond) } : undefined
  }),
  'a feed begins behind what nobody asked for yet': done('followEvents', (exchange, { log, exchanges }) => {
    const later = new Set(exchanges.filter((one) => one.sentMs > exchange.answeredMs).map(({ number }) => number))
    const isEarly = exchange.token === undefined && log.some((record) => later.has(writerOf(record)))
    return isEarly ? { ...exchange, tokenAfter: tokenUpTo(endsOf(log)) } : undefined
  }),
  'a read is behind what a feed of its instance told': done('getPet', (exchange, { exchanges }) => {
    const isOfPet = (event: unknown) => (event as { subject: string }).subject === String(exchange.id)
    const isTold = (one: Exchange) => isEarlier(one, exchange) && eventsIn('followEvents', one).some(isOfPet)
    const { body: _, tag: __, ...rest } = exchange
    const isBehind = exchange.instance && !exchange.token && exchanges.some(isTold)
    return isBehind ? { ...rest, status: 404, code: 'pet_not_found' } : undefined
  }),
  'a pet is said to be readable, and is not found': done('getPet', (exchange, { exchanges }) => {
    const isAdded = (one: Exchange) =>
      one.operation === 'createPet' && one.isApplied === true && petIn(one)?.id === exchange.id
    if (!exchange.instance || exchange.token) return undefined
    const isKnown = exchanges.some((one) => isAdded(one) && isEarlier(one, exchange))
    return isKnown ? refused(exchange, 404, 'pet_not_found') : undefined
  }),
  'the events of a pet lack one': withEvents('listEvents', (exchange, [, ...rest]) =>
    rest.length > 0 ? { ...exchange, body: rest } : undefined,
  ),
  'a token lacks the last event told': withEvents('listEvents', (exchange, events, { log }) => {
    const { token } = exchange
    const last = JSON.stringify(events.at(-1))
    const { partition = 0, offset = -1 } = log.find(({ value }) => value === last) ?? {}
    return token && offset > (positionsOf(token).get(partition) ?? -1) ? { ...exchange, tokenAfter: token } : undefined
  }),
  'an instance refuses to order a pet that it has shown': (exchange, { exchanges }) => {
    if (exchange.operation !== 'getPet' || !exchange.instance || exchange.token) return undefined
    const isKnown = exchanges.some((one) => isSame(one, exchange) && isEarlier(one, exchange))
    const { tag: _, cached: __, ...order } = refused(exchange, 422, 'unknown_pet')
    return isKnown ? { ...order, operation: 'placeOrder' } : undefined
  },
  'a pet or an order has no tag': ({ tag, ...exchange }) => (tag === undefined ? undefined : exchange),
  'an update fails for an If-Match that it does not have': (exchange) => {
    const isRefused = exchange.operation === 'updateOrder' && exchange.code === 'order_transition_invalid'
    return isRefused && !exchange.cached ? { ...exchange, status: 412, code: 'precondition_failed' } : undefined
  },
  'a write that nobody was told of does something else': (exchange, { log }) => {
    const { operation, status = 504, wanted, idempotencyKey, number } = exchange
    const isUntold = status === 504 && !idempotencyKey && log.some((record) => writerOf(record) === number)
    const isOfPet = operation === 'createPet' && isUntold
    return isOfPet ? { ...exchange, wanted: { ...wanted, categoryId: (wanted?.categoryId ?? 0) + 1 } } : undefined
  },
  'one tag is of two states': done('getOrder', (exchange, { exchanges }) => {
    const other = exchanges.find((one) => one.operation === 'getOrder' && isOk(one) && one.id === exchange.id)
    return other?.tag && other.tag !== exchange.tag ? { ...exchange, tag: other.tag } : undefined
  }),
  'an update passes over its If-Match': done('updateOrder', (exchange, { log }) => {
    const { number, tag, body } = exchange
    const isWritten = log.some((record) => writerOf(record) === number)
    return isWritten && tag ? { ...exchange, cached: { tag, body } } : undefined
  }),
}

type Telling = 'followEvents' | 'listEvents'

function eventsIn(of: Telling, { operation, body }: Exchange): readonly unknown[] {
  return operation === of ? ((body ?? []) as unknown[]) : []
}

/** A bug in an answer that has events. */
function withEvents(
  of: Telling,
  spoil: (exchange: Exchange, events: readonly unknown[], history: Parameters<Spoil>[1]) => Exchange | undefined,
): Spoil {
  return (exchange, history) => {
    const events = eventsIn(of, exchange)
    return events.length > 0 ? spoil(exchange, events, history) : undefined
  }
}

/** Whether the same instance had answered it before the other one was sent. */
function isEarlier(one: Exchange, other: Exchange): boolean {
  return one.instance === other.instance && one.answeredMs < other.sentMs
}

function isSame(one: Exchange, other: Exchange): boolean {
  const isOfSame = one.operation === other.operation && one.id === other.id
  return isOfSame && isOk(one) && isOk(other) && orderIn(one)?.status === orderIn(other)?.status
}

/** The number of the exchange that wrote the event. */
function writerOf({ value }: LogRecord): number {
  return numberOf(JSON.parse(value ?? '').traceparent) ?? -1
}

/** The token of all records before these offsets, by partition. */
function tokenUpTo(ends: readonly number[]): string {
  const positions = ends.map((end, partition) => ({ partition, offset: end - 1 }))
  return tokenOf(positions.filter(({ offset }) => offset >= 0))
}

/** Its token names less than was sent. */
function withEarlierToken(exchange: Exchange): Exchange | undefined {
  const sent = [...positionsOf(exchange.token)].map(([partition, offset]) => ({ partition, offset }))
  if (!sent.some(({ offset }) => offset > 0)) return undefined
  const earlier = sent.map(({ partition, offset }) => ({ partition, offset: Math.max(0, offset - 1) }))
  return { ...exchange, tokenAfter: tokenOf(earlier) }
}

function tokenOf(positions: Parameters<typeof writeToken>[1]): string {
  return writeToken({ logId: 'simulated', partitions }, positions)
}
