import fc from 'fast-check'
import { expect, it } from 'vitest'
import { eventIdOf, requestIdentity } from '../../src/command-handling/request-identity.ts'
import { type NewPet, petStatuses } from '../../src/domain/pet.ts'

const pet = fc.record<NewPet>({
  name: fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
  categoryId: fc.bigInt({ min: -3n, max: 3n }),
  status: fc.constantFrom(...petStatuses),
})
const text = fc.string({ minLength: 1, maxLength: 4 })

it('is one exactly for one API key and Idempotency-Key, and its fingerprint for one pet', () => {
  fc.assert(
    fc.property(text, text, pet, text, text, pet, (apiKey, key, newPet, otherApiKey, otherKey, otherPet) => {
      const first = requestIdentity(apiKey, key, newPet)
      const second = requestIdentity(otherApiKey, otherKey, otherPet)
      expect(requestIdentity(apiKey, key, { ...newPet })).toEqual(first)
      expect(first.key === second.key).toBe(apiKey === otherApiKey && key === otherKey)
      expect(first.fingerprint === second.fingerprint).toBe(
        newPet.name === otherPet.name && newPet.categoryId === otherPet.categoryId && newPet.status === otherPet.status,
      )
      expect(eventIdOf(first) === eventIdOf(second)).toBe(first.key === second.key)
    }),
  )
})

it('tells neither key', () => {
  const identity = requestIdentity('api-key-id', 'idempotency-key', { name: 'Rex', categoryId: 1n, status: 'sold' })
  expect(JSON.stringify(identity)).not.toMatch(/api-key|idempotency-key|Rex/)
  expect([identity.key.length, identity.fingerprint.length]).toEqual([22, 22])
})

it('cannot be moved between API key and Idempotency-Key', () => {
  const rex: NewPet = { name: 'Rex', categoryId: 1n, status: 'sold' }
  expect(requestIdentity('ab', 'c', rex).key).not.toBe(requestIdentity('a', 'bc', rex).key)
})
