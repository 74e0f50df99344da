import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { NewPet } from '../../src/domain/pet.ts'
import { ServiceError } from '../../src/lib/errors.ts'
import { expectError } from './expect-error.ts'
import { authorization, FakeServices, openApp } from './fake-services.ts'

let services: FakeServices
let app: Awaited<ReturnType<typeof openApp>>
beforeEach(async () => {
  services = new FakeServices()
  app = await openApp(services)
})
afterEach(() => app.close())

const rex: NewPet = { name: 'Rex', categoryId: 7n, status: 'pending' }
const get = (url: string) => app.inject({ url, headers: { authorization } })
const post = (payload: string, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: '/v1/pets',
    payload,
    headers: { authorization, 'content-type': 'application/json', ...headers },
  })

describe('POST /v1/pets', () => {
  it('answers 201 with the pet and its path', async () => {
    const response = await post('{"name":"Rex","categoryId":7,"status":"sold"}')
    expect(response.statusCode).toBe(201)
    expect(response.body).toBe('{"id":1,"name":"Rex","categoryId":7,"status":"sold"}')
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      location: '/v1/pets/1',
      'cache-control': 'no-store',
    })
    expect((await get(String(response.headers.location))).body).toBe(response.body)
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
      const response = await post(JSON.stringify({ name, categoryId: 1 }))
      expect([response.statusCode, response.json().name]).toEqual([201, name])
    },
  )

  it('waits a second at most until the pet can be read', async () => {
    await post('{"name":"Rex","categoryId":7}')
    expect(services.waits).toEqual([{ position: { partition: 0, offset: 0 }, timeoutMs: 1000 }])
  })

  it('answers 500 event_parked when its event could not be applied, although it is stored', async () => {
    services.parks = true
    const response = await post('{"name":"Rex","categoryId":7}')
    services.parks = false
    expect([response.statusCode, response.json().code]).toEqual([500, 'event_parked'])
    expect(services.stored.length).toBe(1)
  })

  it('answers 201 only when the wait has ended, and whatever its end was', async () => {
    let end: (applied: boolean) => void = () => {}
    const whenApplied = () => new Promise<boolean>((resolve) => (end = resolve))
    const other = await openApp({ ...services, draining: services.draining, api: { ...services.api, whenApplied } })
    let answered = false
    const response = other
      .inject({ method: 'POST', url: '/v1/pets', payload: { name: 'Rex', categoryId: 7 }, headers: { authorization } })
      .then((answer) => {
        answered = true
        return answer
      })
    await expect.poll(() => services.stored.length).toBe(1)
    await new Promise(setImmediate)
    expect(answered).toBe(false)
    end(false)
    expect((await response).statusCode).toBe(201)
    await other.close()
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
  ])('traceparent %j is passed on: %s', async (traceparent, valid) => {
    expect((await post('{"name":"Rex","categoryId":7}', { traceparent })).statusCode).toBe(201)
    expect(services.traceparents).toEqual([valid ? traceparent : undefined])
  })

  it('without a traceparent passes none on', async () => {
    await post('{"name":"Rex","categoryId":7}')
    expect(services.traceparents).toEqual([undefined])
  })

  it.each([
    ['overloaded', 503, '1'],
    ['event_log_unavailable', 503, '2'],
    ['append_outcome_unknown', 504, undefined],
  ] as const)('%s from the command is %i', async (code, status, retryAfter) => {
    services.createPet = () => Promise.reject(new ServiceError(code, 'The reason.'))
    const response = await post('{"name":"Rex","categoryId":7}')
    expectError(response, status, code, 'The reason.')
    expect(response.headers['retry-after']).toBe(retryAfter)
  })
})

describe('GET /v1/pets', () => {
  it('is an empty array without pets', async () => {
    const response = await get('/v1/pets')
    expect([response.statusCode, response.body]).toEqual([200, '[]'])
    expect(response.headers).not.toHaveProperty('link')
  })

  it('gives 20 pets and the link to more', async () => {
    for (let count = 0; count < 21; count++) services.add(rex)
    const response = await get('/v1/pets')
    expect(response.json()).toHaveLength(20)
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      link: expect.stringMatching(/^<\/v1\/pets\?limit=20&cursor=[\w-]+>; rel="next"$/),
      'cache-control': 'no-store',
    })
    expect(response.headers).not.toHaveProperty('deprecation')
  })

  it('has no link on a last page that is full', async () => {
    for (let count = 0; count < 20; count++) services.add(rex)
    expect((await get('/v1/pets')).headers).not.toHaveProperty('link')
  })

  it('keeps limit and status in the link', async () => {
    for (let count = 0; count < 3; count++) services.add(rex)
    expect((await get('/v1/pets?status=pending&limit=2')).headers.link).toMatch(
      /^<\/v1\/pets\?limit=2&status=pending&cursor=[\w-]+>; rel="next"$/,
    )
  })

  it('filters by status', async () => {
    services.add(rex)
    services.add({ ...rex, status: 'sold' })
    expect((await get('/v1/pets?status=sold')).body).toBe('[{"id":2,"name":"Rex","categoryId":7,"status":"sold"}]')
  })

  it('sends stored documents as they are', async () => {
    const documents = '{"id":1, "stored" : 1e2,}'
    services.reads = { range: async () => ({ documents, count: 1, last: undefined }) }
    expect((await get('/v1/pets')).body).toBe(`[${documents}]`)
    expect((await get('/v1/pets/1')).body).toBe(documents)
  })

  it.each([
    ['read_model_rebuilding', 503, '1'],
    ['read_model_unavailable', 503, '1'],
  ] as const)('%s from the reads is %i on both GETs', async (code, status, retryAfter) => {
    services.reads = { range: () => Promise.reject(new ServiceError(code, 'The reason.')) }
    for (const url of ['/v1/pets', '/v1/pets/1']) {
      const response = await get(url)
      expectError(response, status, code, 'The reason.')
      expect(response.headers['retry-after']).toBe(retryAfter)
    }
  })
})

describe('GET /v1/pets/{petId}', () => {
  const deprecation = {
    deprecation: '@1795132800', // 2026-11-20T00:00:00Z
    sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    link: '</v1/pets>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"',
  }

  it('says on every response that it is deprecated', async () => {
    services.add(rex)
    const responses = {
      200: await get('/v1/pets/1'),
      400: await get('/v1/pets/x'),
      401: await app.inject('/v1/pets/1'),
      404: await get('/v1/pets/2'),
    }
    services.reads = { range: () => Promise.reject(new Error('a bug')) }
    for (const [status, { statusCode, headers }] of Object.entries({ ...responses, 500: await get('/v1/pets/1') })) {
      expect(String(statusCode)).toBe(status)
      expect(headers).toMatchObject(deprecation)
    }
  })
})

describe('HEAD', () => {
  it.each(['/v1/pets', '/v1/pets/1', '/v1/pets/2', '/livez', '/readyz', '/openapi.json'])(
    '%s has the head of GET',
    async (url) => {
      services.add(rex)
      const headers = { authorization, 'x-request-id': 'same' }
      const whole = await app.inject({ url, headers })
      const head = await app.inject({ method: 'HEAD', url, headers })
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
  const idFor = async (given: string) =>
    (await app.inject({ url: '/nothing', headers: { 'x-request-id': given } })).headers['x-request-id']

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
