import { expect, it } from 'vitest'
import { eventIdOf, type Idempotency } from '../../src/engine/commands/idempotency.ts'
import { key, testServer } from '../engine/http/test-services.ts'
import { petstore } from './petstore.ts'

const server = testServer(petstore)

it('a key never changes, so that a request repeated after an upgrade is recognised', async () => {
  server.services.keys.set(key, 'api-key-id')
  const rex = { name: 'Rex', categoryId: 7, status: 'sold' }
  const sent: [path: string, body: object][] = [
    ['/v1/pets', rex],
    ['/v1/pets', { ...rex, description: 'Likes children' }],
    ['/v1/store/orders', { petId: 42 }],
    ['/v1/categories', { name: 'Dogs' }],
    ['/v1/categories', { name: 'Dogs', description: 'They like walks' }],
  ]
  for (const [path, body] of sent) await server.post(path, body, { 'idempotency-key': '"once"' })
  const keys = server.services.handled.map(({ idempotency }) => idempotency)
  const category = 'Vlck2sM0WPUYr58Xmga0h6'
  const created = 'KHvm1C5Pzj5W5rjK2CWLTm'
  expect(keys).toEqual([
    { key: created, fingerprint: 'zJLK-NpqxlkOcvGdMIO_cv' },
    { key: created, fingerprint: 'BZKK0S59dPQRK7O_uha6wO' },
    { key: 'fHNOOzTtsl9zD-U7U_t1Kl', fingerprint: '1kby-r3ROn7hbfsS5ZUZt7' },
    { key: category, fingerprint: 'jz3btDb0KVTRSq_XD2x3kO' },
    { key: category, fingerprint: 'h-M5U_REVME2jkHoH7IJK3' },
  ])
  expect(eventIdOf(keys[0] as Idempotency)).toBe('c663cb4d-7c1b-5462-8c5b-abb22313883f')
})
