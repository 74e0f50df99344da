import { randomUUIDv7 } from 'node:crypto'
import { type NewPet, type Pet, type PetId, petDocument } from '../domain/pet.ts'
import { petCreatedRecord } from '../domain/pet-created.ts'
import type { EventLog, NewRecord, Position } from '../event-log/event-log.ts'
import type { PetIds } from './pet-ids.ts'
import { eventIdOf, type RequestIdentity } from './request-identity.ts'

/** Where a new record goes in: `GroupCommit` in production. */
export interface Appender {
  /** The partition whose batch is being gathered now. */
  readonly gathering: number
  /** Resolves once the record is durable. Throws ServiceError overloaded, event_log_unavailable, append_outcome_unknown. */
  append(partition: number, record: NewRecord): Promise<Position>
}

export interface CreateRequest {
  readonly traceparent?: string | undefined
  /** Of a request that may have been sent before. */
  readonly identity?: RequestIdentity | undefined
}

export interface CreatedPet {
  readonly id: PetId
  /** The pet as JSON text. */
  readonly document: string
  /** Where its PetCreated event stands in the log. */
  readonly position: Position
}

export type CreatePet = (newPet: NewPet, request: CreateRequest) => Promise<CreatedPet>

export interface CreatePetParts {
  readonly log: Pick<EventLog, 'partitionFor'>
  readonly appender: Appender
  readonly ids: PetIds
  readonly now: () => Date
}

/**
 * The command: gives the pet an id and appends its PetCreated event. Resolves once the event is durable; with an identity
 * it may still turn out to be a duplicate.
 */
export function createPetCommand({ log, appender, ids, now }: CreatePetParts): CreatePet {
  return async (newPet, { traceparent, identity }) => {
    // All events of one key stand in one partition, where their order decides between them.
    const choosePartition = () => (identity ? log.partitionFor(identity.key) : appender.gathering)
    let partition = choosePartition()
    let id = ids.draw(partition)
    while (id === undefined) {
      await ids.refill()
      partition = choosePartition() // the batch gathered before the wait may have left
      id = ids.draw(partition)
    }
    const pet: Pet = { id, ...newPet }
    const eventId = identity ? eventIdOf(identity) : randomUUIDv7()
    const record = petCreatedRecord(pet, { eventId, time: now(), traceparent, identity })
    const position = await appender.append(partition, record)
    return { id, document: petDocument(pet), position }
  }
}
