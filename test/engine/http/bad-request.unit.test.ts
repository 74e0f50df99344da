import { describe, expect, it } from 'vitest'
import { expectEmptySegmentsUnknown } from './empty-segments.ts'
import { expectError, testServer } from './test-services.ts'

const server = testServer()
const resources = [
  ['/v1/seats', 'seatId', 'seat_not_found', 'seat'],
  ['/v1/bookings', 'bookingId', 'booking_not_found', 'booking'],
] as const

const badQueries: Record<string, string[]> = {
  'query: limit must be at least 1': ['limit=0', 'limit=-1'],
  'query: limit must be at most 100': ['limit=101', 'limit=9223372036854775807'],
  'query: limit must be integer': [
    ...'limit=99999999999999999999 limit=abc limit=1.0 limit=1e1 limit=0x10 limit=010'.split(' '),
    ...'limit=%2B5 limit=+5 limit= limit limit=%zz'.split(' '),
  ],
  'query: limit is given more than once': ['limit=1&limit=2', 'limit=1&limit=1'],
  'query: status must be one of ': ['status=lost', 'status=', 'status=SOLD'],
  'query: status is given more than once': ['status=sold&status=sold'],
  'query: cursor is given more than once': ['cursor=a&cursor=b'],
  'query: "colour" is not allowed here': ['colour=red'],
  'query: "offset" is not allowed here; "page" is not allowed here': ['offset=1&page=2'],
  'query: "__proto__" is not allowed here': ['__proto__=1'],
  'query: "limit[]" is not allowed here': ['limit[]=1'],
}

describe.each(resources)('GET %s with a bad query is 400', (path) => {
  it.each(Object.entries(badQueries))('%s', async (message, queries) => {
    for (const query of queries) expectError(await server.get(`${path}?${query}`), 400, 'invalid_request', message)
  })

  it('of thousands of names is read up to the 101st', async () => {
    const names = Array.from({ length: 4000 }, (_, index) => `a${index}=`).join('&')
    expectError(await server.get(`${path}?${names}`), 400, 'invalid_request', '"a4" is not allowed here; and 96 more')
  })

  it.each(['cursor=', 'cursor=abc', 'cursor=%00'])('%s', async (query) => {
    expectError(await server.get(`${path}?${query}`), 400, 'invalid_cursor', 'query: cursor')
  })
})

it.each([
  ['/v1/seats?status=approved', 'query: status must be one of available, pending, sold'],
  ['/v1/bookings?status=sold', 'query: status must be one of placed, approved, delivered, cancelled'],
])('%s has the status of something else', async (url, message) => {
  expectError(await server.get(url), 400, 'invalid_request', message)
})

describe.each(resources)('GET %s/{%s}', (path, name, notFound, noun) => {
  const notInt64 = `path: ${name} must be an integer from -9223372036854775808 to 9223372036854775807`

  it.each([
    ...'abc 1.0 1e3 0x1 +1 %2B1 01 -0 %20 1%20 9223372036854775808 -9223372036854775809 null 1%00'.split(' '),
    ...[20, 200, 10_000].map((digits) => '1'.repeat(digits)),
  ])('%.40s is 400', async (id) => expectError(await server.get(`${path}/${id}`), 400, 'invalid_request', notInt64))

  it.each(['-1', '0', '1', '9223372036854775807', '-9223372036854775808', '9007199254740993'])(
    '%s, an int64 of none, is 404',
    async (id) => expectError(await server.get(`${path}/${id}`), 404, notFound, `There is no ${noun} ${id}.`),
  )

  it.each([`${path}/1?status=sold`, `${path}/1?x`])('%s has a parameter too many', async (url) => {
    expectError(await server.get(url), 400, 'invalid_request', 'is not allowed here')
  })

  it.each([`${path}/%zz`, `${path}/%`, `${path}/%ff`])('%s is no URL', async (url) => {
    expectError(await server.get(url), 400, 'invalid_request', 'The URL is malformed.')
  })

  it('a path beyond 16 KiB is too long', async () => {
    const tooLong = `${path}/${'1'.repeat(20_000)}`
    expectError(await server.get(tooLong), 400, 'invalid_request', 'The path is too long.')
  })

  it('an id beyond 2^53 does not find the seat of its rounded value', async () => {
    const collection = `${noun}s`
    server.services.store({ collection, id: Number.MAX_SAFE_INTEGER, json: '{"id":9007199254740991}', indexes: [] })
    expect((await server.get(`${path}/9007199254740991`)).statusCode).toBe(200)
    expectError(await server.get(`${path}/9007199254740992`), 404, notFound)
  })
})

it.each([
  ['POST', '/v1/seats', '{"name":"A12","rowId":1}'],
  ['POST', '/v1/bookings', '{"seatId":1}'],
  ['PATCH', '/v1/bookings/1', '{"status":"approved"}'],
] as const)('%s %s knows no query parameters', async (method, path, payload) => {
  expectError(
    await server.send(method, `${path}?dry=1`, payload),
    400,
    'invalid_request',
    'query: "dry" is not allowed here',
  )
  expect(server.services.handled).toEqual([])
})

describe('an unknown path is 404, with or without a key', () => {
  it.each([
    ...'/v1 /v1/ /v1/seat /v1/seats/1/ /v1//seats /V1/seats /v2/seats'.split(' '),
    ...'/bookings /v1/booking /v1/other /v1/bookings/1/ /docs/static/nothing.js'.split(' '),
  ])('%s', async (url) => {
    expectError(await server.app.inject({ url }), 404, 'route_not_found', url)
    if (url.startsWith('/docs')) return
    expectError(await server.post(url, 'x', { 'content-type': 'text/plain' }), 404, 'route_not_found', url)
  })
})

it('a path with an empty id, or with a slash behind it, is an unknown one', () => expectEmptySegmentsUnknown(server))

describe('a method that a path does not support is 405 with Allow', () => {
  it.each([
    ['PUT', '/v1/seats', 'GET, HEAD, POST'],
    ['DELETE', '/v1/seats?limit=1', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/seats', 'GET, HEAD, POST'],
    ['TRACE', '/v1/seats', 'GET, HEAD, POST'],
    ['PROPFIND', '/v1/seats', 'GET, HEAD, POST'],
    ['PATCH', '/v1/seats/1', 'GET, HEAD, DELETE'],
    ['PUT', '/v1/seats/abc', 'GET, HEAD, DELETE'],
    ['POST', `/v1/seats/${'1'.repeat(200)}`, 'GET, HEAD, DELETE'],
    ['DELETE', '/v1/bookings', 'GET, HEAD, POST'],
    ['DELETE', '/v1/bookings/1', 'GET, HEAD, PATCH'],
    ['POST', '/livez', 'GET, HEAD'],
    ['DELETE', '/readyz', 'GET, HEAD'],
    ['PUT', '/openapi.json', 'GET, HEAD'],
    ['POST', '/docs', 'GET, HEAD'],
  ])('%s %.20s', async (method, url, allow) => {
    const response = await server.send(method, url, undefined, {
      authorization: '',
      'content-type': 'application/json',
    })
    expectError(response, 405, 'method_not_allowed', `only ${allow}.`)
    expect(response.headers.allow).toBe(allow)
  })

  it('whatever the body', async () => {
    for (const body of ['{', 'x'.repeat(20_000)]) {
      expectError(await server.send('PUT', '/v1/seats', body), 405, 'method_not_allowed')
    }
  })
})
