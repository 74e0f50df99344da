import { type Exchange, fromStart, type History, positionsOf } from '../history.ts'
import { endsOf } from './records.ts'
import { done, isEarlier, mayBeRemoved, type Spoil, tokenOf, writerOf } from './spoil.ts'

/** Bugs in what is told of events. */
export const plantedInEvents: Readonly<Record<string, Spoil>> = {
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
  'a read is behind what a feed of its instance told': done('getPet', (exchange, history) => {
    const isOfPet = (event: unknown) => (event as { subject: string }).subject === String(exchange.id)
    const isTold = (one: Exchange) => isEarlier(one, exchange) && eventsIn('followEvents', one).some(isOfPet)
    const { body: _, tag: __, ...rest } = exchange
    const isFree = exchange.instance && !exchange.token && !mayBeRemoved(exchange, history)
    const isBehind = isFree && history.exchanges.some(isTold)
    return isBehind ? { ...rest, status: 404, code: 'pet_not_found' } : undefined
  }),
  'the events of a pet lack one': withEvents('listEvents', (exchange, [, ...rest]) =>
    rest.length > 0 ? { ...exchange, body: rest } : undefined,
  ),
  'the events of a category lack one': withEvents('listCategoryEvents', (exchange, [, ...rest]) =>
    rest.length > 0 ? { ...exchange, body: rest } : undefined,
  ),
  'the events of a category are told of a pet': (exchange, { exchanges }) => {
    const other = exchanges.find((one) => eventsIn('listCategoryEvents', one).length > 0)
    return eventsIn('listEvents', exchange).length > 0 && other ? { ...exchange, body: other.body } : undefined
  },
  'a token lacks the last event told': withEvents('listEvents', (exchange, events, { log }) => {
    const { token } = exchange
    const last = JSON.stringify(events.at(-1))
    const { partition = 0, offset = -1 } = log.find(({ value }) => value === last) ?? {}
    return token && offset > (positionsOf(token).get(partition) ?? -1) ? { ...exchange, tokenAfter: token } : undefined
  }),
}

type Telling = 'followEvents' | 'listEvents' | 'listCategoryEvents'

function eventsIn(of: Telling, { operation, body }: Exchange): readonly unknown[] {
  return operation === of ? ((body ?? []) as unknown[]) : []
}

/** A bug in an answer that has events. */
function withEvents(
  of: Telling,
  spoil: (exchange: Exchange, events: readonly unknown[], history: History) => Exchange | undefined,
): Spoil {
  return (exchange, history) => {
    const events = eventsIn(of, exchange)
    return events.length > 0 ? spoil(exchange, events, history) : undefined
  }
}

/** The token of all records before these offsets, by partition. */
function tokenUpTo(ends: readonly number[]): string {
  const positions = ends.map((end, partition) => ({ partition, offset: end - 1 }))
  return tokenOf(positions.filter(({ offset }) => offset >= 0))
}
