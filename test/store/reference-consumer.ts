import {
  type Category,
  type Effect,
  type Memory,
  type Order,
  type Pet,
  takeRecord,
} from '../../examples/journal/rule.ts'
import type { AnyRecord } from '../engine/projector/records.ts'

/** A consumer of one partition that knows the rule of docs/journal.md and nothing of this service: the published example. */
export class ReferenceConsumer {
  readonly pets: Record<number, Readonly<Record<string, unknown>>> = {}
  readonly orders: Record<number, Readonly<Order>> = {}
  readonly categories: Record<number, Readonly<Category>> = {}
  /** The offsets of the events that were counted and left without effect, with their streams. */
  readonly unread: { readonly stream: string; readonly offset: number }[] = []
  readonly #memory = new MapMemory()
  #offset = 0

  versionOf(stream: string): number {
    return this.#memory.versionOf(stream)
  }

  read({ key, value }: AnyRecord): Effect | undefined {
    const offset = this.#offset++
    const stream = String(key)
    const version = this.versionOf(stream)
    const effect = takeRecord({ partition: 0, key, value }, this.#memory, () => 0)
    if (effect === undefined && this.versionOf(stream) > version) this.unread.push({ stream, offset })
    if (effect === undefined) return undefined
    const { pet, order, category } = effect
    if (pet?.isRemoved) delete this.pets[pet.id]
    else if (pet !== undefined) this.pets[pet.id] = { ...pet, categoryId: Number(pet.categoryId) }
    if (category?.isRemoved) delete this.categories[category.id]
    else if (category !== undefined) this.categories[category.id] = category
    if (order !== undefined) this.orders[order.id] = order
    return effect
  }
}

/** What a consumer of any partitions remembers. */
export class MapMemory implements Memory {
  readonly #versions = new Map<string, number>()
  readonly #keys = new Set<string>()
  readonly #pets = new Map<number, Pet>()
  readonly #orders = new Map<number, Order>()
  readonly #categories = new Map<number, Category>()

  versionOf = (stream: string) => this.#versions.get(stream) ?? 0
  setVersion = (stream: string, version: number) => void this.#versions.set(stream, version)
  hasKey = (partition: number, key: string) => this.#keys.has(`${partition} ${key}`)
  addKey = (partition: number, key: string) => void this.#keys.add(`${partition} ${key}`)
  pet = (id: number) => this.#pets.get(id)
  setPet = (pet: Pet) => void this.#pets.set(pet.id, pet)
  order = (id: number) => this.#orders.get(id)
  openOrder = (id: number) =>
    [...this.#orders.values()].find(({ petId, status }) => petId === id && /placed|approved/.test(status))
  setOrder = (order: Order) => void this.#orders.set(order.id, order)
  category = (id: number) => this.#categories.get(id)
  setCategory = (category: Category) => void this.#categories.set(category.id, category)
}
