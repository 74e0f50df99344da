import { type Static, Type } from 'typebox'
import type { RequestIdentity } from '../command-handling/request-identity.ts'
import { type CloudEvent, cloudEventMediaType } from '../event-log/cloud-event.ts'
import type { NewRecord, Offset } from '../event-log/event-log.ts'
import { compileCheck } from '../lib/validation.ts'
import { envelopeAttributes, eventSource } from './envelope.ts'
import { decodeEventDiscarded, eventDiscardedType } from './event-discarded.ts'
import { type Pet, type PetId, PetSchema, petDocument, WrittenPet } from './pet.ts'

/** A pet was added to the store. The only fact this service records so far. */
export interface PetCreated {
  readonly type: 'PetCreated'
  readonly pet: Pet
}
export type PetEvent = PetCreated

export const petCreatedType = 'petstore.PetCreated.v1'
const headers = { 'content-type': cloudEventMediaType }

/** The published schema of a PetCreated record value, version 1: a CloudEvent whose data is the complete pet. */
export const PetCreatedSchema = Type.Object(
  {
    ...envelopeAttributes(petCreatedType, {
      id: 'Unique per event: two records with one id are one event',
      subject: 'The pet id in decimal, as is the record key',
    }),
    traceparent: Type.Optional(Type.String({ description: 'W3C Trace Context of the request that added the pet' })),
    idempotencykey: Type.Optional(
      Type.String({ description: 'Events with the same one are one: the first in the log counts, the others do not' }),
    ),
    requestfingerprint: Type.Optional(
      Type.String({ description: 'Differs where requests under one idempotency key asked for different pets' }),
    ),
    data: PetSchema,
  },
  { title: petCreatedType, description: 'A pet was added to the store' },
)

export interface EventContext {
  /** Unique per event (CloudEvents id). */
  readonly eventId: string
  readonly time: Date
  /** W3C Trace Context of the request, where it had one. */
  readonly traceparent?: string | undefined
  /** Of the request, where it had an Idempotency-Key. */
  readonly identity?: RequestIdentity | undefined
}

let writtenAt = Number.NaN
let written = ''

/** RFC 3339. Under load many events share a millisecond. */
function timeText(time: Date): string {
  if (time.getTime() !== writtenAt) {
    written = time.toISOString()
    writtenAt = time.getTime()
  }
  return written
}

/** The record that says `pet` was created: key = pet id, so that all events of a pet share a partition. */
export function petCreatedRecord(pet: Pet, { eventId, time, traceparent, identity }: EventContext): NewRecord {
  const trace = traceparent === undefined ? '' : `,"traceparent":${JSON.stringify(traceparent)}`
  const duplicates = identity
    ? `,"idempotencykey":"${identity.key}","requestfingerprint":"${identity.fingerprint}"`
    : ''
  return {
    key: String(pet.id),
    value:
      `{"specversion":"1.0","id":"${eventId}","type":"${petCreatedType}","source":"${eventSource}","subject":"${pet.id}",` +
      `"time":"${timeText(time)}","datacontenttype":"application/json"${trace}${duplicates},"data":${petDocument(pet)}}`,
    headers,
  }
}

export type DecodedEvent =
  | { readonly outcome: 'event'; readonly event: PetEvent }
  | { readonly outcome: 'discard'; readonly offset: Offset }
  | { readonly outcome: 'unknown_type' }
  | { readonly outcome: 'unreadable'; readonly reason: string }

const anyVersion = /^petstore\.(PetCreated|EventDiscarded)\.v(\d+)$/
const checkPet = compileCheck(PetSchema)

/** Reads the event in an envelope. A known type in an unknown version, or with data that breaks its schema, is unreadable. */
export function decodePetEvent({ type, data }: CloudEvent): DecodedEvent {
  if (type === petCreatedType) return decodePet(data)
  if (type === eventDiscardedType) return decodeEventDiscarded(data)
  const [, name, version] = anyVersion.exec(type) ?? []
  if (version === undefined) return { outcome: 'unknown_type' }
  return { outcome: 'unreadable', reason: `version ${version} of ${name} is not known` }
}

function decodePet(data: unknown): DecodedEvent {
  if (data instanceof WrittenPet) return { outcome: 'event', event: { type: 'PetCreated', pet: data } }
  const problem = checkPet(data)
  if (problem !== undefined) return { outcome: 'unreadable', reason: `data: ${problem}` }
  const { id, name, categoryId, status } = data as Static<typeof PetSchema>
  return {
    outcome: 'event',
    event: { type: 'PetCreated', pet: { id: id as PetId, name, categoryId, status } },
  }
}
