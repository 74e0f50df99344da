import { writeToken } from '../../../src/http/tokens.ts'
import { type Exchange, fromStart, type History, numberOf, type Order, type Pet, positionsOf } from '../history.ts'
import type { Random } from '../random.ts'
import { addRecord, doubleRecord, endsOf, freshId, loseRecord, swapRecords } from './planted-records.ts'
import { partitions } from './simulated-log.ts'

/** A bug of a service, planted into a correct history. */
export interface PlantedBug {
  readonly name: string
  /** Undefined: this history has no place for it. */
  readonly plant: (history: History, random: Random) => History | undefined
  readonly seenBy: readonly ('log' | 'pets')[]
}

/** What a bug makes of an exchange; undefined: nothing. */
type Spoil = (exchange: Exchange, history: History) => Exchange | undefined

const both = ['log', 'pets'] as const

export const plantedBugs: readonly PlantedBug[] = [
  { name: 'a record is lost', seenBy: ['log'], plant: loseRecord },
  { name: 'a pet is written twice', seenBy: ['log'], plant: doubleRecord },
  { name: 'two events of a stream are swapped', seenBy: ['log'], plant: swapRecords },
  { name: 'an event is of no request', seenBy: ['log'], plant: addRecord },
  answer('a token is sent, and an older order is read', both, olderThanItsToken),
  answer('a token is sent, and a 304 says that nothing has changed', both, (exchange, history) => {
    const older = exchange.operation === 'getOrder' ? olderThanItsToken(exchange, history) : undefined
    return older && { ...older, status: 304 }
  }),
  answer('an instance goes back', ['log'], (exchange, { exchanges }) => {
    const { instance, token, sentMs } = exchange
    const isNewer = (other: Exchange) => other.instance === instance && other.answeredMs < sentMs
    const newer = exchanges.find((other) => isNewer(other) && other.operation === 'getOrder' && isSame(other, exchange))
    return instance && !token && newer ? asPlaced(exchange) : undefined
  }),
  answer('an order that never was is acknowledged', ['log'], (exchange, history) => {
    const isGone = exchange.operation === 'placeOrder' && exchange.status === 503
    return isGone ? acknowledged(exchange, history) : undefined
  }),
  answer('a pet has two open orders', both, (exchange, history) => {
    const { operation, code, id, sentMs } = exchange
    const { exchanges } = history
    if (operation !== 'placeOrder' || code !== 'pet_not_available') return undefined
    const isOpen = (order: number) => !exchanges.some((one) => one.operation === 'updateOrder' && one.id === order)
    const holder = exchanges.find((one) => one.operation === 'placeOrder' && one.id === id && isOk(one))
    const isHeld = holder && holder.answeredMs < sentMs && isOpen(orderIn(holder)?.id ?? 0)
    return isHeld ? acknowledged(exchange, history) : undefined
  }),
  answer('a key has two outcomes', both, (exchange, history) => {
    const { operation, isReplayed, body } = exchange
    if (operation !== 'createPet' || !isReplayed || !isToldTwice(exchange, history)) return undefined
    return { ...exchange, body: { ...(body as Pet), id: freshId(history, (body as Pet).id) } }
  }),
  answer('an id is given twice', both, (exchange, { exchanges }) => {
    const isKeyless = exchange.operation === 'createPet' && isOk(exchange) && !exchange.idempotencyKey
    const other = exchanges.find((one) => one.operation === 'createPet' && isOk(one) && one.number < exchange.number)
    return isKeyless && other ? withBody(exchange, { id: petIn(other)?.id }) : undefined
  }),
  answer('a pet is added, and refused', both, (exchange, { exchanges }) => {
    const isShown = (one: Exchange) => one.operation === 'getPet' && isOk(one) && one.id === petIn(exchange)?.id
    const isKeyless = exchange.operation === 'createPet' && isOk(exchange) && !exchange.idempotencyKey
    return isKeyless && exchanges.some(isShown) ? refused(exchange, 503, 'event_log_unavailable') : undefined
  }),
  answer('a list misses a pet', both, (exchange, history) => {
    const missing = exchange.hasNext ? undefined : knownIn(exchange, history)
    return missing && { ...exchange, body: (exchange.body as Pet[]).filter(({ id }) => id !== missing.id) }
  }),
  answer('a list has a pet twice', both, (exchange) => {
    const [first, ...rest] = exchange.operation === 'listPets' && isOk(exchange) ? (exchange.body as Pet[]) : []
    const body = [first, first, ...rest]
    return first && body.length <= (exchange.page?.limit ?? 0) ? { ...exchange, body } : undefined
  }),
  answer('a list ends too early', both, (exchange, history) => {
    const missing = knownIn(exchange, history)
    const body = missing && (exchange.body as Pet[]).filter(({ id }) => id < missing.id)
    return body && { ...exchange, body, hasNext: false }
  }),
  answer('a list shows another status', both, (exchange) => {
    const [first, ...rest] = exchange.operation === 'listPets' && isOk(exchange) ? (exchange.body as Pet[]) : []
    const status = exchange.page?.status === 'sold' ? 'available' : 'sold'
    return first && exchange.page?.status ? { ...exchange, body: [{ ...first, status }, ...rest] } : undefined
  }),
  answer('a list shows a pet under a second id', both, (exchange, history) => {
    if (exchange.operation !== 'listPets' || !isOk(exchange) || exchange.hasNext || exchange.page?.limit !== 100) return
    const last = (exchange.body as Pet[]).at(-1)
    return last && { ...exchange, body: [...(exchange.body as Pet[]), { ...last, id: freshId(history, last.id) }] }
  }),
  answer('a token is sent, and the pet is not found', both, (exchange, history) => {
    const isKnown = exchange.operation === 'getPet' && isOk(exchange) && knows(exchange, exchange.id, history)
    return isKnown ? { ...refused(exchange, 404, 'pet_not_found'), tokenAfter: exchange.tokenAfter ?? '' } : undefined
  }),
  answer('a pet has a name that nobody asked for', both, (exchange) =>
    exchange.operation === 'getPet' && isOk(exchange) ? withBody(exchange, { name: 'nobody' }) : undefined,
  ),
  answer('an updated order shows its old status', both, (exchange) =>
    exchange.operation === 'updateOrder' && isOk(exchange) ? asPlaced(exchange) : undefined,
  ),
  answer('a token goes back', ['log'], (exchange) => {
    return exchange.operation.startsWith('get') && isOk(exchange) ? withEarlierToken(exchange) : undefined
  }),
  answer('the token of a 404 goes back', ['log'], (exchange) =>
    exchange.status === 404 ? withEarlierToken(exchange) : undefined,
  ),
  answer('an available pet is refused', both, (exchange, history) => {
    const isFree = exchange.operation === 'getPet' && isOk(exchange) && isNeverOrdered(exchange, history)
    if (!isFree || petIn(exchange)?.status !== 'available') return undefined
    return { ...refused(exchange, 409, 'pet_not_available'), operation: 'placeOrder' }
  }),
  answer('a feed leaves an event out', ['log'], (exchange) => {
    const [, ...rest] = toldOf.feed(exchange)
    return toldOf.feed(exchange).length > 0 ? { ...exchange, body: rest } : undefined
  }),
  answer('a feed tells of an event twice', ['log'], (exchange) => {
    const [first, ...rest] = toldOf.feed(exchange)
    return first ? { ...exchange, body: [first, first, ...rest] } : undefined
  }),
  answer('a feed goes back', ['log'], (exchange) => {
    const { token, tokenAfter } = exchange
    const isFurther = toldOf.feed(exchange).length > 0 && token !== undefined && tokenAfter !== undefined
    return isFurther ? { ...exchange, body: [], token: tokenAfter, tokenAfter: token } : undefined
  }),
  answer('a feed from the start begins at the end', ['log'], (exchange, { log }) => {
    const isFirst = exchange.operation === 'followEvents' && exchange.token === fromStart && isOk(exchange)
    return isFirst ? { ...exchange, body: [], tokenAfter: tokenUpTo(endsOf(log)) } : undefined
  }),
  answer('a feed begins beyond the log', ['log'], (exchange, { log }) => {
    const isFirst = exchange.operation === 'followEvents' && exchange.token === undefined && isOk(exchange)
    return isFirst ? { ...exchange, tokenAfter: tokenUpTo(endsOf(log).map((end) => end + 1)) } : undefined
  }),
  answer('a feed begins behind what nobody asked for yet', ['log'], (exchange, { log, exchanges }) => {
    const isFirst = exchange.operation === 'followEvents' && exchange.token === undefined && isOk(exchange)
    const later = new Set(exchanges.filter((one) => one.sentMs > exchange.answeredMs).map(({ number }) => number))
    const isEarly = log.some(({ value }) => later.has(writerOf(value)))
    return isFirst && isEarly ? { ...exchange, tokenAfter: tokenUpTo(endsOf(log)) } : undefined
  }),
  answer('a read is behind what a feed of its instance told', ['log'], (exchange, { exchanges }) => {
    const { operation, id, instance, token, sentMs } = exchange
    const isTold = (one: Exchange) =>
      one.instance === instance &&
      one.answeredMs < sentMs &&
      toldOf.feed(one).some((event) => (event as { subject: string }).subject === String(id))
    if (operation !== 'getPet' || !instance || token || !isOk(exchange) || !exchanges.some(isTold)) return undefined
    const { body: _, tag: __, ...rest } = exchange
    return { ...rest, status: 404, code: 'pet_not_found' }
  }),
  answer('a pet is said to be readable, and is not found', ['log'], (exchange, { exchanges }) => {
    const isAdded = (one: Exchange) =>
      one.operation === 'createPet' && one.isApplied === true && one.answeredMs < exchange.sentMs
    const isSame = (one: Exchange) => petIn(one)?.id === exchange.id && one.instance === exchange.instance
    if (exchange.operation !== 'getPet' || !isOk(exchange) || !exchange.instance || exchange.token) return undefined
    return exchanges.some((one) => isAdded(one) && isSame(one)) ? refused(exchange, 404, 'pet_not_found') : undefined
  }),
  answer('the events of a pet lack one', ['log'], (exchange) => {
    const [, ...rest] = toldOf.pet(exchange)
    return rest.length > 0 ? { ...exchange, body: rest } : undefined
  }),
  answer('a token lacks the last event told', ['log'], (exchange, { log }) => {
    const { token } = exchange
    const last = JSON.stringify(toldOf.pet(exchange).at(-1))
    const { partition = 0, offset = -1 } = log.find(({ value }) => value === last) ?? {}
    return token && offset > (positionsOf(token).get(partition) ?? -1) ? { ...exchange, tokenAfter: token } : undefined
  }),
  answer('an instance refuses to order a pet that it has shown', ['log'], (exchange, { exchanges }) => {
    const isShown = (one: Exchange) => isSame(one, exchange) && one.instance === exchange.instance
    if (exchange.operation !== 'getPet' || !exchange.instance || exchange.token) return undefined
    const isKnown = exchanges.some((one) => isShown(one) && one.answeredMs < exchange.sentMs)
    const { tag: _, cached: __, ...order } = refused(exchange, 422, 'unknown_pet')
    return isKnown ? { ...order, operation: 'placeOrder' } : undefined
  }),
  answer('a pet or an order has no tag', ['log'], ({ tag, ...exchange }) => (tag === undefined ? undefined : exchange)),
  answer('an update fails for an If-Match that it does not have', ['log'], (exchange) => {
    const isRefused = exchange.operation === 'updateOrder' && exchange.code === 'order_transition_invalid'
    return isRefused && !exchange.cached ? { ...exchange, status: 412, code: 'precondition_failed' } : undefined
  }),
  answer('a write that nobody was told of does something else', ['log'], (exchange, { log }) => {
    const { operation, status = 504, wanted, idempotencyKey, number } = exchange
    const isUntold = status === 504 && !idempotencyKey && log.some(({ value }) => writerOf(value) === number)
    const isOfPet = operation === 'createPet' && isUntold
    return isOfPet ? { ...exchange, wanted: { ...wanted, categoryId: (wanted?.categoryId ?? 0) + 1 } } : undefined
  }),
  answer('one tag is of two states', ['log'], (exchange, { exchanges }) => {
    const other = exchanges.find((one) => one.operation === 'getOrder' && isOk(one) && one.id === exchange.id)
    const isOther = exchange.operation === 'getOrder' && isOk(exchange) && other && other.tag !== exchange.tag
    return isOther && other.tag ? { ...exchange, tag: other.tag } : undefined
  }),
  answer('an update passes over its If-Match', ['log'], (exchange, { log }) => {
    const { operation, number, tag, body } = exchange
    const isWritten = log.some(({ value }) => writerOf(value) === number)
    return operation === 'updateOrder' && isOk(exchange) && isWritten && tag
      ? { ...exchange, cached: { tag, body } }
      : undefined
  }),
  answer('a read shows the future', both, (exchange, history) => {
    const isFree = exchange.operation === 'getPet' && isOk(exchange) && isNeverOrdered(exchange, history)
    return isFree && petIn(exchange)?.status === 'available' ? withBody(exchange, { status: 'pending' }) : undefined
  }),
]

const toldOf = {
  feed: ({ operation, body }: Exchange) => (operation === 'followEvents' ? ((body ?? []) as unknown[]) : []),
  pet: ({ operation, body }: Exchange) => (operation === 'listEvents' ? ((body ?? []) as unknown[]) : []),
}

function olderThanItsToken(exchange: Exchange, { exchanges }: History): Exchange | undefined {
  const { session, token, number } = exchange
  const isNewer = (other: Exchange) =>
    other.session === session && other.number < number && other.operation === 'updateOrder' && other.tokenAfter
  const update = exchanges.find((other) => isNewer(other) && orderIn(other)?.id === exchange.id && isChanged(other))
  return session && token && update ? asPlaced(exchange) : undefined
}

/** A bug in one answer. */
function answer(name: string, seenBy: PlantedBug['seenBy'], spoil: Spoil): PlantedBug {
  const plant = (history: History, random: Random) => {
    const places = history.exchanges.flatMap((exchange) => spoil(exchange, history) ?? [])
    if (places.length === 0) return undefined
    const spoilt = random.pick(places)
    return { ...history, exchanges: history.exchanges.map((one) => (one.number === spoilt.number ? spoilt : one)) }
  }
  return { name, seenBy, plant }
}

/** The number of the exchange that wrote the event. */
function writerOf(value: string | null): number {
  return numberOf(JSON.parse(value ?? '').traceparent) ?? -1
}

/** The token of all records before these offsets, by partition. */
function tokenUpTo(ends: readonly number[]): string {
  const positions = ends.map((end, partition) => ({ partition, offset: end - 1 }))
  return writeToken(
    { logId: 'simulated', partitions },
    positions.filter(({ offset }) => offset >= 0),
  )
}

/** Its token names less than was sent. */
function withEarlierToken(exchange: Exchange): Exchange | undefined {
  const sent = [...positionsOf(exchange.token)].map(([partition, offset]) => ({ partition, offset }))
  if (!sent.some(({ offset }) => offset > 0)) return undefined
  const earlier = sent.map(({ partition, offset }) => ({ partition, offset: Math.max(0, offset - 1) }))
  return { ...exchange, tokenAfter: writeToken({ logId: 'simulated', partitions }, earlier) }
}

function isOk({ status }: Exchange): boolean {
  return status === 200 || status === 201
}

function petIn(exchange: Exchange): Pet | undefined {
  return exchange.body as Pet | undefined
}

function orderIn(exchange: Exchange): Order | undefined {
  return exchange.body as Order | undefined
}

function withBody(exchange: Exchange, change: object): Exchange {
  return { ...exchange, body: { ...(exchange.body as object), ...change } }
}

function refused({ body: _, tokenAfter: __, ...exchange }: Exchange, status: number, code: string): Exchange {
  return { ...exchange, status, code }
}

/** The same order as it was before it changed. */
function asPlaced(exchange: Exchange): Exchange | undefined {
  const order = orderIn(exchange)
  return isChanged(exchange) ? withBody(exchange, { status: 'placed', updatedAt: order?.placedAt }) : undefined
}

function isChanged(exchange: Exchange): boolean {
  return exchange.operation.endsWith('Order') && isOk(exchange) && orderIn(exchange)?.status !== 'placed'
}

function isSame(one: Exchange, other: Exchange): boolean {
  return (
    isOk(one) &&
    isOk(other) &&
    one.operation === other.operation &&
    orderIn(one)?.status === orderIn(other)?.status &&
    one.id === other.id
  )
}

/** A refused order, as if it had been placed. */
function acknowledged({ code: _, id = 0, ...exchange }: Exchange, history: History): Exchange {
  const at = '2026-11-20T00:00:00.000Z'
  const body = { id: freshId(history, id), petId: id, status: 'placed', placedAt: at, updatedAt: at }
  return { ...exchange, id, status: 201, body }
}

function isToldTwice({ idempotencyKey, number }: Exchange, { exchanges }: History): boolean {
  return exchanges.some((one) => one.idempotencyKey === idempotencyKey && one.number !== number && isOk(one))
}

/** Whether the token of the session includes the creation of the pet. */
function knows({ session, token, number }: Exchange, id: number | undefined, { exchanges }: History): boolean {
  const isTold = (one: Exchange) => one.operation === 'createPet' && petIn(one)?.id === id && one.session === session
  return token !== undefined && exchanges.some((one) => one.number < number && isTold(one))
}

/** A pet in a list of all that the list must show. */
function knownIn(exchange: Exchange, history: History): Pet | undefined {
  if (exchange.operation !== 'listPets' || !isOk(exchange) || exchange.page?.status) return undefined
  return (exchange.body as Pet[]).slice(0, -1).find(({ id }) => knows(exchange, id, history))
}

function isNeverOrdered({ id, answeredMs }: Exchange, { exchanges }: History): boolean {
  return !exchanges.some((one) => one.operation === 'placeOrder' && one.id === id && one.sentMs <= answeredMs)
}
