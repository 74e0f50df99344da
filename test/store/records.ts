import type { EventContext as OfStream } from '../../src/engine/definition/event-codec.ts'
import type { OrderEvent } from '../../src/store/events.ts'
import type { OrderId } from '../../src/store/order.ts'
import type { NewPet, Pet, PetId } from '../../src/store/pet.ts'
import {
  type AnyRecord,
  altered,
  discard as discardOf,
  newerEvent as newerSeat,
  record,
} from '../engine/projector/records.ts'
import { encodeEvent, petstore } from './petstore.ts'

type EventContext = Omit<OfStream, 'stream'>
const context: EventContext = { eventId: 'event', version: 1, time: '2026-11-20T09:30:00.000Z' }

export function petCreated(pet: Partial<NewPet> & { id: number }, over: Partial<EventContext> = {}): AnyRecord {
  const defaults: NewPet = { name: `pet ${pet.id}`, categoryId: 1, status: 'available' }
  const complete = { ...defaults, ...pet, id: pet.id as PetId }
  const { key, value } = encodeEvent({ type: 'PetCreated', pet: complete }, { ...context, ...over })
  return record(value, key)
}

export function petChanged(pet: Partial<NewPet> & { id: number }, over: Partial<EventContext> = {}): AnyRecord {
  const complete: Pet = { name: 'changed', categoryId: 1, status: 'available', ...pet, id: pet.id as PetId }
  const { key, value } = encodeEvent({ type: 'PetChanged', pet: complete }, { ...context, ...over })
  return record(value, key)
}

export function petRemoved(petId: number, over: Partial<EventContext> = {}): AnyRecord {
  const { key, value } = encodeEvent({ type: 'PetRemoved', petId: petId as PetId }, { ...context, ...over })
  return record(value, key)
}

export function orderEvent(
  type: OrderEvent['type'],
  petId: number,
  orderId: number,
  version: number,
  over: Partial<EventContext> = {},
): AnyRecord {
  const event = { type, petId: petId as PetId, orderId: orderId as OrderId }
  const { key, value } = encodeEvent(event, { ...context, version, ...over })
  return record(value, key)
}

export const discard = (stream: string, offset: number) => discardOf(stream, offset, petstore.events)

/** An event of a type that only a newer release knows. */
export const newerEvent = (stream: string, version: unknown, attributes: Record<string, unknown> = {}) =>
  altered(newerSeat(stream, version), { type: 'petstore.PetMoved.v1', source: '/v1/pets', ...attributes })
