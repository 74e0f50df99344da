import type { CategoryId } from '../../src/store/category.ts'
import type { OrderEvent } from '../../src/store/events.ts'
import type { OrderId } from '../../src/store/order.ts'
import type { NewPet, Pet, PetId } from '../../src/store/pet.ts'
import {
  type AnyRecord,
  altered,
  discard as discardOf,
  type EventContext,
  newerEvent as newerSeat,
  writtenBy,
} from '../engine/projector/records.ts'
import { encodeEvent, petstore } from './petstore.ts'

const written = writtenBy(encodeEvent)

export function petCreated(pet: Partial<NewPet> & { id: number }, over: Partial<EventContext> = {}): AnyRecord {
  const defaults: NewPet = { name: `pet ${pet.id}`, categoryId: 1, status: 'available' }
  const complete = { ...defaults, ...pet, id: pet.id as PetId }
  return written({ type: 'PetCreated', pet: complete }, over)
}

export function petChanged(pet: Partial<NewPet> & { id: number }, over: Partial<EventContext> = {}): AnyRecord {
  const complete: Pet = { name: 'changed', categoryId: 1, status: 'available', ...pet, id: pet.id as PetId }
  return written({ type: 'PetChanged', pet: complete }, over)
}

export function petRemoved(petId: number, over: Partial<EventContext> = {}): AnyRecord {
  return written({ type: 'PetRemoved', petId: petId as PetId }, over)
}

interface SaidOfCategory {
  readonly id: number
  readonly name?: string
  readonly description?: string
}

export function categoryAdded({ id, ...category }: SaidOfCategory, over: Partial<EventContext> = {}): AnyRecord {
  return written({ type: 'CategoryAdded', id: id as CategoryId, name: `category ${id}`, ...category }, over)
}

export function categoryChanged({ id, ...category }: SaidOfCategory, over: Partial<EventContext> = {}): AnyRecord {
  return written({ type: 'CategoryChanged', id: id as CategoryId, name: 'changed', ...category }, over)
}

export function categoryRemoved(id: number, over: Partial<EventContext> = {}): AnyRecord {
  return written({ type: 'CategoryRemoved', categoryId: id as CategoryId }, over)
}

export function orderEvent(
  type: OrderEvent['type'],
  petId: number,
  orderId: number,
  version: number,
  over: Partial<EventContext> = {},
): AnyRecord {
  const event = { type, petId: petId as PetId, orderId: orderId as OrderId }
  return written(event, { version, ...over })
}

export const discard = (stream: string, offset: number) => discardOf(stream, offset, petstore.events)

/** An event of a type that only a newer release knows. */
export const newerEvent = (stream: string, version: unknown, attributes: Record<string, unknown> = {}) =>
  altered(newerSeat(stream, version), { type: 'petstore.PetMoved.v1', source: '/v1/pets', ...attributes })
