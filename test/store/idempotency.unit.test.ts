import { expect, it } from 'vitest'
import { eventIdOf } from '../../src/engine/commands/idempotency.ts'
import { createPetIdempotency, placeOrderIdempotency } from './petstore.ts'

it('a key never changes, so that a request repeated after an upgrade is recognised', () => {
  const created = createPetIdempotency('api-key-id', 'once', { name: 'Rex', categoryId: 7, status: 'sold' })
  expect(created).toEqual({ key: 'KHvm1C5Pzj5W5rjK2CWLTm', fingerprint: 'zJLK-NpqxlkOcvGdMIO_cv' })
  expect(eventIdOf(created)).toBe('c663cb4d-7c1b-5462-8c5b-abb22313883f')
  const ordered = placeOrderIdempotency('api-key-id', 'once', 42)
  expect(ordered).toEqual({ key: 'fHNOOzTtsl9zD-U7U_t1Kl', fingerprint: '1kby-r3ROn7hbfsS5ZUZt7' })
})
