import { afterAll, describe, expect, it } from 'vitest'
import { expectError } from './expect-error.ts'
import { FakeServices, key, openApp } from './fake-services.ts'

const services = new FakeServices()
const app = await openApp(services)
afterAll(() => app.close())

const operations = [
  ['GET', '/v1/pets'],
  ['HEAD', '/v1/pets'],
  ['POST', '/v1/pets'],
  ['GET', '/v1/pets/1'],
] as const
const bare = 'Bearer realm="petstore"'
const withError = 'Bearer realm="petstore", error="invalid_token"'

describe.each(operations)('%s %s without a valid key is 401', (method, url) => {
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
    const response = await app.inject({ method, url, headers: authorization === undefined ? {} : { authorization } })
    expect(response.headers['www-authenticate']).toBe(challenge)
    if (method === 'HEAD')
      expect({ status: response.statusCode, body: response.body }).toEqual({ status: 401, body: '' })
    else expectError(response, 401, 'unauthorized', 'A valid API key is needed')
  })
})

it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('the scheme may be written %s', async (scheme) => {
  const response = await app.inject({ url: '/v1/pets', headers: { authorization: `${scheme} ${key}` } })
  expect(response.statusCode).toBe(200)
  expect(response.headers).not.toHaveProperty('www-authenticate')
})

it('is decided before the request is looked at any further', async () => {
  const headers = { 'content-type': 'text/plain' }
  const requests = [
    { method: 'POST', url: '/v1/pets?x=1', headers, payload: 'x'.repeat(20_000) },
    { method: 'POST', url: '/v1/pets', headers: { 'content-type': 'application/json' }, payload: '{' },
    { method: 'GET', url: '/v1/pets?limit=0' },
    { method: 'GET', url: '/v1/pets/abc' },
  ] as const
  for (const request of requests) expectError(await app.inject(request), 401, 'unauthorized')
})

it('is decided for each request anew', async () => {
  const list = async () => {
    const { statusCode } = await app.inject({ url: '/v1/pets', headers: { authorization: 'Bearer other' } })
    return statusCode
  }
  expect(await list()).toBe(401)
  services.keys.set('other', 'key-2')
  expect(await list()).toBe(200)
  services.keys.delete('other')
  expect(await list()).toBe(401)
})

it('a look-up that fails is not taken for a refusal', async () => {
  const broken = new FakeServices()
  const keyId = (): string => {
    throw new Error('keys not readable')
  }
  const other = await openApp({ ...broken, draining: broken.draining, api: { ...broken.api, keyId } })
  const response = await other.inject({ url: '/v1/pets', headers: { authorization: 'Bearer x' } })
  expectError(response, 500, 'internal_error', 'An unexpected error occurred.')
  await other.close()
})

it.each(['/livez', '/readyz', '/metrics', '/openapi.json', '/docs', '/docs/static/swagger-ui.css'])(
  '%s needs no key',
  async (url) => {
    expect((await app.inject({ url })).statusCode).toBe(200)
  },
)
