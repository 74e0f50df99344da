import { orderStatuses } from '../../src/store/order.ts'
import { petStatuses } from '../../src/store/pet.ts'
import type { Exchange } from '../judge/history.ts'
import type { Random } from '../lib/random.ts'
import { type Filters, insist, Known, type Turn } from './known.ts'
import type { Asked } from './recorder.ts'

/** How much of what is asked for is about categories, and how much of what is about pets and orders are writes. */
const ofCategories = 0.12
const writing = 0.58

/** What clients ask of the pet store: they add, change, remove and read pets and categories, and order pets. */
export class Workload {
  readonly #random: Random
  readonly #known: Known
  #names = 0
  /** Whether nobody begins anything that writes. */
  onlyReads = false

  constructor(random: Random) {
    this.#random = random
    this.#known = new Known(random, filters)
  }

  tell(answer: Exchange): void {
    this.#known.tell(answer)
  }

  *act(): Turn {
    const random = this.#random
    if (random.chance(ofCategories)) return yield* this.#ofCategory()
    const chance = this.onlyReads ? writing + random.next() * (1 - writing) : random.next()
    const pet = this.#known.recent('pets')
    const order = this.#known.recent('orders')
    if (pet !== undefined && chance < 0.09) yield* this.#known.readBack(yield this.#changeOf(pet))
    else if (pet === undefined || chance < 0.28) yield* this.#known.readBack(yield* insist(this.#newPet(), random))
    else if (chance < 0.43) yield* this.#known.readBack(yield* insist(this.#newOrder(pet), random))
    else if (order !== undefined && chance < writing) {
      const status = random.pick(['approved', ...orderStatuses])
      const change = { operation: 'updateOrder', id: order, wanted: { status } } as const
      yield* this.#known.readBack(yield { ...change, ...this.#known.cachedOf('orders', order) })
    } else if (order !== undefined && chance < 0.65) {
      yield* this.#known.get('orders', order)
    } else if (chance < 0.77) yield* this.#known.get('pets', pet)
    else if (chance < 0.82) yield { operation: 'listEvents', id: pet }
    else yield* this.#known.browse(random.chance(0.65) ? 'pets' : 'orders')
  }

  *#ofCategory(): Turn {
    const random = this.#random
    const id = this.#known.recent('categories')
    const chance = this.onlyReads ? 0.5 + random.next() / 2 : random.next()
    if (chance < 0.5 && (id === undefined || chance < 0.2)) {
      yield* this.#known.readBack(yield* insist(this.#newCategory(), random))
    } else if (id === undefined) yield* this.#known.browse('categories')
    else if (chance < 0.5) yield* this.#known.readBack(yield this.#changeOfCategory(id))
    else if (chance < 0.7) yield* this.#known.get('categories', id)
    else if (chance < 0.8) yield { operation: 'listCategoryEvents', id }
    else yield* this.#known.browse('categories')
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
    const cached = this.#known.cachedOf('pets', id)
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
    const cached = this.#known.cachedOf('categories', id)
    if (this.#random.chance(0.2)) return { operation: 'removeCategory', id, ...cached }
    const description = this.#random.chance(0.5) ? null : `about ${this.#names}`
    const wanted = this.#random.chance(0.6) ? { name: `category ${this.#names++}` } : { description }
    return { operation: 'updateCategory', id, wanted, ...cached }
  }

  #newOrder(id: number): Asked {
    const isKeyed = this.#random.chance(0.4)
    return { operation: 'placeOrder', id, ...(isKeyed && { idempotencyKey: `order ${this.#names++}` }) }
  }
}

const filters: Filters = {
  pets: { status: petStatuses, categoryId: ['0', '1', '2', '3', '4', '8'] },
  orders: { status: orderStatuses, petId: 'pets' },
}
