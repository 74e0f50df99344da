import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExactJson } from '../../src/engine/lib/exact-json.ts'
import { compileCheck } from '../../src/engine/lib/validation.ts'
import { NewPetSchema, type PetId, PetSchema, petDocument, WrittenPet } from '../../src/store/pet.ts'
import { edited } from '../lib/edited-text.ts'
import { anyPet } from './any-pet.ts'

const check = compileCheck(PetSchema)
const notName = 'name must be 1 to 128 characters of well-formed Unicode, not only white space'

describe('WrittenPet', () => {
  it('is read from the document of a pet with a plain name', () => {
    for (const name of ['Rex', 'Rex 00000001', 'Zoë', '犬', "d'Artagnan, {the} [dog]: \u007f\u2028", 'x'.repeat(128)]) {
      const pet = { id: 999_999_999_999_999 as PetId, name, categoryId: -7, status: 'sold' } as const
      expect(WrittenPet.in(petDocument(pet))).toEqual(pet)
      const described = { ...pet, description: `${name} ${'x'.repeat(300)}` }
      expect(WrittenPet.in(petDocument(described))).toEqual(described)
    }
  })

  it('is a pet by the schema, in the very text that would be written of it', () => {
    const plain = anyPet.map(({ id, categoryId, status }) => {
      return { id: (id % 1000) as PetId, name: 'Rex', categoryId: Number(categoryId) % 1000, status }
    })
    fc.assert(
      fc.property(edited(fc.oneof(anyPet, plain).map(petDocument)), (text) => {
        const read = WrittenPet.in(text)
        if (read === undefined) return
        const data = parseExactJson(text)
        expect(check(data)).toBeUndefined()
        expect(read).toEqual(data)
        expect(petDocument(read)).toBe(text)
        expect(petDocument({ ...read })).toBe(text)
      }),
      { numRuns: 20_000 },
    )
  })

  it('is not read where a name is none by the schema', () => {
    for (const name of ['', ' ', '\u3000\ufeff', '\ud83d', 'x'.repeat(129), `${'x'.repeat(127)}🐕🐕`]) {
      const text = `{"id":1,"name":"${name}","categoryId":7,"status":"sold"}`
      expect(check(parseExactJson(text))).toBeDefined()
      expect(WrittenPet.in(text)).toBeUndefined()
    }
    for (const description of ['', ' ', '\ud83d', 'x'.repeat(501)]) {
      const text = `{"id":1,"name":"Rex","categoryId":7,"status":"sold","description":"${description}"}`
      expect(check(parseExactJson(text))).toBeDefined()
      expect(WrittenPet.in(text)).toBeUndefined()
    }
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
