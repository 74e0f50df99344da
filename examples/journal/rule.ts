/**
 * What a record of the journal comes to: steps 1 to 5 of the rule in docs/journal.md. It is pure and imports
 * nothing, so it can be copied as it is.
 */

export interface TopicRecord {
  readonly partition: number
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
}

export interface Pet {
  readonly id: number
  readonly name: string
  /** Any int64, so more digits than a number can hold. */
  readonly categoryId: bigint
  readonly status: 'available' | 'pending' | 'sold'
  /** From version 2 of its events on. */
  readonly description?: string
  /** It is gone for good. Remember it all the same: its id never comes again. */
  readonly isRemoved?: true
}

export interface Order {
  readonly id: number
  readonly petId: number
  readonly status: 'placed' | 'approved' | 'delivered' | 'cancelled'
  readonly placedAt: string
  readonly updatedAt: string
}

export interface Category {
  readonly id: number
  readonly name: string
  readonly description?: string
  /** As of a pet. */
  readonly isRemoved?: true
}

/** A change that took effect: the category, or the pet, and the order if the event was about one, right after it. */
export type Effect =
  | { readonly type: string; readonly pet: Pet; readonly order?: Order; readonly category?: undefined }
  | { readonly type: string; readonly category: Category; readonly pet?: undefined; readonly order?: undefined }

/** What a consumer has to remember. Store it in one step with the position in the topic, or a restart goes wrong. */
export interface Memory {
  /** The version last counted for a record key, 0 before its first event. */
  versionOf(stream: string): number
  setVersion(stream: string, version: number): void
  hasKey(partition: number, idempotencyKey: string): boolean
  addKey(partition: number, idempotencyKey: string): void
  /** Also one that is removed. */
  pet(id: number): Pet | undefined
  setPet(pet: Pet): void
  order(id: number): Order | undefined
  /** The order of the pet that is placed or approved, if there is one. */
  openOrder(petId: number): Order | undefined
  setOrder(order: Order): void
  /** Also one that is removed. */
  category(id: number): Category | undefined
  setCategory(category: Category): void
}

/** Takes the next record of its partition; undefined if it changes no pet, no order and no category. */
export function takeRecord(
  { partition, key, value }: TopicRecord,
  memory: Memory,
  /** Kafka's default partitioner. */
  partitionFor: (key: string) => number,
): Effect | undefined {
  // 1. Ignore what is not an event of a stream.
  const event = value === null ? undefined : readEvent(value)
  const stream = key === null || key.length > keyBytesMax ? undefined : readText(key)
  if (event === undefined || stream === undefined || event.subject !== stream) return undefined
  if (!event.type.startsWith('petstore.') || event.type === 'petstore.EventDiscarded.v1') return undefined
  if (partitionFor(stream) !== partition) return undefined
  const isOfCategory = stream.startsWith('categories/')
  if (stream.startsWith('pets/') || (isOfCategory && !isIdOf('categories', stream))) return undefined

  // 2. Ignore what came second.
  const isOfFirstRelease = event.type === petCreated && event.streamversion === undefined && !isOfCategory
  const version = isOfFirstRelease ? 1 : event.streamversion
  if (version !== memory.versionOf(stream) + 1) return undefined

  // 3. Ignore duplicates, uncounted.
  const { idempotencykey } = event
  const isKeyed = typeof idempotencykey === 'string'
  if (isKeyed && memory.hasKey(partition, idempotencykey)) return undefined
  const isHere = (id: number) => partitionFor(String(id)) === partition
  const effect = (changes[event.type] ?? changeOrder)(event, memory, isHere)
  if (effect === 'duplicate') return undefined

  // 4. Count every other event, known or not.
  memory.setVersion(stream, version)
  if (isKeyed) memory.addKey(partition, idempotencykey)

  // 5. Apply it, unless it cannot be read or contradicts what came before.
  if (effect?.pet !== undefined) memory.setPet(effect.pet)
  if (effect?.category !== undefined) memory.setCategory(effect.category)
  if (effect?.order !== undefined) memory.setOrder(effect.order)
  return effect
}

/** A release wrote it without a version. */
const petCreated = 'petstore.PetCreated.v1'

/** What an event about a pet or a category comes to; any other may be about an order. */
const changes: Readonly<Record<string, (event: Event, memory: Memory) => Effect | undefined>> = {
  [petCreated]: createPet,
  'petstore.PetCreated.v2': createPet,
  'petstore.PetChanged.v1': changePet,
  'petstore.PetChanged.v2': changePet,
  'petstore.PetRemoved.v1': removePet,
  'petstore.CategoryAdded.v1': addCategory,
  'petstore.CategoryChanged.v1': changeCategory,
  'petstore.CategoryRemoved.v1': removeCategory,
}

/** For each event about an order: from which statuses it leads where. Placing looks at the status of the pet. */
const transitions: Readonly<Record<string, { order: Order['status']; pet: Pet['status']; from: readonly string[] }>> = {
  'petstore.OrderPlaced.v1': { order: 'placed', pet: 'pending', from: ['available'] },
  'petstore.OrderApproved.v1': { order: 'approved', pet: 'pending', from: ['placed'] },
  'petstore.OrderDelivered.v1': { order: 'delivered', pet: 'sold', from: ['approved'] },
  'petstore.OrderCancelled.v1': { order: 'cancelled', pet: 'available', from: ['placed', 'approved'] },
}

/** A CloudEvent. What a program may write that does not keep to docs/journal.md is `unknown`. */
interface Event {
  readonly type: string
  readonly subject?: unknown
  readonly time?: unknown
  readonly streamversion?: unknown
  readonly idempotencykey?: unknown
  readonly data?: unknown
}

function createPet(event: Event, memory: Memory): Effect | undefined {
  const pet = readPet(event)
  return pet === undefined || memory.pet(pet.id) !== undefined ? undefined : { type: event.type, pet }
}

/** Orders alone change the status. */
function changePet(event: Event, memory: Memory): Effect | undefined {
  const pet = readPet(event)
  const before = pet && memory.pet(pet.id)
  const isPossible = before !== undefined && !before.isRemoved && before.status === pet?.status
  return pet !== undefined && isPossible ? { type: event.type, pet } : undefined
}

function removePet({ type, subject, data }: Event, memory: Memory): Effect | undefined {
  const { petId } = membersOf(data)
  const pet = isId(petId) && String(petId) === subject ? memory.pet(petId) : undefined
  if (pet === undefined || pet.isRemoved || memory.openOrder(pet.id) !== undefined) return undefined
  return { type, pet: { ...pet, isRemoved: true } }
}

function readPet({ subject, data }: Event): Pet | undefined {
  const { id, name, categoryId, status, description } = membersOf(data)
  if (!isId(id) || String(id) !== subject) return undefined
  if (typeof name !== 'string' || !name.isWellFormed() || !isInt64(categoryId)) return undefined
  if (status !== 'available' && status !== 'pending' && status !== 'sold') return undefined
  if (!isDescription(description)) return undefined
  return { id, name, categoryId: BigInt(categoryId), status, ...described(description) }
}

function addCategory(event: Event, memory: Memory): Effect | undefined {
  const category = readCategory(event)
  if (category === undefined || memory.category(category.id) !== undefined) return undefined
  return { type: event.type, category }
}

function changeCategory(event: Event, memory: Memory): Effect | undefined {
  const category = readCategory(event)
  const before = category && memory.category(category.id)
  if (category === undefined || before === undefined || before.isRemoved) return undefined
  return { type: event.type, category }
}

function removeCategory({ type, subject, data }: Event, memory: Memory): Effect | undefined {
  const { categoryId } = membersOf(data)
  const category = isId(categoryId) && subject === `categories/${categoryId}` ? memory.category(categoryId) : undefined
  return category === undefined || category.isRemoved ? undefined : { type, category: { ...category, isRemoved: true } }
}

function readCategory({ subject, data }: Event): Category | undefined {
  const { id, name, description } = membersOf(data)
  if (!isId(id) || subject !== `categories/${id}`) return undefined
  if (typeof name !== 'string' || !name.isWellFormed() || !isDescription(description)) return undefined
  return { id, name, ...described(description) }
}

function isDescription(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value.isWellFormed())
}

function described(description: string | undefined): { description?: string } {
  return description === undefined ? {} : { description }
}

/** A duplicate would be applied if no order had its id yet. */
function changeOrder(
  { type, subject, time, data }: Event,
  memory: Memory,
  isHere: (id: number) => boolean,
): Effect | 'duplicate' | undefined {
  const change = transitions[type]
  const { orderId, petId } = membersOf(data)
  if (change === undefined || !isId(orderId) || !isId(petId) || String(petId) !== subject) return undefined
  const pet = memory.pet(petId)
  const order = memory.order(orderId)
  const isNew = change.order === 'placed'
  if (pet === undefined || pet.isRemoved || (isNew ? !isHere(orderId) : order?.petId !== petId)) return undefined
  if (!change.from.includes((isNew ? pet.status : order?.status) ?? '')) return undefined
  const at = new Date(typeof time === 'string' && time.length <= timeMax ? time : Number.NaN)
  if (Number.isNaN(at.getTime())) return undefined
  if (isNew && order !== undefined) return 'duplicate'
  const now = at.toISOString()
  const updatedAt = order !== undefined && order.updatedAt > now ? order.updatedAt : now // clocks of instances differ
  const placedAt = order?.placedAt ?? updatedAt
  return {
    type,
    pet: { ...pet, status: change.pet },
    order: { id: orderId, petId, status: change.order, placedAt, updatedAt },
  }
}

/** What is longer is not read, whatever it is: the service does the same. */
const keyBytesMax = 128
const valueBytesMax = 16 * 1024
const timeMax = 40

function readEvent(value: Uint8Array): Event | undefined {
  if (value.length > valueBytesMax) return undefined
  try {
    const event: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(value), exactInteger)
    const { specversion, id, type, source } = membersOf(event)
    const isCloudEvent = specversion === '1.0' && [id, type, source].every((name) => typeof name === 'string' && name)
    return isCloudEvent ? (event as Event) : undefined
  } catch {
    return undefined // not UTF-8 or not JSON
  }
}

/** Keeps the digits of an integer that a number would round: the engine hands on the text as `source`. */
function exactInteger(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const text = context?.source ?? ''
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(text) ? BigInt(text) : value
}

function readText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1
}

/** Pets have their ids as record keys, and categories have their collection before it. */
function isIdOf(collection: string, stream: string): boolean {
  const id = stream.slice(collection.length + 1)
  return isId(Number(id)) && stream === `${collection}/${Number(id)}`
}

function isInt64(value: unknown): value is number | bigint {
  if (!Number.isSafeInteger(value) && typeof value !== 'bigint') return false
  return BigInt.asIntN(64, BigInt(value as number | bigint)) === BigInt(value as number | bigint)
}
