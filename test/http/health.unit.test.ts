import { describe, expect, it } from 'vitest'
import { expectError } from './expect-error.ts'
import { authorization, openApp, testServer } from './fake-services.ts'

const server = testServer()

describe('/livez', () => {
  it('is 200 with the state of each part, also while draining', async () => {
    server.services.isDraining = true
    const response = await server.app.inject('/livez')
    expect([response.statusCode, response.json()]).toEqual([
      200,
      { status: 'ok', checks: { projector: { status: 'ok' } } },
    ])
  })

  it('is 503 when only a restart helps', async () => {
    server.services.isLive = false
    const response = await server.app.inject('/livez')
    expect([response.statusCode, response.json()]).toEqual([
      503,
      { status: 'stalled', checks: { projector: { status: 'stalled' } } },
    ])
  })
})

describe('/readyz', () => {
  it('is 200 with the state of each part', async () => {
    const response = await server.app.inject('/readyz')
    expect([response.statusCode, response.json()]).toEqual([
      200,
      { status: 'ok', checks: { eventLog: { status: 'ok' } } },
    ])
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    })
  })

  it('is 503 when nothing can be served', async () => {
    server.services.isReady = false
    const response = await server.app.inject('/readyz')
    expect([response.statusCode, response.json()]).toEqual([
      503,
      { status: 'unready', checks: { eventLog: { status: 'down' } } },
    ])
  })

  it('is 503 while draining', async () => {
    server.services.isDraining = true
    const response = await server.app.inject('/readyz')
    expect([response.statusCode, response.json().status]).toEqual([503, 'draining'])
  })
})

it('/metrics is text in the format of Prometheus', async () => {
  const response = await server.app.inject('/metrics')
  expect([response.statusCode, response.body]).toEqual([200, 'petstore_parked_events 3\n'])
  expect(response.headers).toMatchObject({
    'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    'cache-control': 'no-store',
  })
})

it('a process without the API has nothing but the probes and the metrics', async () => {
  const projector = await openApp({
    health: server.services.health,
    metrics: server.services.metrics,
    draining: server.services.draining,
  })
  for (const url of ['/livez', '/readyz', '/metrics']) expect((await projector.inject(url)).statusCode).toBe(200)
  for (const url of ['/v1/pets', '/v1/pets/1', '/docs', '/openapi.json']) {
    expectError(await projector.inject({ url, headers: { authorization } }), 404, 'route_not_found')
  }
  expectError(await projector.inject({ method: 'POST', url: '/livez' }), 405, 'method_not_allowed')
  await projector.close()
})
