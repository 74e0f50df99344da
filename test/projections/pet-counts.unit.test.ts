import { expect, it } from 'vitest'
import { readModelVersion } from '../../projections/definition.ts'
import { pets } from '../../projections/pets.ts'
import { readRecord } from '../../projections/read-record.ts'
import { petCreated } from './records.ts'

it('a pet counts for its status and for its category, which may be any int64', () => {
  const pet = { id: 7, status: 'sold', categoryId: -(2n ** 63n) } as const
  expect(readRecord(pets, petCreated(0, pet))).toMatchObject({
    counted: ['sold', -(2n ** 63n)],
  })
})

it('is part of what names the read models, so that they are built anew with it', () => {
  expect(readModelVersion(pets)).toBe('pets-2.pet-counts-1')
})
