import { expect } from 'vitest'
import { petStatuses } from '../../../src/domain/pet.ts'
import { statusIndex } from '../../../src/domain/read-pets.ts'
import type { EventLog } from '../../../src/event-log/event-log.ts'
import type { Checkpoint } from '../../../src/read-models/checkpoint.ts'
import type { ReadModels } from '../../../src/read-models/read-models.ts'
import { documentsOf, petsOf, type StoredPet } from './log-contents.ts'

/** Nothing stands in the log twice, and all of it where it belongs. */
export function checkLog(log: EventLog, stored: readonly StoredPet[]): void {
  expect(new Set(stored.map(({ id }) => id)).size, 'an id is drawn once').toBe(stored.length)
  expect(new Set(stored.map(({ traceparent }) => traceparent)).size, 'a request is stored once').toBe(stored.length)
  for (const { position, id, key } of stored) {
    expect(log.partitionFor(String(id)), `partition of pet ${id}`).toBe(position.partition)
    if (key !== undefined) expect(log.partitionFor(key), `partition of the key of pet ${id}`).toBe(position.partition)
  }
}

/** The read models hold what the log says, and nothing else. */
export async function checkReadModels(store: ReadModels, stored: readonly StoredPet[]): Promise<void> {
  const generation = (await store.active())?.name ?? ''
  const pets = petsOf(stored)
  const everything = { from: 1, limit: 10_000 }
  expect((await store.range(generation, everything)).documents, 'all pets').toBe(documentsOf(pets))
  for (const status of petStatuses) {
    const { documents } = await store.range(generation, { index: statusIndex(status), ...everything })
    expect(documents, `pets that are ${status}`).toBe(documentsOf(pets.filter((pet) => pet.status === status)))
  }
  for (const { key, position, fingerprint, id } of pets) {
    if (key === undefined) continue
    const decision = { key, offset: position.offset, fingerprint, subject: String(id) }
    expect(await store.decision(generation, key), `the decision of pet ${id}`).toEqual(decision)
  }
  expect(totals((await store.checkpoints(generation)) ?? new Map())).toEqual({
    applied: pets.length,
    dropped: stored.length - pets.length,
    notApplicable: 0,
  })
}

function totals(checkpoints: ReadonlyMap<number, Checkpoint>) {
  const sum = { applied: 0, dropped: 0, notApplicable: 0 }
  for (const { applied, dropped, parked, skipped } of checkpoints.values()) {
    sum.applied += applied
    sum.dropped += dropped
    sum.notApplicable += parked + skipped
  }
  return sum
}
