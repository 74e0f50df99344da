import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExactJson } from '../../src/exact-json.ts'
import { type PetId, petDocument, readPetDocument } from '../../src/pets/pet.ts'
import { edited } from '../edited-text.ts'
import { anyPet } from './any-pet.ts'

describe('readPetDocument', () => {
  it('reads a pet with a plain name', () => {
    for (const name of ['Rex', 'Rex 00000001', 'Zoë 🐕', "d'Artagnan, {the} [dog]: \u007f\u2028"]) {
      const pet = { id: 999_999_999_999_999 as PetId, name, categoryId: -7, status: 'sold' } as const
      expect(readPetDocument(petDocument(pet))).toEqual(pet)
    }
  })

  it('says of any text what JSON says of it, or nothing', () => {
    const plain = anyPet.map((pet) => ({
      ...pet,
      id: (pet.id % 1000) as PetId,
      name: 'Rex',
      categoryId: Number(pet.categoryId) % 1000,
    }))
    fc.assert(
      fc.property(edited(fc.oneof(anyPet, plain).map(petDocument)), (text) => {
        const read = readPetDocument(text)
        if (read !== undefined) expect(read).toEqual(parseExactJson(text))
      }),
      { numRuns: 20_000 },
    )
  })
})
