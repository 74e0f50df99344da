import type { RequestIdentity } from '../../src/command-handling/request-identity.ts'
import type { NewPet, PetId } from '../../src/domain/pet.ts'
import { petCreatedRecord } from '../../src/domain/pet-created.ts'
import type { LogRecord } from '../../src/event-log/event-log.ts'

export function record(offset: number, value: string | Buffer | null, key: string | null = null): LogRecord {
  return { offset, key: key === null ? null : Buffer.from(key), value: value === null ? null : Buffer.from(value) }
}

export function petCreated(
  offset: number,
  pet: Partial<NewPet> & { id: number },
  eventId = `event-${pet.id}`,
  identity?: RequestIdentity,
): LogRecord {
  const defaults: NewPet = { name: `pet ${pet.id}`, categoryId: 1n, status: 'available' }
  const complete = { ...defaults, ...pet, id: pet.id as PetId }
  const { key, value } = petCreatedRecord(complete, { eventId, time: new Date(0), identity })
  return record(offset, value, key)
}

/** A CloudEvent of a known shape with some attributes replaced; `undefined` leaves one out. */
export function foreignRecord(
  offset: number,
  attributes: Record<string, unknown>,
  key: string | null = null,
): LogRecord {
  const event = { specversion: '1.0', id: `foreign-${offset}`, type: 'petstore.PetCreated.v1', source: '/elsewhere' }
  return record(offset, JSON.stringify({ ...event, ...attributes }), key)
}
