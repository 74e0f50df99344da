import { hash } from 'node:crypto'
import { v5 as uuidv5 } from 'uuid'
import type { NewPet } from '../domain/pet.ts'

/** What tells that two requests are one: it travels in the event, so that the log alone decides between duplicates. */
export interface RequestIdentity {
  /** 22 characters. The same for every request of one API key under one Idempotency-Key, and tells neither. */
  readonly key: string
  /** 22 characters. The same for every request with the same pet, however its JSON is written. */
  readonly fingerprint: string
}

const digestLength = 22 // 132 bits

export function requestIdentity(apiKeyId: string, idempotencyKey: string, pet: NewPet): RequestIdentity {
  const { name, categoryId, status } = pet
  return {
    key: digest([apiKeyId, idempotencyKey]),
    fingerprint: digest([name, String(categoryId), status]),
  }
}

function digest(parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, digestLength)
}

const eventIds = '0d5e3a4c-7f0b-4f3e-9a53-5a3f0c1f6d52'

/** The CloudEvents id of the event of a request: one for all its duplicates, which consumers drop by that. */
export function eventIdOf({ key }: RequestIdentity): string {
  return uuidv5(key, eventIds)
}
