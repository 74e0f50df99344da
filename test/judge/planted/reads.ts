import { type Category, type Exchange, type History, type Pet, positionsOf } from '../history.ts'
import { freshId, isOk } from './records.ts'
import {
  asPlaced,
  done,
  isEarlier,
  isFree,
  isSame,
  mayBeRemoved,
  olderThanItsToken,
  petIn,
  refused,
  type Spoil,
  tokenOf,
  withBody,
} from './spoil.ts'

/** Bugs in answers to reads of pets and orders. */
export const plantedInReads: Readonly<Record<string, Spoil>> = {
  'a token is sent, and an older order is read': olderThanItsToken,
  'a token is sent, and a 304 says that nothing has changed': done('getOrder', (exchange, history) => {
    const older = olderThanItsToken(exchange, history)
    return older && { ...older, status: 304 }
  }),
  'a token is sent, and the pet is not found': done('getPet', (exchange, history) => {
    if (!knows(exchange, exchange.id, history) || mayBeRemoved(exchange, history)) return undefined
    return { ...refused(exchange, 404, 'pet_not_found'), tokenAfter: exchange.tokenAfter ?? '' }
  }),
  'a removed pet is read again': (exchange, { exchanges }) => {
    const { operation, code, id, sentMs } = exchange
    if (operation !== 'getPet' || code !== 'pet_not_found') return undefined
    const isRemoved = exchanges.some(
      (one) => one.operation === 'removePet' && one.id === id && one.status === 204 && one.answeredMs < sentMs,
    )
    const seen = exchanges.find((one) => one.operation === 'getPet' && one.id === id && isOk(one) && one.body)
    const { code: _, ...answer } = exchange
    return isRemoved && seen?.tag ? { ...answer, status: 200, body: seen.body, tag: seen.tag } : undefined
  },
  'a list shows a pet that is removed': (exchange, { exchanges }) => {
    const { operation, body, page, sentMs } = exchange
    const pets = operation === 'listPets' && isOk(exchange) ? (body as readonly Pet[]) : []
    const { after = 0, limit = 0, filters } = page ?? {}
    if (filters !== undefined || pets.length === 0 || pets.length >= limit) return undefined
    const gone = exchanges.filter(
      (one) => one.operation === 'removePet' && one.status === 204 && one.answeredMs < sentMs && Number(one.id) > after,
    )
    const seen = exchanges.find(
      (one) => one.operation === 'getPet' && isOk(one) && one.body && gone.some(({ id }) => id === one.id),
    )
    const all = [...pets, ...(seen ? [seen.body as Pet] : [])].sort((one, other) => one.id - other.id)
    return seen ? { ...exchange, body: all } : undefined
  },
  'a category has a name that nobody asked for': done('getCategory', (exchange) =>
    withBody(exchange, { name: 'nobody' }),
  ),
  'a category is shown under the id of a pet': (exchange, { exchanges }) => {
    const category = exchanges.find((one) => one.operation === 'getCategory' && isOk(one) && one.body)
    const { code: _, ...answer } = exchange
    if (exchange.operation !== 'getPet' || !category?.tag) return undefined
    return { ...answer, status: 200, body: { ...(category.body as object), id: exchange.id }, tag: category.tag }
  },
  'a removed category is read again': (exchange, { exchanges }) => {
    const { operation, code, id, sentMs } = exchange
    if (operation !== 'getCategory' || code !== 'category_not_found') return undefined
    const isRemoved = exchanges.some(
      (one) => one.operation === 'removeCategory' && one.id === id && one.status === 204 && one.answeredMs < sentMs,
    )
    const seen = exchanges.find((one) => one.operation === 'getCategory' && one.id === id && isOk(one) && one.body)
    const { code: _, ...answer } = exchange
    return isRemoved && seen?.tag ? { ...answer, status: 200, body: seen.body, tag: seen.tag } : undefined
  },
  'a list of categories lacks one': done('listCategories', (exchange, { exchanges }) => {
    const [first, second, ...rest] = exchange.body as Category[]
    const own = exchanges.filter(({ operation, id }) => /Category$/.test(operation) && id === first?.id)
    const isShown = own.some((one) => one.operation === 'getCategory' && isOk(one) && isEarlier(one, exchange))
    const isKnown = exchange.instance && isShown && !own.some(({ operation }) => operation === 'removeCategory')
    return isKnown && first && second ? { ...exchange, body: [second, ...rest], hasNext: false } : undefined
  }),
  'a pet has a name that nobody asked for': done('getPet', (exchange) => withBody(exchange, { name: 'nobody' })),
  'a read shows the future': done('getPet', (exchange, history) =>
    isFree(exchange, history) ? withBody(exchange, { status: 'pending' }) : undefined,
  ),
  'an instance goes back': (exchange, { exchanges }) => {
    const { instance, token } = exchange
    const newer = exchanges.find(
      (one) => isEarlier(one, exchange) && one.operation === 'getOrder' && isSame(one, exchange),
    )
    return instance && !token && newer ? asPlaced(exchange) : undefined
  },
  'a token goes back': (exchange) =>
    exchange.operation.startsWith('get') && isOk(exchange) ? withEarlierToken(exchange) : undefined,
  'the token of a 404 goes back': done('getPet', (exchange, history) => {
    const id = freshId(history, exchange.id ?? 0)
    return withEarlierToken({ ...refused(exchange, 404, 'pet_not_found'), id })
  }),
  'a pet is said to be readable, and is not found': done('getPet', (exchange, history) => {
    const isAdded = (one: Exchange) =>
      one.operation === 'createPet' && one.isApplied === true && petIn(one)?.id === exchange.id
    if (!exchange.instance || exchange.token || mayBeRemoved(exchange, history)) return undefined
    const isKnown = history.exchanges.some((one) => isAdded(one) && isEarlier(one, exchange))
    return isKnown ? refused(exchange, 404, 'pet_not_found') : undefined
  }),
  'one tag is of two states': done('getOrder', (exchange, { exchanges }) => {
    const other = exchanges.find((one) => one.operation === 'getOrder' && isOk(one) && one.id === exchange.id)
    return other?.tag && other.tag !== exchange.tag ? { ...exchange, tag: other.tag } : undefined
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
    const status = exchange.page?.filters?.status === 'sold' ? 'available' : 'sold'
    return first && exchange.page?.filters ? { ...exchange, body: [{ ...first, status }, ...rest] } : undefined
  }),
  'a list shows a pet under a second id': done('listPets', (exchange, history) => {
    const last = (exchange.body as Pet[]).at(-1)
    if (last === undefined || exchange.hasNext || exchange.page?.limit !== 100) return undefined
    return { ...exchange, body: [...(exchange.body as Pet[]), { ...last, id: freshId(history, last.id) }] }
  }),
  'a confirmed pet is not found on another instance': done('getPet', (exchange, history) => {
    const isConfirmed = ({ operation, isApplied = true, ...one }: Exchange) =>
      operation === 'createPet' && isApplied && petIn(one as Exchange)?.id === exchange.id
    const isOfOther = (one: Exchange) => one.instance !== exchange.instance && one.answeredMs < exchange.sentMs
    if (exchange.token || mayBeRemoved(exchange, history)) return undefined
    const isKnown = history.exchanges.some((one) => isOk(one) && isConfirmed(one) && isOfOther(one))
    return isKnown ? refused(exchange, 404, 'pet_not_found') : undefined
  }),
  'a token names more than its answer shows': done('getPet', (exchange, { exchanges }) => {
    if (!exchange.token) return undefined
    const isChanged = (one: Exchange) => petIn(one)?.status !== petIn(exchange)?.status
    const later = exchanges.find(
      (one) => one.operation === 'getPet' && one.id === exchange.id && one.tokenAfter && isOk(one) && isChanged(one),
    )
    const named = [...positionsOf(exchange.tokenAfter), ...positionsOf(later?.tokenAfter)]
    const tokenAfter = tokenOf(named.map(([partition, offset]) => ({ partition, offset })))
    return later && later.sentMs > exchange.answeredMs ? { ...exchange, tokenAfter } : undefined
  }),
}

/** Whether the token of the session includes the creation of the pet. */
function knows({ session, token, number }: Exchange, id: number | undefined, { exchanges }: History): boolean {
  const isTold = (one: Exchange) => one.operation === 'createPet' && petIn(one)?.id === id && one.session === session
  return token !== undefined && exchanges.some((one) => one.number < number && isTold(one))
}

/** A pet in a list of all that the list must show. */
function knownIn(exchange: Exchange, history: History): Pet | undefined {
  if (exchange.operation !== 'listPets' || !isOk(exchange) || exchange.page?.filters) return undefined
  return (exchange.body as Pet[]).slice(0, -1).find(({ id }) => knows(exchange, id, history))
}

/** Its token names less than was sent. */
function withEarlierToken(exchange: Exchange): Exchange | undefined {
  const sent = [...positionsOf(exchange.token)].map(([partition, offset]) => ({ partition, offset }))
  if (!sent.some(({ offset }) => offset > 0)) return undefined
  const earlier = sent.map(({ partition, offset }) => ({ partition, offset: Math.max(0, offset - 1) }))
  return { ...exchange, tokenAfter: tokenOf(earlier) }
}
