import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../src/lib/errors.ts'
import { expectError } from './expect-error.ts'
import { authorization, FakeServices, openApp } from './fake-services.ts'

const services = new FakeServices()
const app = await openApp(services)
afterAll(() => app.close())
const headers = { authorization }
const get = (url: string) => app.inject({ url, headers })

beforeEach(() => services.stored.splice(0))

describe('GET /v1/pets with a bad query is 400', () => {
  it.each<[string, ErrorCode, string]>([
    ['limit=0', 'invalid_request', 'query: limit must be >= 1'],
    ['limit=-1', 'invalid_request', 'query: limit must be >= 1'],
    ['limit=101', 'invalid_request', 'query: limit must be <= 100'],
    ['limit=9223372036854775807', 'invalid_request', 'query: limit must be <= 100'],
    ['limit=99999999999999999999', 'invalid_request', 'query: limit must be integer'],
    ['limit=abc', 'invalid_request', 'query: limit must be integer'],
    ['limit=1.0', 'invalid_request', 'query: limit must be integer'],
    ['limit=1e1', 'invalid_request', 'query: limit must be integer'],
    ['limit=0x10', 'invalid_request', 'query: limit must be integer'],
    ['limit=010', 'invalid_request', 'query: limit must be integer'],
    ['limit=%2B5', 'invalid_request', 'query: limit must be integer'],
    ['limit=+5', 'invalid_request', 'query: limit must be integer'],
    ['limit=', 'invalid_request', 'query: limit must be integer'],
    ['limit', 'invalid_request', 'query: limit must be integer'],
    ['limit=%zz', 'invalid_request', 'query: limit must be integer'],
    ['limit=1&limit=2', 'invalid_request', 'query: limit is given more than once'],
    ['limit=1&limit=1', 'invalid_request', 'query: limit is given more than once'],
    ['status=lost', 'invalid_request', 'query: status must be one of available, pending, sold'],
    ['status=', 'invalid_request', 'query: status must be one of available, pending, sold'],
    ['status=SOLD', 'invalid_request', 'query: status must be one of available, pending, sold'],
    ['status=sold&status=sold', 'invalid_request', 'query: status is given more than once'],
    ['colour=red', 'invalid_request', 'query: "colour" is not known here'],
    ['offset=1&page=2', 'invalid_request', 'query: "offset" is not known here; "page" is not known here'],
    ['__proto__=1', 'invalid_request', 'query: "__proto__" is not known here'],
    ['limit[]=1', 'invalid_request', 'query: "limit[]" is not known here'],
    ['cursor=', 'invalid_cursor', 'query: cursor'],
    ['cursor=abc', 'invalid_cursor', 'query: cursor'],
    ['cursor=%00', 'invalid_cursor', 'query: cursor'],
    ['cursor=a&cursor=b', 'invalid_request', 'query: cursor is given more than once'],
  ])('%s', async (query, code, message) => expectError(await get(`/v1/pets?${query}`), 400, code, message))
})

describe('GET /v1/pets/{petId}', () => {
  const notInt64 = 'path: petId must be an integer from -9223372036854775808 to 9223372036854775807'

  it.each([
    'abc',
    '1.0',
    '1e3',
    '0x1',
    '+1',
    '%2B1',
    '01',
    '-0',
    '%20',
    '1%20',
    '9223372036854775808',
    '-9223372036854775809',
    '',
    'null',
    '1%00',
    '1'.repeat(20),
    '1'.repeat(200),
    '1'.repeat(10_000),
  ])('%.40s is 400', async (petId) => expectError(await get(`/v1/pets/${petId}`), 400, 'invalid_request', notInt64))

  it.each(['-1', '0', '1', '9223372036854775807', '-9223372036854775808', '9007199254740993'])(
    '%s, an int64 of no pet, is 404',
    async (petId) => {
      expectError(await get(`/v1/pets/${petId}`), 404, 'pet_not_found', `There is no pet ${petId}.`)
    },
  )

  it('an id beyond 2^53 does not find the pet that it would be rounded to', async () => {
    services.add({ name: 'Rex', categoryId: 1n, status: 'sold' }, Number.MAX_SAFE_INTEGER)
    expect((await get('/v1/pets/9007199254740991')).statusCode).toBe(200)
    expectError(await get('/v1/pets/9007199254740992'), 404, 'pet_not_found')
  })

  it.each(['/v1/pets/1?status=sold', '/v1/pets/1?x'])('%s has a parameter too many', async (url) => {
    services.add({ name: 'Rex', categoryId: 1n, status: 'sold' })
    expectError(await get(url), 400, 'invalid_request', 'is not known here')
  })

  it.each(['/v1/pets/%zz', '/v1/pets/%', '/v1/pets/%ff'])('%s is no URL', async (url) => {
    expectError(await get(url), 400, 'invalid_request', 'The URL is malformed.')
  })
})

it('POST /v1/pets knows no query parameters', async () => {
  const payload = { name: 'Rex', categoryId: 1 }
  const response = await app.inject({ method: 'POST', url: '/v1/pets?dry=1', headers, payload })
  expectError(response, 400, 'invalid_request', 'query: "dry" is not known here')
  expect(services.stored).toEqual([])
})

describe('a path that is not there is 404, with or without a key', () => {
  it.each([
    '/',
    '/v1',
    '/v1/',
    '/v1/pet',
    '/v1/pets/1/',
    '/v1//pets',
    '/V1/pets',
    '/v2/pets',
    '/store/orders',
    '/v1/store/orders',
    '/docs/static/nothing.js',
  ])('%s', async (url) => {
    expectError(await app.inject({ url }), 404, 'route_not_found', url)
    const body = {
      method: 'POST',
      url,
      headers: { authorization, 'content-type': 'text/plain' },
      payload: 'x',
    } as const
    if (!url.startsWith('/docs')) expectError(await app.inject(body), 404, 'route_not_found', url)
  })
})

describe('a method that a path does not know is 405 with Allow', () => {
  it.each([
    ['PUT', '/v1/pets', 'GET, HEAD, POST'],
    ['DELETE', '/v1/pets?limit=1', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/pets', 'GET, HEAD, POST'],
    ['TRACE', '/v1/pets', 'GET, HEAD, POST'],
    ['PROPFIND', '/v1/pets', 'GET, HEAD, POST'],
    ['PATCH', '/v1/pets/1', 'GET, HEAD'],
    ['DELETE', '/v1/pets/abc', 'GET, HEAD'],
    ['POST', `/v1/pets/${'1'.repeat(200)}`, 'GET, HEAD'],
    ['POST', '/livez', 'GET, HEAD'],
    ['DELETE', '/readyz', 'GET, HEAD'],
    ['PUT', '/openapi.json', 'GET, HEAD'],
    ['POST', '/docs', 'GET, HEAD'],
  ])('%s %.20s', async (method, url, allow) => {
    const response = await app.inject({ method: method as 'PUT', url, headers: { 'content-type': 'application/json' } })
    expectError(response, 405, 'method_not_allowed', `only ${allow}.`)
    expect(response.headers.allow).toBe(allow)
  })

  it('whatever the body', async () => {
    const headers = { authorization, 'content-type': 'application/json' }
    for (const payload of ['{', 'x'.repeat(20_000)]) {
      const response = await app.inject({ method: 'PUT', url: '/v1/pets', headers, payload })
      expectError(response, 405, 'method_not_allowed')
    }
  })
})
