import { describe, expect, it } from 'vitest'
import type { NewPet } from '../../src/domain/pet.ts'
import { authorization, testServer } from './fake-services.ts'

const server = testServer()
const rex: NewPet = { name: 'Rex', categoryId: 7, status: 'pending' }
const get = server.get
const post = (payload: string | object, headers?: Record<string, string>) => server.post('/v1/pets', payload, headers)

describe('POST /v1/pets', () => {
  it('answers 201 with the pet, its path and its tag', async () => {
    const response = await post('{"name":"Rex","categoryId":7,"status":"sold"}')
    expect(response.statusCode).toBe(201)
    expect(response.body).toBe('{"id":1,"name":"Rex","categoryId":7,"status":"sold"}')
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      location: '/v1/pets/1',
      etag: '"f00dcafe-pets-3.orders-1-1"',
      'cache-control': 'private, no-cache',
    })
    const read = await get(String(response.headers.location))
    expect([read.body, read.headers.etag]).toEqual([response.body, response.headers.etag])
  })

  it('takes an omitted status for available', async () => {
    expect((await post('{"name":"Rex","categoryId":7}')).json()).toMatchObject({ status: 'available' })
  })

  it.each([
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9007199254740993', '9007199254740993'],
    ['-9007199254740993', '-9007199254740993'],
    ['0', '0'],
    ['-0', '0'],
    ['1.0', '1'],
    ['1e3', '1000'],
    ['9223372036854775807.0', '9223372036854775807'],
    ['922337203685477580700e-2', '9223372036854775807'],
  ])('categoryId %s comes back as %s on POST, GET and list', async (sent, stored) => {
    const pet = `{"id":1,"name":"Rex","categoryId":${stored},"status":"available"}`
    expect((await post(`{"name":"Rex","categoryId":${sent}}`)).body).toBe(pet)
    expect((await get('/v1/pets/1')).body).toBe(pet)
    expect((await get('/v1/pets')).body).toBe(`[${pet}]`)
  })

  it.each(['x', 'x'.repeat(128), '\u{1F436}'.repeat(128), 'Zoë', ' a ', '"\\\u0000\u2028</script>'])(
    'the name %j comes back as it is',
    async (name) => {
      const response = await post({ name, categoryId: 1 })
      expect([response.statusCode, response.json().name]).toEqual([201, name])
    },
  )

  it.each([
    [true, '?1'],
    [false, '?0'],
  ])('says whether the pet can be read after a second at most: %s', async (isReadable, said) => {
    server.services.isReadable = isReadable
    const response = await post('{"name":"Rex","categoryId":7}')
    expect(server.services.handled).toMatchObject([{ stream: 'new', wait: { timeoutMs: 1000 } }])
    expect([response.statusCode, response.headers['read-model-applied']]).toEqual([201, said])
  })

  it.each([
    ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
    ['cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
    ['ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', false],
    ['00-00000000000000000000000000000000-b7ad6b7169203331-01', false],
    ['00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01', false],
    ['00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01', false],
    ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331', false],
    ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x', false],
    ['nonsense', false],
    ['', false],
  ])('traceparent %j is passed on: %s, by every command', async (traceparent, valid) => {
    await post('{"name":"Rex","categoryId":7}', { traceparent })
    await server.post('/v1/store/orders', { petId: 1 }, { traceparent })
    await server.patch('/v1/store/orders/2', { status: 'approved' }, { traceparent })
    const expected = valid ? traceparent : undefined
    expect(server.services.handled.map(({ traceparent }) => traceparent)).toEqual([expected, expected, expected])
  })
})

describe('GET /v1/pets', () => {
  it('is an empty array without pets', async () => {
    const response = await get('/v1/pets')
    expect([response.statusCode, response.body]).toEqual([200, '[]'])
    expect(response.headers).not.toHaveProperty('link')
  })

  it('gives 20 pets and the link to more', async () => {
    for (let count = 0; count < 21; count++) server.services.add(rex)
    const response = await get('/v1/pets')
    expect(response.json()).toHaveLength(20)
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      link: expect.stringMatching(/^<\/v1\/pets\?limit=20&cursor=[\w-]+>; rel="next"$/),
      'cache-control': 'no-store',
    })
    for (const header of ['deprecation', 'etag']) expect(response.headers).not.toHaveProperty(header)
  })

  it('keeps limit and status in the link', async () => {
    for (let count = 0; count < 3; count++) server.services.add(rex)
    expect((await get('/v1/pets?status=pending&limit=2')).headers.link).toMatch(
      /^<\/v1\/pets\?limit=2&status=pending&cursor=[\w-]+>; rel="next"$/,
    )
  })

  it.each([
    ['/v1/pets', 'pets'],
    ['/v1/store/orders', 'orders'],
  ])('%s sends stored documents as they are', async (path, collection) => {
    const json = '{"id":1, "stored" : 1e2,}'
    server.services.store(collection, { id: 1, json, version: 1, indexes: [] })
    expect((await get(path)).body).toBe(`[${json}]`)
    expect((await get(`${path}/1`)).body).toBe(json)
  })
})

describe('GET /v1/pets/{petId}', () => {
  const deprecation = {
    deprecation: '@1795132800', // 2026-11-20T00:00:00Z
    sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    link: '</v1/pets>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"',
  }

  it('says on every response that it is deprecated', async () => {
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
      expect(headers).toMatchObject(deprecation)
    }
  })
})

describe('HEAD', () => {
  it.each(['/v1/pets', '/v1/pets/1', '/v1/pets/2', '/v1/store/orders', '/livez', '/readyz', '/openapi.json'])(
    '%s has the head of GET',
    async (url) => {
      server.services.add(rex)
      const headers = { authorization, 'x-request-id': 'same' }
      const whole = await server.app.inject({ url, headers })
      const head = await server.app.inject({ method: 'HEAD', url, headers })
      expect(head.body).toBe('')
      expect({ status: head.statusCode, ...head.headers, date: '' }).toEqual({
        status: whole.statusCode,
        ...whole.headers,
        date: '',
      })
    },
  )
})

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
