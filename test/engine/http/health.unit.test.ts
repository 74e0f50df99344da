import { expect, it } from 'vitest'
import { buildAdminApp } from '../../../src/engine/http/app.ts'
import { authorization, expectError, openApp, testServer } from './test-services.ts'

const server = testServer()

it.each<[path: string, when: object, status: number, body: object]>([
  ['/livez', {}, 200, { status: 'ok', checks: { projector: { status: 'ok' } } }],
  ['/livez', { isDraining: true }, 200, { status: 'ok', checks: { projector: { status: 'ok' } } }],
  ['/livez', { isLive: false }, 503, { status: 'stalled', checks: { projector: { status: 'stalled' } } }],
  ['/readyz', {}, 200, { status: 'ok', checks: { eventLog: { status: 'ok' } } }],
  ['/readyz', { isReady: false }, 503, { status: 'unready', checks: { eventLog: { status: 'down' } } }],
  ['/readyz', { isDraining: true }, 503, { status: 'draining', checks: { eventLog: { status: 'ok' } } }],
])('%s with %j is %i, with the state of each part', async (path, when, status, body) => {
  Object.assign(server.services, when)
  const response = await server.app.inject(path)
  expect([response.statusCode, response.json()]).toEqual([status, body])
  expect(response.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  })
})

it('/metrics is text in the format of Prometheus', async () => {
  const response = await server.app.inject('/metrics')
  expect([response.statusCode, response.body]).toEqual([200, 'theatre_parked_events 3\n'])
  expect(response.headers).toMatchObject({
    'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    'cache-control': 'no-store',
  })
})

it('a process without the API has nothing but the probes and the metrics', async () => {
  const { health, metrics, draining, traffic } = server.services
  const projector = await openApp({ health, metrics, draining, traffic })
  for (const url of ['/livez', '/readyz', '/metrics']) expect((await projector.inject(url)).statusCode).toBe(200)
  for (const url of ['/v1/seats', '/v1/seats/1', '/docs', '/openapi.json', '/asyncapi.json']) {
    expectError(await projector.inject({ url, headers: { authorization } }), 404, 'route_not_found', '', {
      isExplained: false,
    })
  }
  const refused = await projector.inject({ method: 'POST', url: '/livez' })
  expectError(refused, 405, 'method_not_allowed', '', { isExplained: false })
  await projector.close()
})

it('tells strangers whether it is live and ready, and no more', async () => {
  const app = await openApp(server.services, { probesInDetail: false })
  const probe = async (url: string) => {
    const { statusCode, body } = await app.inject(url)
    return [statusCode, JSON.parse(body)]
  }
  expect(await probe('/livez')).toEqual([200, { status: 'ok' }])
  server.services.isReady = false
  expect(await probe('/readyz')).toEqual([503, { status: 'unready' }])
  expectError(await app.inject('/metrics'), 404, 'route_not_found')
  await app.close()
})

it.each([
  { forwarded: 'for=192.0.2.1' },
  { 'x-forwarded-for': '192.0.2.1' },
  { 'x-forwarded-proto': 'https' },
  { 'x-real-ip': '192.0.2.1' },
  { 'cf-connecting-ip': '192.0.2.1' },
  { via: '1.1 proxy' },
  { host: 'theatre.example' },
  { host: 'theatre.example:3000' },
])('tells no more to what comes through a proxy on this machine: %j', async (headers) => {
  const { app } = server
  for (const url of ['/livez', '/readyz']) {
    expect((await app.inject({ url, headers: headers as Record<string, string> })).json()).toEqual({ status: 'ok' })
  }
  expectError(await app.inject({ url: '/metrics', headers: headers as Record<string, string> }), 404, 'route_not_found')
})

it.each(['localhost', 'localhost:3000', '127.0.0.1:3000', '[::1]:3000', '[::1]'])(
  'tells all to this machine, which asks for %s',
  async (host) => {
    expect((await server.app.inject({ url: '/readyz', headers: { host } })).json()).toHaveProperty('checks')
    expect((await server.app.inject({ url: '/metrics', headers: { host } })).statusCode).toBe(200)
  },
)

it('has all of it, and nothing else, on the port of operators', async () => {
  const app = await buildAdminApp(server.services, false)
  expect((await app.inject('/readyz')).json()).toHaveProperty('checks')
  expect((await app.inject('/metrics')).statusCode).toBe(200)
  const unknown = await app.inject({ url: '/v1/seats', headers: { authorization } })
  expectError(unknown, 404, 'route_not_found', '', { isExplained: false })
  await app.close()
})
