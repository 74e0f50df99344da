import { type Exchange, isSuccess, type Order, type Pet } from './history.ts'
import { ordersIn, petsIn } from './pet-answers.ts'
import { type PetState, statusesBefore } from './pet-order.ts'

/** Which pet each order is of, as answers tell. */
export class Owners {
  readonly #petOf: ReadonlyMap<number, number>
  readonly #ordersOf: ReadonlyMap<number | undefined, readonly number[]>

  constructor(petOf: ReadonlyMap<number, number>) {
    this.#petOf = petOf
    this.#ordersOf = Map.groupBy(petOf.keys(), (order) => petOf.get(order))
  }

  petOf(order: number): number | undefined {
    return this.#petOf.get(order)
  }

  ordersOf(pet: number): readonly number[] {
    return this.#ordersOf.get(pet) ?? []
  }
}

/** Whether a state may be what an answer shows. `isNews`: no pet that does not exist yet is like that. */
export interface Shown {
  readonly matches: (state: PetState) => boolean
  readonly isNews: boolean
}

/** What an answer shows of pets and their orders. */
export class View {
  /** The pets of which it may show news. */
  readonly news: readonly number[]
  readonly #exchange: Exchange
  readonly #owners: Owners
  readonly #pets: ReadonlyMap<number, Pet['status']>
  readonly #orders: ReadonlyMap<number, Order['status']>

  constructor(exchange: Exchange, owners: Owners) {
    const [pets, orders] = [petsIn(exchange), ordersIn(exchange)]
    const { operation, id = 0 } = exchange
    const isAboutOrder = operation === 'getOrder' || operation === 'updateOrder'
    const asked = exchange.page === undefined && (isAboutOrder ? owners.petOf(id) : id)
    this.news = [...pets.map((pet) => pet.id), ...orders.map(({ petId }) => petId), ...(asked ? [asked] : [])]
    this.#exchange = exchange
    this.#owners = owners
    this.#pets = new Map(pets.map(({ id, status }) => [id, status]))
    this.#orders = new Map(orders.map(({ id, status }) => [id, status]))
  }

  /** Undefined: nothing of this pet. */
  of(petId: number): Shown | undefined {
    const { operation, id = 0, page } = this.#exchange
    if (!isSuccess(this.#exchange)) return refusalOf(this.#exchange, petId, this.#owners)
    if (operation === 'createPet') {
      return this.#pets.has(petId) ? { matches: ({ pet }) => pet !== undefined, isNews: true } : undefined
    }
    if (operation === 'placeOrder') {
      const [order = 0] = this.#orders.keys()
      return id === petId ? { matches: ({ orders }) => orders.has(order), isNews: true } : undefined
    }
    if (operation === 'getPet' || operation === 'listPets') {
      const shown = this.#pets.get(petId)
      if (shown !== undefined) return { matches: ({ pet }) => pet === shown, isNews: true }
      const isCovered = covers(this.#exchange, petId)
      return isCovered ? { matches: ({ pet }) => isHidden(pet, page?.status), isNews: false } : undefined
    }
    return this.#ordersOf(petId)
  }

  #ordersOf(petId: number): Shown | undefined {
    const { page } = this.#exchange
    const shown = this.#orders
    const covered = this.#owners.ordersOf(petId).filter((order) => shown.has(order) || covers(this.#exchange, order))
    if (covered.length === 0) return undefined
    const matches = ({ orders }: PetState) =>
      covered.every((order) => {
        const status = shown.get(order)
        return status === undefined ? isHidden(orders.get(order), page?.status) : orders.get(order) === status
      })
    return { matches, isNews: covered.some((order) => shown.has(order)) }
  }
}

/** Whether the page would show this id if it could. */
function covers({ page, hasNext, body }: Exchange, id: number): boolean {
  if (page === undefined || id <= page.after) return false
  const last = (body as (Pet | Order)[]).at(-1)?.id ?? 0
  return !hasNext || id < last
}

/** Whether a list with this filter shows nothing of this status. */
function isHidden(status: string | undefined, filter: string | undefined): boolean {
  return status === undefined || (filter !== undefined && status !== filter)
}

function refusalOf({ operation, id = 0, code, wanted }: Exchange, petId: number, owners: Owners): Shown | undefined {
  const isAboutOrder = operation === 'getOrder' || operation === 'updateOrder'
  if ((isAboutOrder ? owners.petOf(id) : id) !== petId) return undefined
  const asked = (wanted?.status ?? 'placed') as Order['status']
  const isRefused = (status: Order['status']) => status !== asked && !statusesBefore[asked].includes(status)
  switch (code) {
    case 'pet_not_found':
    case 'unknown_pet':
      return { matches: ({ pet }) => pet === undefined, isNews: false }
    case 'order_not_found':
      return { matches: ({ orders }) => !orders.has(id), isNews: false }
    case 'pet_not_available':
      return { matches: ({ pet }) => pet !== undefined && pet !== 'available', isNews: true }
    case 'order_transition_invalid':
      return { matches: ({ orders }) => [orders.get(id)].some((is) => is !== undefined && isRefused(is)), isNews: true }
    default:
      return undefined
  }
}
