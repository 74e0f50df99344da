import { orderStatuses } from '../../src/store/order.ts'
import { petStatuses } from '../../src/store/pet.ts'
import { type CachedDocument, collectionOf, type Exchange, type Shown } from '../judge/history.ts'
import type { Random } from '../lib/random.ts'
import type { Answered, Asked } from './recorder.ts'

/** Requests of one client: each goes on from what the one before was answered. Undefined: it did not arrive. */
type Turn<T = void> = Generator<Asked, T, Answered | undefined>

/** A place in a list, for anybody to go on from. */
type Place = Required<Pick<Asked, 'operation' | 'page'>> & Pick<Asked, 'path'>

/** How much of what is asked for is about categories, and how much of what is about pets and orders are writes. */
const ofCategories = 0.12
const writing = 0.58
const attemptsMax = 40
const recentMax = 8
const placesMax = 30

/**
 * What clients ask for: they add, change, remove and read pets and categories, and order pets. They tell each other of what
 * there is to be rivals about, of what they were last told of each, and of places in lists.
 */
export class Workload {
  readonly #random: Random
  readonly #known: Readonly<Record<Shown, number[]>> = { pets: [], orders: [], categories: [] }
  readonly #cached = new Map<string, CachedDocument>()
  readonly #places: Place[] = []
  #names = 0
  /** Whether nobody begins anything that writes. */
  onlyReads = false

  constructor(random: Random) {
    this.#random = random
  }

  tell({ operation, status, body, tag }: Exchange): void {
    const collection = collectionOf(operation)
    if (tag !== undefined) this.#cached.set(`${collection} ${idIn(body)}`, { tag, body })
    if (status === 201) this.#known[collection].push(idIn(body))
  }

  *act(): Turn {
    const random = this.#random
    if (random.chance(ofCategories)) return yield* this.#ofCategory()
    const chance = this.onlyReads ? writing + random.next() * (1 - writing) : random.next()
    const pet = this.#recent('pets')
    const order = this.#recent('orders')
    if (pet !== undefined && chance < 0.09) yield* this.#readBack(yield this.#changeOf(pet))
    else if (pet === undefined || chance < 0.28) yield* this.#readBack(yield* insist(this.#newPet(), random))
    else if (chance < 0.43) yield* this.#readBack(yield* insist(this.#newOrder(pet), random))
    else if (order !== undefined && chance < writing) {
      const status = random.pick(['approved', ...orderStatuses])
      const change = { operation: 'updateOrder', id: order, wanted: { status } } as const
      yield* this.#readBack(yield { ...change, ...this.#cachedOf('orders', order) })
    } else if (order !== undefined && chance < 0.65) {
      yield { operation: 'getOrder', id: order, ...this.#cachedOf('orders', order) }
    } else if (chance < 0.77) yield { operation: 'getPet', id: pet, ...this.#cachedOf('pets', pet) }
    else if (chance < 0.82) yield { operation: 'listEvents', id: pet }
    else yield* this.#browse(random.chance(0.65) ? 'pets' : 'orders')
  }

  *#ofCategory(): Turn {
    const random = this.#random
    const id = this.#recent('categories')
    const chance = this.onlyReads ? 0.5 + random.next() / 2 : random.next()
    if (chance < 0.5 && (id === undefined || chance < 0.2)) {
      yield* this.#readBack(yield* insist(this.#newCategory(), random))
    } else if (id === undefined) yield* this.#browse('categories')
    else if (chance < 0.5) yield* this.#readBack(yield this.#changeOfCategory(id))
    else if (chance < 0.7) yield { operation: 'getCategory', id, ...this.#cachedOf('categories', id) }
    else if (chance < 0.8) yield { operation: 'listCategoryEvents', id }
    else yield* this.#browse('categories')
  }

  /** Mostly one of the last few, so that several clients are about the same. */
  #recent(collection: Shown): number | undefined {
    const ids = this.#known[collection]
    const among = this.#random.chance(0.8) ? recentMax : ids.length
    return ids.at(-1 - this.#random.below(Math.min(among, ids.length) || 1))
  }

  /** What somebody was told of it, and not always the latest. */
  #cachedOf(collection: Shown, id: number): Pick<Asked, 'cached'> {
    const cached = this.#random.chance(0.4) ? this.#cached.get(`${collection} ${id}`) : undefined
    return cached === undefined ? {} : { cached }
  }

  #newPet(): Asked {
    const name = `pet ${this.#names++}`
    const status = this.#random.pick([undefined, 'available', 'available', 'pending', 'sold'])
    const described = this.#random.chance(0.2) && { description: `about ${name}` }
    const wanted = { name, categoryId: this.#random.below(5), ...(status !== undefined && { status }), ...described }
    return { operation: 'createPet', wanted, ...(this.#random.chance(0.5) && { idempotencyKey: name }) }
  }

  /** Its name, its category or its description, or it leaves. */
  #changeOf(id: number): Asked {
    const cached = this.#cachedOf('pets', id)
    if (this.#random.chance(0.2)) return { operation: 'removePet', id, ...cached }
    const category = { categoryId: this.#random.below(5) }
    const description = this.#random.chance(0.5) ? null : `about ${this.#names}`
    const other = this.#random.pick([category, { description }])
    const wanted = this.#random.chance(0.6) ? { name: `pet ${this.#names++}` } : other
    return { operation: 'updatePet', id, wanted, ...cached }
  }

  #newCategory(): Asked {
    const name = `category ${this.#names++}`
    const wanted = { name, ...(this.#random.chance(0.3) && { description: `about ${name}` }) }
    return { operation: 'createCategory', wanted, ...(this.#random.chance(0.5) && { idempotencyKey: name }) }
  }

  #changeOfCategory(id: number): Asked {
    const cached = this.#cachedOf('categories', id)
    if (this.#random.chance(0.2)) return { operation: 'removeCategory', id, ...cached }
    const description = this.#random.chance(0.5) ? null : `about ${this.#names}`
    const wanted = this.#random.chance(0.6) ? { name: `category ${this.#names++}` } : { description }
    return { operation: 'updateCategory', id, wanted, ...cached }
  }

  #newOrder(id: number): Asked {
    const isKeyed = this.#random.chance(0.4)
    return { operation: 'placeOrder', id, ...(isKeyed && { idempotencyKey: `order ${this.#names++}` }) }
  }

  /** Many look at once at what they wrote. */
  *#readBack(answer: Answered | undefined): Turn {
    if (answer === undefined) return
    const { status = 0, operation, body, id = 0 } = answer
    if (status >= 300 || status === 0 || this.#random.chance(0.4)) return
    yield { operation: getting[collectionOf(operation)], id: body === undefined ? id : idIn(body) }
  }

  /** A list from its beginning, or from where somebody left off, and mostly its next pages. */
  *#browse(collection: Shown): Turn {
    const isAnew = this.#places.length === 0 || this.#random.chance(0.5)
    let place: Place | undefined = isAnew ? this.#firstPage(collection) : this.#random.pick(this.#places)
    do {
      place = nextPlace(place, yield place)
      if (place !== undefined) this.#places.push(place)
      if (this.#places.length > placesMax) this.#places.shift()
    } while (place !== undefined && this.#random.chance(0.7))
  }

  #firstPage(collection: Shown): Place {
    const status = this.#random.chance(0.5) ? undefined : this.#random.pick(statuses[collection])
    const page = { after: 0, limit: this.#random.pick([3, 10, 100]), ...(status !== undefined && { status }) }
    return { operation: listing[collection], page }
  }
}

const getting = { pets: 'getPet', orders: 'getOrder', categories: 'getCategory' } as const
const listing = { pets: 'listPets', orders: 'listOrders', categories: 'listCategories' } as const
const statuses: Readonly<Record<Shown, readonly (string | undefined)[]>> = {
  pets: petStatuses,
  orders: orderStatuses,
  categories: [undefined],
}

function idIn(body: unknown): number {
  return (body as { readonly id: number }).id
}

/** What has a key is sent until its outcome is known. Sometimes it is sent once more. */
export function* insist(asked: Asked, random: Random): Turn<Answered | undefined> {
  let answer = yield asked
  for (let attempt = 1; asked.idempotencyKey !== undefined && attempt < attemptsMax; attempt++) {
    const isOpen = answer?.status === undefined || answer.status >= 500
    if (!isOpen && !random.chance(0.2)) break
    answer = yield asked
  }
  return answer
}

function nextPlace({ operation, page }: Place, answer: Answered | undefined): Place | undefined {
  if (!answer?.hasNext) return undefined
  const after = (answer.body as readonly { readonly id: number }[]).at(-1)?.id ?? 0
  return { operation, page: { ...page, after }, ...(answer.link !== undefined && { path: answer.link }) }
}
