import { expect, it } from 'vitest'
import { authorization, FakeServices, openApp } from './fake-services.ts'

const origin = 'https://shop.example'
const preflight = {
  origin,
  'access-control-request-method': 'PATCH',
  'access-control-request-headers': 'authorization',
}

it('lets no page of another origin read an answer, unless it is told to', async () => {
  const app = await openApp(new FakeServices())
  const answer = await app.inject({ url: '/v1/pets', headers: { authorization, origin } })
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  expect((await app.inject({ method: 'OPTIONS', url: '/v1/pets', headers: preflight })).statusCode).toBe(405)
  await app.close()
})

it('lets pages of one origin send requests with a key, and read the response headers', async () => {
  const app = await openApp(new FakeServices(), { corsOrigins: [origin] })
  const allowed = await app.inject({ method: 'OPTIONS', url: '/v1/store/orders/1', headers: preflight })
  expect([allowed.statusCode, allowed.headers]).toMatchObject([
    204,
    { 'access-control-allow-origin': origin, 'access-control-allow-methods': expect.stringContaining('PATCH') },
  ])
  const answer = await app.inject({ url: '/v1/pets', headers: { authorization, origin } })
  expect(answer.headers['access-control-allow-origin']).toBe(origin)
  expect(answer.headers['access-control-expose-headers']).toContain('Consistency-Token')
  const refused = await app.inject({ url: '/v1/pets', headers: { origin } })
  expect([refused.statusCode, refused.headers['access-control-allow-origin']]).toEqual([401, origin])
  const other = await app.inject({ url: '/v1/pets', headers: { authorization, origin: 'https://evil.example' } })
  expect(other.headers).not.toHaveProperty('access-control-allow-origin')
  expect((await app.inject({ url: '/nothing', headers: { origin } })).statusCode).toBe(404)
  await app.close()
})
