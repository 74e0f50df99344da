import type { Exchange, History, Pet } from '../history.ts'
import { freshId, isOk } from './planted-records.ts'
import {
  acknowledged,
  asPlaced,
  done,
  olderThanItsToken,
  orderIn,
  petIn,
  refused,
  type Spoil,
  withBody,
} from './spoilt-answers.ts'

/** Bugs that the answers alone give away, without the log. */
export const answersSeenByBoth: Readonly<Record<string, Spoil>> = {
  'a token is sent, and an older order is read': olderThanItsToken,
  'a token is sent, and a 304 says that nothing has changed': done('getOrder', (exchange, history) => {
    const older = olderThanItsToken(exchange, history)
    return older && { ...older, status: 304 }
  }),
  'a pet has two open orders': (exchange, history) => {
    const { operation, code, id, sentMs } = exchange
    const { exchanges } = history
    if (operation !== 'placeOrder' || code !== 'pet_not_available') return undefined
    const isOpen = (order: number) => !exchanges.some((one) => one.operation === 'updateOrder' && one.id === order)
    const holder = exchanges.find((one) => one.operation === 'placeOrder' && one.id === id && isOk(one))
    const isHeld = holder && holder.answeredMs < sentMs && isOpen(orderIn(holder)?.id ?? 0)
    return isHeld ? acknowledged(exchange, history) : undefined
  },
  'a key has two outcomes': (exchange, history) => {
    const { operation, isReplayed, body } = exchange
    if (operation !== 'createPet' || !isReplayed || !isToldTwice(exchange, history)) return undefined
    return { ...exchange, body: { ...(body as Pet), id: freshId(history, (body as Pet).id) } }
  },
  'an id is given twice': done('createPet', (exchange, { exchanges }) => {
    const other = exchanges.find((one) => one.operation === 'createPet' && isOk(one) && one.number < exchange.number)
    return !exchange.idempotencyKey && other ? withBody(exchange, { id: petIn(other)?.id }) : undefined
  }),
  'a pet is added, and refused': done('createPet', (exchange, { exchanges }) => {
    const isShown = (one: Exchange) => one.operation === 'getPet' && isOk(one) && one.id === petIn(exchange)?.id
    if (exchange.idempotencyKey || !exchanges.some(isShown)) return undefined
    return refused(exchange, 503, 'event_log_unavailable')
  }),
  'a list misses a pet': (exchange, history) => {
    const missing = exchange.hasNext ? undefined : knownIn(exchange, history)
    return missing && { ...exchange, body: (exchange.body as Pet[]).filter(({ id }) => id !== missing.id) }
  },
  'a list has a pet twice': done('listPets', (exchange) => {
    const [first, ...rest] = exchange.body as Pet[]
    const body = [first, first, ...rest]
    return first && body.length <= (exchange.page?.limit ?? 0) ? { ...exchange, body } : undefined
  }),
  'a list ends too early': (exchange, history) => {
    const missing = knownIn(exchange, history)
    const body = missing && (exchange.body as Pet[]).filter(({ id }) => id < missing.id)
    return body && { ...exchange, body, hasNext: false }
  },
  'a list shows another status': done('listPets', (exchange) => {
    const [first, ...rest] = exchange.body as Pet[]
    const status = exchange.page?.status === 'sold' ? 'available' : 'sold'
    return first && exchange.page?.status ? { ...exchange, body: [{ ...first, status }, ...rest] } : undefined
  }),
  'a list shows a pet under a second id': done('listPets', (exchange, history) => {
    const last = (exchange.body as Pet[]).at(-1)
    if (last === undefined || exchange.hasNext || exchange.page?.limit !== 100) return undefined
    return { ...exchange, body: [...(exchange.body as Pet[]), { ...last, id: freshId(history, last.id) }] }
  }),
  'a token is sent, and the pet is not found': done('getPet', (exchange, history) => {
    if (!knows(exchange, exchange.id, history)) return undefined
    return { ...refused(exchange, 404, 'pet_not_found'), tokenAfter: exchange.tokenAfter ?? '' }
  }),
  'a pet has a name that nobody asked for': done('getPet', (exchange) => withBody(exchange, { name: 'nobody' })),
  'an updated order shows its old status': done('updateOrder', asPlaced),
  'an available pet is refused': done('getPet', (exchange, history) => {
    if (!isFree(exchange, history)) return undefined
    return { ...refused(exchange, 409, 'pet_not_available'), operation: 'placeOrder' }
  }),
  'a read shows the future': done('getPet', (exchange, history) =>
    isFree(exchange, history) ? withBody(exchange, { status: 'pending' }) : undefined,
  ),
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

/** Whether a pet is shown as available that nobody had asked to order. */
function isFree({ id, answeredMs, body }: Exchange, { exchanges }: History): boolean {
  const isOrder = (one: Exchange) => one.operation === 'placeOrder' && one.id === id && one.sentMs <= answeredMs
  return (body as Pet).status === 'available' && !exchanges.some(isOrder)
}
