import { takeRecord } from '../../examples/journal/rule.ts'
import { MapMemory } from '../store/reference-consumer.ts'
import { type Contradiction, contradiction, type Exchange, eventIn, type LogRecord, type Order } from './history.ts'
import { collectionOf, isOf } from './operations.ts'
import type { Effective, State } from './prefixes.ts'
import { documentOf, type Effect, type JudgedService, type Rule, type ShownDocument } from './service.ts'
import { membersOf, textOf } from './values.ts'

export const petstore: JudgedService = {
  collections: ['pets', 'orders', 'categories'],
  newRule: (partitionFor) => new PetstoreRule(partitionFor),
  drawnIn,
  isNew,
  isChange,
  isSo,
  reasons: {
    pet_is_ordered: ({ id = 0 }, prefixes) => ({
      document: prefixes.document('held', id),
      holds: (state) => state?.status === 'held',
    }),
    unknown_pet: ({ id = 0 }, prefixes) => ({
      document: prefixes.document('pets', id),
      holds: (state) => state === undefined,
    }),
    pet_not_available: ({ id = 0 }, prefixes) => ({
      document: prefixes.document('pets', id),
      holds: (state) => state !== undefined && state.status !== 'available',
    }),
    order_transition_invalid: ({ id = 0, wanted }, prefixes) => ({
      document: prefixes.document('orders', id),
      holds: (state?: State) => state !== undefined && !mayBecome(state.status, wanted?.status),
    }),
  },
  checkEffects: checkOverlaps,
}

/** The published rule for consumers. */
class PetstoreRule implements Rule {
  readonly #memory = new MapMemory()
  readonly #partitionFor: (key: string) => number

  constructor(partitionFor: (key: string) => number) {
    this.#partitionFor = partitionFor
  }

  versionOf(stream: string): number {
    return this.#memory.versionOf(stream)
  }

  take({ partition, key, value }: LogRecord): Effect | undefined {
    const bytes = { partition, key: bytesOf(key), value: bytesOf(value) }
    const effect = takeRecord(bytes, this.#memory, this.#partitionFor)
    if (effect === undefined) return undefined
    const { type, pet, order, category } = effect
    if (category !== undefined) return { type, shown: [{ collection: 'categories', document: category }] }
    const shown: ShownDocument[] = [{ collection: 'pets', document: pet }]
    if (order === undefined) return { type, shown }
    const held = { id: pet.id, status: isOpen(order) ? 'held' : 'free' }
    return {
      type,
      shown: [...shown, { collection: 'orders', document: order }, { collection: 'held', document: held }],
    }
  }
}

function bytesOf(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text)
}

function drawnIn(record: LogRecord): ReturnType<JudgedService['drawnIn']> {
  const { type, data } = eventIn(record) ?? {}
  const [, collection, id] = /^(?:(categories)\/)?(\d+)$/.exec(String(record.key)) ?? []
  if (/^petstore\.(PetCreated|CategoryAdded)\.v\d+$/.test(String(type)))
    return { collection: collection === undefined ? 'pets' : 'categories', id: Number(id) }
  return type === placedType ? { collection: 'orders', id: Number(membersOf(data).orderId) } : undefined
}

const placedType = 'petstore.OrderPlaced.v1'
const removedTypes: ReadonlySet<string> = new Set(['petstore.PetRemoved.v1', 'petstore.CategoryRemoved.v1'])
const changedType = /^petstore\.(Pet|Category)Changed\.v\d+$/

/** Whether it has what was asked for, and nothing else but its id and what a pet or an order has by itself. */
function isNew({ operation, id, wanted }: Exchange, document: unknown): boolean {
  const members = membersOf(document)
  if (operation === 'placeOrder')
    return members.petId === id && members.status === 'placed' && members.placedAt === members.updatedAt
  const own = operation === 'createPet' ? { status: 'available' } : {}
  return textOf({ id: members.id, ...own, ...wanted }) === textOf(document)
}

function isChange(exchange: Exchange, effect: Effective): boolean {
  const { operation, id = 0, wanted } = exchange
  const document = documentOf(effect, collectionOf(operation), id)
  if (document === undefined) return false
  if (isOf(exchange, 'remove')) return removedTypes.has(effect.type)
  if (operation === 'updateOrder') return effect.type === `petstore.Order${capitalized(wanted?.status ?? '')}.v1`
  return changedType.test(effect.type) && isSo(wanted, document)
}

function isSo(wanted: Exchange['wanted'], document: unknown): boolean {
  return Object.entries(wanted ?? {}).every(
    ([name, value]) => String(membersOf(document)[name]) === String(value ?? undefined),
  )
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

const followers: Readonly<Record<Order['status'], readonly string[]>> = {
  placed: ['approved', 'cancelled'],
  approved: ['delivered', 'cancelled'],
  delivered: [],
  cancelled: [],
}

function mayBecome(status: string, wanted: string | undefined): boolean {
  return status === wanted || followers[status as Order['status']].includes(wanted ?? '')
}

function isOpen({ status }: Pick<Order, 'status'>): boolean {
  return status === 'placed' || status === 'approved'
}

/** A pet has one open order at most. The effects of each partition are in log order. */
export function* checkOverlaps(effects: readonly Effective[]): Generator<Contradiction> {
  const openOf = new Map<number, Map<number, Effective>>()
  for (const effect of effects) {
    const order = effect.shown.find(({ collection }) => collection === 'orders')?.document as Order | undefined
    if (order === undefined) continue
    const open = openOf.get(order.petId) ?? new Map<number, Effective>()
    openOf.set(order.petId, open)
    if (isOpen(order)) open.set(order.id, effect)
    else open.delete(order.id)
    if (open.size < 2) continue
    const at = effect.record.offset
    const what = `Pet ${order.petId} has ${open.size} open orders at offset ${at}: ${[...open.keys()].join(', ')}.`
    const records = [...open.values()].map((each) => each.record)
    yield contradiction('orders overlap', what, [], records.slice(-5))
  }
}
