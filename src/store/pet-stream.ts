import { IdTakenError, type Int64, parseExactJson, Rejected, type Stream } from '../engine/index.ts'
import type { errors } from './errors.ts'
import type { OrderEvent, PetChanged, PetEvent } from './events.ts'
import { type Order, type OrderId, type OrderStatus, orderStatuses } from './order.ts'
import { type NewPet, type Pet, type PetChange, type PetId, type PetStatus, petDocument } from './pet.ts'

/** The state of a pet and its latest order. Earlier orders are cancelled, and final. */
export interface PetState {
  readonly pet: Pet
  readonly order: Order | undefined
  /** The pet is gone for good, and its order is final. */
  readonly isRemoved?: true
}

export type PetCommand =
  | { readonly type: 'createPet'; readonly id: PetId; readonly newPet: NewPet }
  | { readonly type: 'changePet'; readonly id: PetId; readonly change: PetChange }
  | { readonly type: 'removePet'; readonly id: PetId }
  | { readonly type: 'placeOrder'; readonly orderId: OrderId; readonly petId: Int64 }
  | { readonly type: 'updateOrder'; readonly orderId: OrderId; readonly status: OrderStatus }
type Command<Type> = Extract<PetCommand, { type: Type }>

/**
 * For each status of an order: the event that leads to it, the statuses it may follow, and the resulting status of the
 * pet.
 */
const transitions: Readonly<
  Record<OrderStatus, { event: OrderEvent['type']; from: readonly OrderStatus[]; pet: PetStatus }>
> = {
  placed: { event: 'OrderPlaced', from: [], pet: 'pending' },
  approved: { event: 'OrderApproved', from: ['placed'], pet: 'pending' },
  delivered: { event: 'OrderDelivered', from: ['approved'], pet: 'sold' },
  cancelled: { event: 'OrderCancelled', from: ['placed', 'approved'], pet: 'available' },
}

const statusAfter = Object.fromEntries(orderStatuses.map((status) => [transitions[status].event, status])) as Readonly<
  Record<OrderEvent['type'], OrderStatus>
>

type State = PetState | undefined
/** Those of the store, of its resources, and of the engine. */
type PetError = keyof typeof errors | 'pet_not_found' | 'order_not_found' | 'conflict'
type PetStream = Stream<State, PetCommand, PetEvent, PetError>
type Refused = Rejected<PetError>

export const decide: PetStream['decide'] = (command, state) => {
  switch (command.type) {
    case 'createPet':
      return createPet(command, state)
    case 'changePet':
      return changePet(command, state)
    case 'removePet':
      return removePet(command, state)
    case 'placeOrder':
      return placeOrder(command, state)
    case 'updateOrder':
      return updateOrder(command, state)
  }
}

export const evolve: PetStream['evolve'] = (state, { event, time }) => {
  if (event.type === 'PetCreated') {
    if (state !== undefined) throw new Error(`pet ${event.pet.id} exists already`)
    return { pet: event.pet, order: undefined }
  }
  const id = event.type === 'PetChanged' ? event.pet.id : event.petId
  if (state === undefined) throw new Error(`there is no pet ${id}`)
  if (id !== state.pet.id) throw new Error(`the event is about pet ${id}`)
  if (state.isRemoved) throw new Error(`pet ${id} is removed`)
  if (event.type === 'PetChanged') return evolvePet(state, event)
  if (event.type !== 'PetRemoved') return evolveOrder(state, event, time)
  if (isOpen(state.order)) throw new Error(`order ${state.order.id} holds pet ${id}`)
  return { ...state, isRemoved: true }
}

function createPet({ id, newPet }: Command<'createPet'>, state: State): PetEvent | Refused {
  if (state !== undefined) return new Rejected('conflict', `Pet ${id} exists already.`)
  return { type: 'PetCreated', pet: { id, ...newPet } }
}

function changePet({ id, change }: Command<'changePet'>, state: State): PetEvent | 'unchanged' | Refused {
  if (state === undefined || state.isRemoved) return new Rejected('pet_not_found', `There is no pet ${id}.`)
  const { pet } = state
  const { name, categoryId, description } = { ...pet, ...change }
  const text = description ?? undefined
  if (name === pet.name && categoryId === pet.categoryId && text === pet.description) return 'unchanged'
  const changed = { id: pet.id, name, categoryId, status: pet.status, ...(text !== undefined && { description: text }) }
  return { type: 'PetChanged', pet: changed }
}

function removePet({ id }: Command<'removePet'>, state: State): PetEvent | 'unchanged' | Refused {
  if (state === undefined) return new Rejected('pet_not_found', `There is no pet ${id}.`)
  if (state.isRemoved) return 'unchanged'
  const { pet, order } = state
  if (isOpen(order))
    return new Rejected('pet_is_ordered', `Pet ${pet.id} is ${pet.status}: order ${order.id} holds it.`)
  return { type: 'PetRemoved', petId: pet.id }
}

/** Whether the order may still change, and holds its pet. */
function isOpen(order: Order | undefined): order is Order {
  return order?.status === 'placed' || order?.status === 'approved'
}

function placeOrder({ orderId, petId }: Command<'placeOrder'>, state: State): PetEvent | Refused {
  if (state === undefined || state.isRemoved) return new Rejected('unknown_pet', `There is no pet ${petId}.`)
  const { pet, order } = state
  if (pet.status === 'available') return { type: 'OrderPlaced', orderId, petId: pet.id }
  const holder = order === undefined ? `it was added as ${pet.status}` : `order ${order.id} holds it`
  return new Rejected('pet_not_available', `Pet ${petId} is ${pet.status}: ${holder}.`)
}

function updateOrder(command: Command<'updateOrder'>, state: State): PetEvent | 'unchanged' | Refused {
  const { orderId, status } = command
  if (state?.order === undefined) return new Rejected('order_not_found', `There is no order ${orderId}.`)
  const current = state.order.id === orderId ? state.order.status : 'cancelled'
  if (current === status) return 'unchanged'
  const { event, from } = transitions[status]
  if (!from.includes(current)) {
    return new Rejected('order_transition_invalid', `Order ${orderId} is ${current} and cannot become ${status}.`)
  }
  return { type: event, orderId, petId: state.pet.id }
}

/** Orders alone change the status: an event that would is none of ours. */
function evolvePet(state: PetState, { pet }: PetChanged): PetState {
  if (pet.status !== state.pet.status) throw new Error(`pet ${pet.id} is ${state.pet.status}, not ${pet.status}`)
  return { ...state, pet }
}

function evolveOrder(state: PetState, event: OrderEvent, time: string): PetState {
  const { pet, order } = state
  const status = statusAfter[event.type]
  const at = utc(time)
  const { from, pet: petStatus } = transitions[status]
  const changed = pet.status === petStatus ? pet : { ...pet, status: petStatus }
  if (status === 'placed') {
    if (pet.status !== 'available') throw new Error(`pet ${pet.id} is ${pet.status}, not available`)
    if (order?.id === event.orderId) throw new IdTakenError(`order ${order.id} exists already`)
    return { pet: changed, order: { id: event.orderId, petId: pet.id, status, placedAt: at, updatedAt: at } }
  }
  if (order?.id !== event.orderId) throw new Error(`order ${event.orderId} is not the latest of pet ${pet.id}`)
  if (!from.includes(order.status)) throw new Error(`order ${order.id} is ${order.status}: it cannot become ${status}`)
  const updatedAt = at > order.updatedAt ? at : order.updatedAt
  return { pet: changed, order: { ...order, status, updatedAt } }
}

/** RFC 3339 in UTC with milliseconds, so that texts compare as the times do. */
export function utc(time: string): string {
  const at = new Date(time)
  const year = at.getUTCFullYear()
  if (!(year >= 0 && year <= 9999)) throw new Error(`not a time: ${JSON.stringify(time)}`)
  return at.toISOString()
}

const removedMark = 'removed'

/** The pet's document, and behind it words: those of the latest order, and whether the pet is removed. None has a brace. */
export const petState: NonNullable<PetStream['state']> = {
  write(state, document) {
    if (state === undefined) return ''
    const { pet, order, isRemoved } = state
    const words = order === undefined ? [] : [order.id, order.status, order.placedAt, order.updatedAt]
    return (document ?? petDocument(pet)) + [...words, ...(isRemoved ? [removedMark] : [])].join(' ')
  },
  read(text) {
    if (text === '') return undefined
    const end = text.lastIndexOf('}') + 1
    const pet = parseExactJson(text.slice(0, end)) as Pet
    if (end === text.length) return { pet, order: undefined }
    const words = text.slice(end).split(' ')
    const removed = words.at(-1) === removedMark ? ({ isRemoved: true } as const) : {}
    const [id = '', status, placedAt = '', updatedAt = ''] = words
    if (placedAt === '') return { pet, order: undefined, ...removed }
    const order = { id: Number(id) as OrderId, petId: pet.id, status: status as OrderStatus, placedAt, updatedAt }
    return { pet, order, ...removed }
  },
}
