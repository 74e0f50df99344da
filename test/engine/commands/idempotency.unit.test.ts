import fc from 'fast-check'
import { expect, it } from 'vitest'
import { eventIdOf, idempotency } from '../../../src/engine/commands/idempotency.ts'
import { type NewPet, type PetId, petStatuses } from '../../../src/store/pet.ts'
import { anyCharacter } from '../../lib/any-character.ts'
import { createPetIdempotency, placeOrderIdempotency } from '../../store/petstore.ts'

const pet = fc.record<NewPet>({
  name: fc.string({ unit: anyCharacter, minLength: 1, maxLength: 8 }),
  categoryId: fc.bigInt({ min: -3n, max: 3n }),
  status: fc.constantFrom(...petStatuses),
})
const text = fc.string({ minLength: 1, maxLength: 4 })
const rex: NewPet = { name: 'Rex', categoryId: 7, status: 'sold' }

it('is one exactly for one API key and Idempotency-Key, and its fingerprint for one pet', () => {
  fc.assert(
    fc.property(text, text, pet, text, text, pet, (apiKey, key, newPet, otherApiKey, otherKey, otherPet) => {
      const first = createPetIdempotency(apiKey, key, newPet)
      const second = createPetIdempotency(otherApiKey, otherKey, otherPet)
      expect(createPetIdempotency(apiKey, key, { ...newPet })).toEqual(first)
      expect(first.key === second.key).toBe(apiKey === otherApiKey && key === otherKey)
      expect(first.fingerprint === second.fingerprint).toBe(
        newPet.name === otherPet.name && newPet.categoryId === otherPet.categoryId && newPet.status === otherPet.status,
      )
      expect(eventIdOf(first) === eventIdOf(second)).toBe(first.key === second.key)
    }),
  )
})

it('is another one for an order, and for each pet that is ordered', () => {
  const order = (petId: number) => placeOrderIdempotency('api-key-id', 'once', petId as PetId)
  const keys = [createPetIdempotency('api-key-id', 'once', rex), order(42), order(43)].map(({ key }) => key)
  expect(new Set(keys).size).toBe(3)
})

it('never changes, so that a request repeated after an upgrade is recognised', () => {
  const { key, fingerprint } = createPetIdempotency('api-key-id', 'once', rex)
  expect([key, fingerprint]).toEqual(['KHvm1C5Pzj5W5rjK2CWLTm', 'zJLK-NpqxlkOcvGdMIO_cv'])
  expect(eventIdOf({ key, fingerprint })).toBe('c663cb4d-7c1b-5462-8c5b-abb22313883f')
  expect(placeOrderIdempotency('api-key-id', 'once', 42 as PetId)).toEqual({
    key: 'fHNOOzTtsl9zD-U7U_t1Kl',
    fingerprint: '1kby-r3ROn7hbfsS5ZUZt7',
  })
})

it('cannot be moved between the parts of its scope', () => {
  expect(idempotency(['ab', 'c'], []).key).not.toBe(idempotency(['a', 'bc'], []).key)
})
