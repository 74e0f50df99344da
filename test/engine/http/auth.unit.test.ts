import { describe, expect, it, vi } from 'vitest'
import { expectError, key, testServer } from './test-services.ts'

const server = testServer()

const bare = 'Bearer realm="theatre"'
const withError = 'Bearer realm="theatre", error="invalid_token"'

describe.each(['GET', 'HEAD'] as const)('%s without a valid key is 401', (method) => {
  it.each([
    ['none', undefined, bare],
    ['empty', '', bare],
    ['a scheme only', 'Bearer', bare],
    ['a scheme and spaces', 'Bearer   ', bare],
    ['a key without a scheme', key, bare],
    ['another scheme', `Basic ${Buffer.from(`a:${key}`).toString('base64')}`, bare],
    ['a wrong key', 'Bearer wrong', withError],
    ['a key cut off', `Bearer ${key.slice(0, -1)}`, withError],
    ['a key and more', `Bearer ${key} more`, withError],
    ['two keys in one header', `Bearer ${key}, Bearer ${key}`, withError],
    ['no space', `Bearer${key}`, bare],
  ])('Authorization: %s', async (_what, authorization, challenge) => {
    const headers = authorization === undefined ? {} : { authorization }
    const response = await server.app.inject({ method, url: '/v1/seats', headers })
    expect(response.headers['www-authenticate']).toBe(challenge)
    if (method === 'HEAD')
      expect({ status: response.statusCode, body: response.body }).toEqual({ status: 401, body: '' })
    else expectError(response, 401, 'unauthorized', 'A valid API key is needed')
  })
})

it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('the scheme may be written %s', async (scheme) => {
  const response = await server.get('/v1/seats', { authorization: `${scheme} ${key}` })
  expect(response.statusCode).toBe(200)
  expect(response.headers).not.toHaveProperty('www-authenticate')
})

it('is decided for each request anew', async () => {
  const list = async () => (await server.get('/v1/seats', { authorization: 'Bearer new' })).statusCode
  expect(await list()).toBe(401)
  server.services.keys.set('new', 'key-3')
  expect(await list()).toBe(200)
  server.services.keys.delete('new')
  expect(await list()).toBe(401)
})

it('waits for a look-up that takes a moment', async () => {
  const { services } = server
  const found = services.findKey(key)
  const findKey = vi.spyOn(services, 'findKey')
  findKey.mockImplementationOnce(async () => found)
  expect((await server.get('/v1/seats', { authorization: 'Bearer new' })).statusCode).toBe(200)
  findKey.mockImplementationOnce(async () => undefined)
  expectError(await server.get('/v1/seats'), 401, 'unauthorized')
})

it('a look-up that fails is not taken for a refusal', async () => {
  vi.spyOn(server.services, 'findKey').mockImplementationOnce(() => {
    throw new Error('keys not readable')
  })
  expectError(await server.get('/v1/seats'), 500, 'internal_error', 'An unexpected error occurred.')
})

it.each(['/livez', '/readyz', '/metrics', '/openapi.json', '/asyncapi.json', '/docs', '/docs/static/swagger-ui.css'])(
  '%s needs no key',
  async (url) => {
    expect((await server.app.inject({ url })).statusCode).toBe(200)
  },
)
