import { describe, expect, it } from 'vitest'
import { tagOf } from '../../src/engine/http/values/conditions.ts'
import type { NewPet } from '../../src/store/pet.ts'
import { storeServer } from './store-services.ts'

const server = storeServer()
const rex: NewPet = { name: 'Rex', categoryId: 7, status: 'pending' }
const get = (url: string, headers?: Record<string, string>) => server.get(url, headers)
const post = (payload: string | object, headers?: Record<string, string>) => server.post('/v1/pets', payload, headers)

describe('POST /v1/pets', () => {
  it('answers 201 with the pet, its path and its tag', async () => {
    const response = await post('{"name":"Rex","categoryId":7,"status":"sold"}')
    expect(response.statusCode).toBe(201)
    expect(response.body).toBe('{"id":1,"name":"Rex","categoryId":7,"status":"sold"}')
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      location: '/v1/pets/1',
      etag: `"${tagOf(response.body)}"`,
      'cache-control': 'private, no-cache, no-transform',
    })
    const read = await get(String(response.headers.location))
    expect([read.body, read.headers.etag]).toEqual([response.body, response.headers.etag])
  })

  it.each([
    [true, '?1'],
    [false, '?0'],
  ])('says whether the pet can be read after a second at most: %s', async (isReadable, said) => {
    server.services.isReadable = isReadable
    const response = await post('{"name":"Rex","categoryId":7}')
    expect(server.services.handled).toMatchObject([{ stream: 'new', wait: { timeoutMs: 1000 } }])
    expect([response.statusCode, response.headers['read-model-applied']]).toEqual([201, said])
  })
})

describe('GET /v1/pets', () => {
  it('gives 20 pets and the link to more, which keeps limit and status', async () => {
    for (let count = 0; count < 21; count++) server.services.add(rex)
    const response = await get('/v1/pets')
    expect(response.json()).toHaveLength(20)
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      link: expect.stringMatching(/^<\/v1\/pets\?limit=20&cursor=[\w-]+>; rel="next"$/),
      'cache-control': 'no-store',
    })
    for (const header of ['deprecation', 'etag']) expect(response.headers).not.toHaveProperty(header)
    const { headers } = await get('/v1/pets?status=pending&limit=2')
    expect(headers.link).toMatch(/^<\/v1\/pets\?limit=2&status=pending&cursor=[\w-]+>; rel="next"$/)
  })
})

it('GET /v1/pets/{petId} says on every response that it is deprecated', async () => {
  server.services.add(rex)
  const responses = {
    200: await get('/v1/pets/1'),
    304: await get('/v1/pets/1', { 'if-none-match': '*' }),
    400: await get('/v1/pets/x'),
    401: await server.app.inject('/v1/pets/1'),
    404: await get('/v1/pets/2'),
  }
  server.services.beforeRead = () => Promise.reject(new Error('a bug'))
  for (const [status, { statusCode, headers }] of Object.entries({ ...responses, 500: await get('/v1/pets/1') })) {
    expect(String(statusCode)).toBe(status)
    expect(headers).toMatchObject({
      deprecation: '@1795132800', // 2026-11-20T00:00:00Z
      sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
      link: expect.stringMatching(
        /^<\/v1\/pets>; rel="successor-version", <\/docs>; rel="deprecation"; type="text\/html"(, <[^>]*>; rel="help")?$/,
      ),
    })
  }
})
