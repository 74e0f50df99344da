import { orderStatuses } from '../../src/store/order.ts'
import { petStatuses } from '../../src/store/pet.ts'
import type { CachedDocument, Exchange, Order, Pet } from '../judge/history.ts'
import type { Random } from '../lib/random.ts'
import type { Answered, Asked } from './recorder.ts'

/** Requests of one client: each goes on from what the one before was answered. Undefined: it did not arrive. */
type Turn<T = void> = Generator<Asked, T, Answered | undefined>

/** A place in a list, for anybody to go on from. */
type Place = Required<Pick<Asked, 'operation' | 'page'>> & Pick<Asked, 'path'>

/** How much of what is asked for are writes. */
const writing = 0.58
const attemptsMax = 40
const recentMax = 8
const placesMax = 30

/**
 * What clients ask for: they add, change, order, remove and read pets. They tell each other of pets and orders to be rivals about,
 * of what they were last told of each, and of places in lists.
 */
export class Workload {
  readonly #random: Random
  readonly #pets: number[] = []
  readonly #orders: number[] = []
  readonly #cached = new Map<string, CachedDocument>()
  readonly #places: Place[] = []
  #names = 0
  /** Whether nobody begins anything that writes. */
  onlyReads = false

  constructor(random: Random) {
    this.#random = random
  }

  tell({ operation, status, body, tag }: Exchange): void {
    if (tag !== undefined) {
      this.#cached.set(`${operation.endsWith('Pet') ? 'pet' : 'order'} ${(body as Pet | Order).id}`, { tag, body })
    }
    if (status === 201) (operation === 'createPet' ? this.#pets : this.#orders).push((body as Pet | Order).id)
  }

  *act(): Turn {
    const random = this.#random
    const chance = this.onlyReads ? writing + random.next() * (1 - writing) : random.next()
    const pet = this.#recent(this.#pets)
    const order = this.#recent(this.#orders)
    if (pet !== undefined && chance < 0.09) yield* this.#readBack(yield this.#changeOf(pet))
    else if (pet === undefined || chance < 0.28) yield* this.#readBack(yield* insist(this.#newPet(), random))
    else if (chance < 0.43) yield* this.#readBack(yield* insist(this.#newOrder(pet), random))
    else if (order !== undefined && chance < writing) {
      const status = random.pick(['approved', ...orderStatuses])
      const change = { operation: 'updateOrder', id: order, wanted: { status } } as const
      yield* this.#readBack(yield { ...change, ...this.#cachedOf('order', order) })
    } else if (order !== undefined && chance < 0.65) {
      yield { operation: 'getOrder', id: order, ...this.#cachedOf('order', order) }
    } else if (chance < 0.77) yield { operation: 'getPet', id: pet, ...this.#cachedOf('pet', pet) }
    else if (chance < 0.82) yield { operation: 'listEvents', id: pet }
    else yield* this.#browse()
  }

  /** Mostly one of the last few, so that several clients are about the same. */
  #recent(ids: readonly number[]): number | undefined {
    const among = this.#random.chance(0.8) ? recentMax : ids.length
    return ids.at(-1 - this.#random.below(Math.min(among, ids.length) || 1))
  }

  /** What somebody was told of it, and not always the latest. */
  #cachedOf(collection: 'pet' | 'order', id: number): Pick<Asked, 'cached'> {
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
    const cached = this.#cachedOf('pet', id)
    if (this.#random.chance(0.2)) return { operation: 'removePet', id, ...cached }
    const category = { categoryId: this.#random.below(5) }
    const description = this.#random.chance(0.5) ? null : `about ${this.#names}`
    const other = this.#random.pick([category, { description }])
    const wanted = this.#random.chance(0.6) ? { name: `pet ${this.#names++}` } : other
    return { operation: 'updatePet', id, wanted, ...cached }
  }

  #newOrder(id: number): Asked {
    const isKeyed = this.#random.chance(0.4)
    return { operation: 'placeOrder', id, ...(isKeyed && { idempotencyKey: `order ${this.#names++}` }) }
  }

  /** Many look at once at what they wrote. */
  *#readBack(answer: Answered | undefined): Turn {
    const { status = 0, operation = '', body, id = 0 } = answer ?? {}
    if (status >= 300 || status === 0 || this.#random.chance(0.4)) return
    const shown = body === undefined ? id : (body as Pet | Order).id
    yield { operation: operation.endsWith('Pet') ? 'getPet' : 'getOrder', id: shown }
  }

  /** A list from its beginning, or from where somebody left off, and mostly its next pages. */
  *#browse(): Turn {
    const isAnew = this.#places.length === 0 || this.#random.chance(0.5)
    let place: Place | undefined = isAnew ? this.#firstPage() : this.#random.pick(this.#places)
    do {
      place = nextPlace(place, yield place)
      if (place !== undefined) this.#places.push(place)
      if (this.#places.length > placesMax) this.#places.shift()
    } while (place !== undefined && this.#random.chance(0.7))
  }

  #firstPage(): Place {
    const isOfPets = this.#random.chance(0.65)
    const statuses = isOfPets ? petStatuses : orderStatuses
    const status = this.#random.chance(0.5) ? {} : { status: this.#random.pick<string>(statuses) }
    const page = { after: 0, limit: this.#random.pick([3, 10, 100]), ...status }
    return { operation: isOfPets ? 'listPets' : 'listOrders', page }
  }
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
