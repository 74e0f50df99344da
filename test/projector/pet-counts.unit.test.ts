import { expect, it } from 'vitest'
import { pets } from '../../projections/pets.ts'
import { counterPrefixes, Tally } from '../../src/projector/counting.ts'
import { readModelVersion } from '../../src/projector/definition.ts'
import { readRecord } from '../../src/projector/read-record.ts'
import { petCreated, record } from './records.ts'

it('a pet counts for its status and for its category, which may be any int64', () => {
  const pet = { id: 7, status: 'sold', categoryId: -(2n ** 63n) } as const
  expect(readRecord(pets, petCreated(0, pet))).toMatchObject({
    counted: ['sold', -(2n ** 63n)],
  })
})

it('has one counter for a category, however its number is written and however large it is', () => {
  const counted = ['7', '7.0', '70e-1', '9007199254740993', '9007199254740993.0'].map((categoryId, offset) => {
    const value = petCreated(offset, { id: offset + 1, categoryId: 1 }).value?.toString() ?? ''
    const written = value.replace('"categoryId":1,', `"categoryId":${categoryId},`)
    return readRecord(pets, record(offset, written))
  })
  const tally = new Tally(counterPrefixes(pets.countings))
  for (const content of counted) if (content.kind === 'change') tally.add(content.counted)
  expect(Object.fromEntries(tally.counters)).toEqual({
    'pet-counts:status:available': 5,
    'pet-counts:category:7': 3,
    'pet-counts:category:9007199254740993': 2,
  })
})

it('is part of what names the read models, so that they are built anew with it', () => {
  expect(readModelVersion(pets)).toBe('pets-2.pet-counts-1')
})
