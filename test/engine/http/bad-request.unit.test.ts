import { describe, expect, it } from 'vitest'
import { expectError, testServer } from './test-services.ts'

const server = testServer()

it('a query of thousands of names is read up to the 101st', async () => {
  const names = Array.from({ length: 4000 }, (_, index) => `a${index}=`).join('&')
  const answer = await server.get(`/v1/seats?${names}`)
  expectError(answer, 400, 'invalid_request', '"a4" is not allowed here; and 96 more')
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

describe('a method that a path does not support is 405 with Allow', () => {
  it.each([
    ['DELETE', '/v1/seats?limit=1', 'GET, HEAD, POST'],
    ['PUT', '/v1/seats/abc', 'GET, HEAD, DELETE'],
    ['POST', `/v1/seats/${'1'.repeat(200)}`, 'GET, HEAD, DELETE'],
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
})
