import { v7 as uuidv7 } from 'uuid'
import type { NewRecord, Position } from '../event-log/event-log.ts'
import type { NewPet, Pet } from './pet.ts'
import { petCreatedRecord } from './pet-created.ts'
import type { PetIds } from './pet-ids.ts'

/** Where a new record goes in: `GroupCommit` in production. */
export interface Appender {
  /** The partition whose batch is being gathered now. */
  readonly gathering: number
  /** Resolves once the record is durable. Throws ServiceError overloaded, event_log_unavailable, append_outcome_unknown. */
  append(partition: number, record: NewRecord): Promise<Position>
}

export interface CreatedPet {
  readonly pet: Pet
  /** Where its PetCreated event stands in the log. */
  readonly position: Position
}

export type CreatePet = (newPet: NewPet, request: { traceparent?: string | undefined }) => Promise<CreatedPet>

/** The command: gives the pet an id and appends its PetCreated event. Resolves once the event is durable. */
export function createPetCommand(appender: Appender, ids: PetIds, now: () => Date): CreatePet {
  return async (newPet, { traceparent }) => {
    let partition = appender.gathering
    let id = ids.draw(partition)
    while (id === undefined) {
      await ids.refill()
      partition = appender.gathering // the batch gathered before the wait may have left
      id = ids.draw(partition)
    }
    const pet: Pet = { id, ...newPet }
    const record = petCreatedRecord(pet, { eventId: uuidv7(), time: now(), traceparent })
    return { pet, position: await appender.append(partition, record) }
  }
}
