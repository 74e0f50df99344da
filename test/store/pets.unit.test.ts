import { describe, expect, it } from 'vitest'
import { tagOf } from '../../src/engine/http/conditions.ts'
import type { NewPet } from '../../src/store/pet.ts'
import { storeServer } from './fake-store.ts'

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

  const [trace, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  const ids = `${trace}-${parent}`
  const passedOn: [sent: string, passedOn: string][] = [
    [`00-${ids}-01`, `00-${ids}-01`],
    [`00-${ids}-00`, `00-${ids}-00`],
    [`00-${ids}-03`, `00-${ids}-03`],
    [`cc-${ids}-01`, `00-${ids}-01`],
    [`01-${ids}-fe-what-comes-later`, `00-${ids}-00`],
  ]
  const malformed = [
    ...['nonsense', '', '00', ids, `00-${ids}`, `00-${ids}-`, `0-${ids}-01`, `00-${ids}-1`, `00_${trace}_${parent}_01`],
    ...[`00-${ids}-01-x`, `00-${ids}-01-`, `00-${ids}-011`, `cc-${ids}-01x`, `00-${ids}-01, 00-${ids}-01`],
    ...[`ff-${ids}-01`, `ff-${ids}-01-x`, `FF-${ids}-01`, `00-${ids}-0G`, `00-${trace.toUpperCase()}-${parent}-01`],
    ...[`00-${'0'.repeat(32)}-${parent}-01`, `00-${trace}-${'0'.repeat(16)}-01`],
    ...[`00-${trace}0-${parent}-01`, `00-${trace.slice(1)}-${parent}-01`, `00-${trace}-${parent.slice(1)}-01`],
    ...[`00-${ids}-01"`, `00-${ids}-01","x":"`, `00-${trace.replace('0', '٠')}-${parent}-01`, '0'.repeat(200)],
  ].map((sent) => [sent, undefined] as const)
  it.each<readonly [string, string | undefined]>([...passedOn, ...malformed])(
    'traceparent %j is passed on by every command as %j',
    async (traceparent, expected) => {
      await post({ name: 'Rex', categoryId: 7 }, { traceparent })
      await server.post('/v1/store/orders', { petId: 1 }, { traceparent })
      await server.patch('/v1/store/orders/2', { status: 'approved' }, { traceparent })
      expect(server.services.handled.map(({ traceparent }) => traceparent)).toEqual([expected, expected, expected])
    },
  )
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

  it.each([
    ['/v1/pets', 'pets'],
    ['/v1/store/orders', 'orders'],
  ])('%s sends stored documents as they are', async (path, collection) => {
    const json = '{"id":1, "stored" : 1e2,}'
    server.services.store({ collection, id: 1, json, indexes: [], behind: '1' })
    expect((await get(path)).body).toBe(`[${json}]`)
    expect((await get(`${path}/1`)).body).toBe(json)
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

it.each('/v1/pets /v1/pets/1 /v1/pets/2 /v1/store/orders /livez /readyz /openapi.json /asyncapi.json'.split(' '))(
  'HEAD %s has the head of GET',
  async (url) => {
    server.services.add(rex)
    const headers = { 'x-request-id': 'same' }
    const [whole, head] = [await get(url, headers), await server.send('HEAD', url, undefined, headers)]
    expect([head.statusCode, head.body]).toEqual([whole.statusCode, ''])
    expect({ ...head.headers, date: '' }).toEqual({ ...whole.headers, date: '' })
  },
)

describe('X-Request-Id of an error', () => {
  const idFor = async (given: string) => (await get('/nothing', { 'x-request-id': given })).headers['x-request-id']

  it.each(['a', 'client-1', '!~', 'x'.repeat(128)])('%.20s is taken over', async (id) => {
    expect(await idFor(id)).toBe(id)
  })

  it.each(['', ' ', 'two words', 'x'.repeat(129), 'é', 'tab\tbed'])('%.20j is not', async (id) => {
    expect(await idFor(id)).toMatch(/^[\w-]{10,128}$/)
  })

  it('is never the same for two requests', async () => {
    expect(await idFor('')).not.toBe(await idFor(''))
  })
})
