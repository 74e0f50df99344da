import { expect, it } from 'vitest'
import { FakeServices, openServer } from './fake-services.ts'

const origin = 'https://shop.example'
const preflight = {
  origin,
  'access-control-request-method': 'PATCH',
  'access-control-request-headers': 'authorization',
}

it('lets no page of another origin read an answer, unless it is told to', async () => {
  const { app, get } = await openServer()
  const answer = await get('/v1/pets', { origin })
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  expect((await app.inject({ method: 'OPTIONS', url: '/v1/pets', headers: preflight })).statusCode).toBe(405)
})

it('lets pages of one origin send requests with a key, and read the response headers', async () => {
  const { app, get } = await openServer(new FakeServices(), { corsOrigins: [origin] })
  const allowed = await app.inject({ method: 'OPTIONS', url: '/v1/store/orders/1', headers: preflight })
  expect([allowed.statusCode, allowed.headers]).toMatchObject([
    204,
    { 'access-control-allow-origin': origin, 'access-control-allow-methods': expect.stringContaining('PATCH') },
  ])
  const answer = await get('/v1/pets', { origin })
  expect(answer.headers['access-control-allow-origin']).toBe(origin)
  expect(answer.headers['access-control-expose-headers']).toContain('Consistency-Token')
  const refused = await get('/v1/pets', { origin, authorization: '' })
  expect([refused.statusCode, refused.headers['access-control-allow-origin']]).toEqual([401, origin])
  const other = await get('/v1/pets', { origin: 'https://evil.example' })
  expect(other.headers).not.toHaveProperty('access-control-allow-origin')
  expect((await get('/nothing', { origin })).statusCode).toBe(404)
})
