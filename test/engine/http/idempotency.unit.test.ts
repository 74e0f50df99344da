import { describe, expect, it } from 'vitest'
import type { PetId } from '../../../src/store/pet.ts'
import { createPetIdempotency, placeOrderIdempotency } from '../../store/petstore.ts'
import { expectError, otherKey, testServer } from './fake-services.ts'

const server = testServer()
const rex = { name: 'Rex', categoryId: 7, status: 'available' } as const
const idempotencies = () => server.services.handled.map(({ idempotency }) => idempotency)

function post(key: string, headers: Record<string, string> = {}, body: object = { name: 'Rex', categoryId: 7 }) {
  return server.post('/v1/pets', body, { 'idempotency-key': key, ...headers })
}

describe('a POST with an Idempotency-Key', () => {
  it('is identified by API key, Idempotency-Key and content', async () => {
    await post('"order 7"')
    await server.post('/v1/store/orders', { petId: 1 }, { 'idempotency-key': '"order 7"' })
    expect(idempotencies()).toEqual([
      createPetIdempotency('key-1', 'order 7', rex),
      placeOrderIdempotency('key-1', 'order 7', 1 as PetId),
    ])
  })

  const quoted = ['x', 'x'.repeat(255), ' ', 'a, b; c']
  const bare = ['order-7', '8e03978e-40d5-43e8-bc93-6894a57f9324', "*a:/!#$%&'*+.^_`|~", 'x'.repeat(255)]
  it.each<readonly [header: string, key: string]>([
    ...quoted.map((key) => [`"${key}"`, key] as const),
    ...bare.map((key) => [key, key] as const),
    ...['a=1', 'a', ' a=?1;b="x; y"; *c-d=:YWI=:', 'a=-1.5'].map((parameters) => [`"x";${parameters}`, 'x'] as const),
    ['"quote \\" and backslash \\\\"', 'quote " and backslash \\'],
    [`"${'\\\\'.repeat(255)}"`, '\\'.repeat(255)],
  ])('%s is a key', async (header, key) => {
    expect((await post(header)).statusCode).toBe(201)
    expect(idempotencies()).toEqual([createPetIdempotency('key-1', key, rex)])
  })

  it.each([
    ...[
      '',
      '""',
      `"${'x'.repeat(256)}"`,
      'x'.repeat(256),
      'order 7',
      '"order-7',
      '"order-7" x',
      '"order-7";',
      '"order-7" ;a',
      '"order-7";A=é',
    ],
    ...['order-7;a=1', '"a\\n"', '"a"b"', '"a\tb"', '"Zo\u00eb"', 'Zo\u00eb'],
    ...['"order-7", "order-7"', 'order-7, order-7'], // as Node joins two headers
  ])('%j is refused, and nothing is stored', async (header) => {
    expectError(await post(header), 400, 'invalid_idempotency_key', 'Idempotency-Key')
    const order = await server.post('/v1/store/orders', { petId: 0 }, { 'idempotency-key': header })
    expectError(order, 400, 'invalid_idempotency_key', 'Idempotency-Key')
    expect(server.services.handled).toEqual([])
  })

  it('gets the first answer again, whatever became of the pet since', async () => {
    const first = await post('"k"')
    await server.post('/v1/store/orders', { petId: 1 })
    const again = await post('k')
    expect(first.headers).not.toHaveProperty('idempotency-replayed')
    expect([again.statusCode, again.body]).toEqual([201, '{"id":1,"name":"Rex","categoryId":7,"status":"available"}'])
    const { location, etag, 'consistency-token': token, 'cache-control': control } = first.headers
    const expected = { location, etag, 'consistency-token': token, 'cache-control': control }
    expect(again.headers).toMatchObject({ ...expected, location: '/v1/pets/1', 'idempotency-replayed': 'true' })
  })

  it('gets the order as it was placed again, whatever became of it since', async () => {
    server.services.add(rex)
    const place = () => server.post('/v1/store/orders', { petId: 1 }, { 'idempotency-key': '"k"' })
    server.services.time = '2026-11-20T10:30:00+01:00'
    const first = await place()
    server.services.time = '2026-11-21T09:30:00.000Z'
    await server.patch('/v1/store/orders/2', { status: 'cancelled' })
    const again = await place()
    expect([again.statusCode, again.body]).toEqual([201, first.body])
    expect(again.json()).toMatchObject({ status: 'placed', placedAt: '2026-11-20T09:30:00.000Z' })
    const { location, etag, 'consistency-token': token } = first.headers
    expect(again.headers).toMatchObject({ location, etag, 'consistency-token': token, 'idempotency-replayed': 'true' })
  })

  it('is 422 for another body, and another request for another API key or pet', async () => {
    await post('"k"')
    expectError(await post('"k"', {}, { name: 'Ada', categoryId: 7 }), 422, 'idempotency_key_reused')
    expect((await post('"k"', { authorization: `Bearer ${otherKey}` })).json()).toMatchObject({ id: 2 })
    const orders = [1, 2].map((petId) => server.post('/v1/store/orders', { petId }, { 'idempotency-key': '"k"' }))
    for (const order of await Promise.all(orders)) expect(order.headers).not.toHaveProperty('idempotency-replayed')
  })

  it('is answered once its key is decided, whatever it prefers, and says nothing of what can be read', async () => {
    const response = await post('"k"', { prefer: 'wait=0' })
    expect(response.statusCode).toBe(201)
    expect(response.headers).not.toHaveProperty('preference-applied')
    expect(response.headers).not.toHaveProperty('read-model-applied')
  })

  it('is refused for its body before its key is looked at', async () => {
    expectError(await post('"', {}, { name: '' }), 400, 'invalid_request')
  })
})
