import { expect } from 'vitest'
import { errorFacts, ServiceError } from '../../../src/lib/errors.ts'
import type { Creation } from './api-process.ts'
import type { Create } from './clients.ts'
import { isWhatWasAskedFor, petsOf, type StoredPet } from './log-contents.ts'

/** Every answer to a POST is true. */
export function checkCreates(creates: readonly Create[], stored: readonly StoredPet[]): void {
  const pets = petsOf(stored)
  for (const create of creates) {
    if (create.answer !== undefined) checkCreated(create, create.answer, pets)
    else if (create.failure instanceof ServiceError) checkFailed(create, create.failure, stored)
    else if (create.answered !== undefined) throw create.failure // a bug: every failure has a code
  }
}

/** The pet is there once, where it was said to be, as it was asked for, and is the one of the request's key. */
function checkCreated({ traceparent, pet, key }: Create, answer: Creation, pets: readonly StoredPet[]): void {
  const { id, document, position, replayed } = answer
  const found = pets.filter((each) => each.id === id)
  expect(found, `${traceparent} created pet ${id}`).toEqual([expect.objectContaining({ document, position, key })])
  for (const each of found) {
    expect(isWhatWasAskedFor(each, pet), `${traceparent} asked for pet ${id}`).toBe(true)
    expect(each.traceparent !== traceparent, `${traceparent} is a replay`).toBe(replayed)
  }
}

/** What failed without effect is nowhere; what was refused for its key has found another pet under it. */
function checkFailed({ traceparent, key, pet }: Create, { code }: ServiceError, stored: readonly StoredPet[]): void {
  const pets = petsOf(stored)
  if (code === 'idempotency_key_reused') {
    const decided = pets.filter((each) => each.key === key).map((each) => isWhatWasAskedFor(each, pet))
    expect(decided, `${traceparent} asked for the pet under its key`).toEqual([false])
  } else if (errorFacts[code].effect === 'none') {
    const found = stored.filter((each) => each.traceparent === traceparent)
    expect(found, `${traceparent} had no effect: ${code}`).toEqual([])
  } else {
    expect(code, `${traceparent} failed`).toBe('append_outcome_unknown')
  }
}
