import { type NewPet, type PetId, petDocument } from '../domain/pet.ts'
import type { PetReads } from '../domain/read-pets.ts'
import type { EventLog, Position } from '../event-log/event-log.ts'
import { errorFacts, ServiceError } from '../lib/errors.ts'
import type { Wait } from '../read-models/applied-progress.ts'
import type { KeyDecision } from '../read-models/key-decision.ts'
import type { CreatedPet, CreatePet, CreateRequest } from './create-pet.ts'
import type { RequestIdentity } from './request-identity.ts'

/** What idempotency keys come to: the first event in log order, as the projector finds it. */
export interface Decisions {
  /** Undefined where nothing is known yet. Throws ServiceError read_model_rebuilding or read_model_unavailable. */
  decision(key: string): Promise<KeyDecision | undefined>
  /** Resolves to whether the position was applied to the read model within the time. Never rejects. */
  whenApplied(position: Position, wait: Wait): Promise<boolean>
  /** Whether the record at a position that was waited for is known to be parked. */
  isParked(position: Position): boolean
}

export interface CreatedOnce extends CreatedPet {
  /** Whether an earlier request under the key created the pet. */
  readonly replayed: boolean
}

export interface IdentifiedRequest extends CreateRequest, Pick<Wait, 'isAbandoned'> {
  readonly identity: RequestIdentity
}
export type CreatePetOnce = (newPet: NewPet, request: IdentifiedRequest) => Promise<CreatedOnce>

export interface CreatePetOnceParts {
  readonly log: Pick<EventLog, 'partitionFor'>
  readonly createPet: CreatePet
  readonly decisions: Decisions
  readonly pets: Pick<PetReads, 'find'>
  /** From the request to its answer. */
  readonly timeoutMs: number
}

/**
 * The command for requests that may come more than once: of all with one key, on any instance, one creates a pet and the
 * others get that one (decision 0012). Resolves once the key is decided, so that no duplicate can take the answer back.
 * Throws ServiceError idempotency_key_reused, event_parked; append_outcome_unknown also for a stored event that is not
 * decided in time; what reading throws, if that was before anything was stored.
 */
export function createPetOnceCommand(parts: CreatePetOnceParts): CreatePetOnce {
  const { log, createPet, decisions, pets, timeoutMs } = parts

  async function decided(key: string, position: Position, wait: Wait): Promise<KeyDecision> {
    const isApplied = await decisions.whenApplied(position, wait)
    const decision = isApplied ? await afterAppend(decisions.decision(key)) : undefined
    if (decision === undefined) throw undecided()
    return decision
  }

  async function replay({ key, offset, subject, fingerprint }: KeyDecision, newPet: NewPet, asked: string) {
    if (fingerprint !== asked) {
      throw new ServiceError('idempotency_key_reused', 'Another pet was sent under this Idempotency-Key before.')
    }
    const id = Number(subject) as PetId
    const document = Number.isSafeInteger(id) ? await pets.find(BigInt(id)) : undefined
    // Pets never change: another one under this id is that of another event, for which the event of this key is parked.
    if (document === undefined || document !== petDocument({ id, ...newPet })) throw eventParked()
    return { id, document, position: { partition: log.partitionFor(key), offset }, replayed: true }
  }

  return async (newPet, request) => {
    const { identity, isAbandoned } = request
    const { key, fingerprint } = identity
    const deadline = performance.now() + timeoutMs
    const earlier = await decisions.decision(key)
    if (earlier !== undefined) return await replay(earlier, newPet, fingerprint)
    const created = await createPet(newPet, request)
    const decision = await decided(key, created.position, { timeoutMs: deadline - performance.now(), isAbandoned })
    if (decisions.isParked(created.position)) throw eventParked()
    if (decision.subject === String(created.id)) return { ...created, replayed: false }
    return await afterAppend(replay(decision, newPet, fingerprint))
  }
}

/** With the event stored, a read model that is away must not make the answer say that nothing is. */
async function afterAppend<T>(read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (error) {
    const isAway = error instanceof ServiceError && errorFacts[error.code].retryable
    throw isAway ? undecided(error) : error
  }
}

function undecided(cause?: unknown): ServiceError {
  const message =
    'The write is stored, but not yet known to be the first under its Idempotency-Key. Send it again with the same key.'
  return new ServiceError('append_outcome_unknown', message, { cause })
}

/** The truth about a pet that is in the log, and that nobody will see unless an operator does something about it. */
export function eventParked(): ServiceError {
  return new ServiceError('event_parked', 'The pet is stored, but its event could not be applied and is set aside.')
}
