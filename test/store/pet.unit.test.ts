import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExactJson } from '../../src/engine/lib/values/exact-json.ts'
import { compileCheck } from '../../src/engine/lib/values/validation.ts'
import { NewPetSchema, type Pet, type PetId, PetSchema, petDocument } from '../../src/store/pet.ts'
import { edited } from '../lib/edited-text.ts'
import { anyPet } from './any-pet.ts'
import { petstore } from './petstore.ts'

const check = compileCheck(PetSchema)
const notName = 'name must be 1 to 128 characters of well-formed Unicode, not only white space'

describe('an event with a pet', () => {
  const read = (version: number, text: string) => petstore.events.quick(`petstore.PetCreated.v${version}`, text)

  it('is read quickly where names are plain, in each version', () => {
    for (const name of ['Rex', 'Rex 00000001', 'Zoë', '犬', "d'Artagnan, {the} [dog]: \u007f\u2028", 'x'.repeat(128)]) {
      const pet = { id: 999_999_999_999_999 as PetId, name, categoryId: -7, status: 'sold' } as const
      for (const version of [1, 2]) expect(read(version, petDocument(pet))).toEqual(pet)
      const described = { ...pet, description: `${name} ${'x'.repeat(300)}` }
      expect(read(2, petDocument(described))).toEqual(described)
      expect(read(1, petDocument(described))).toBeUndefined()
    }
  })

  it('has one by the schema, in the very text that would be written of it', () => {
    const plain = anyPet.map(({ id, categoryId, status }) => {
      return { id: (id % 1000) as PetId, name: 'Rex', categoryId: Number(categoryId) % 1000, status }
    })
    fc.assert(
      fc.property(edited(fc.oneof(anyPet, plain).map(petDocument)), (text) => {
        const pet = read(2, text)
        if (pet === undefined) return
        const data = parseExactJson(text)
        expect(check(data)).toBeUndefined()
        expect(pet).toEqual(data)
        expect(petDocument(pet as Pet)).toBe(text)
      }),
      { numRuns: 20_000 },
    )
  })
})

it.each<[name: unknown, problem: string]>([
  [5, 'name must be string'],
  [' ', notName],
  ['a\ud83d', notName],
  ['', `name must have at least one character; ${notName}`],
  ['x'.repeat(129), 'name must have at most 128 characters'],
])('a client and an operator are told of a name what it must be: %j', (name, problem) => {
  expect(compileCheck(NewPetSchema)({ name, categoryId: 7 })).toBe(problem)
  expect(check({ id: 1, name, categoryId: 7, status: 'sold' })).toBe(problem)
})
