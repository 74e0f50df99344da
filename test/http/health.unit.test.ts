import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectError } from './expect-error.ts'
import { authorization, FakeServices, openApp } from './fake-services.ts'

let services: FakeServices
let app: Awaited<ReturnType<typeof openApp>>
beforeEach(async () => {
  services = new FakeServices()
  app = await openApp(services)
})
afterEach(() => app.close())

describe('/livez', () => {
  it('is 200 with the state of each part, also while draining', async () => {
    services.isDraining = true
    const response = await app.inject('/livez')
    expect([response.statusCode, response.json()]).toEqual([
      200,
      { status: 'ok', checks: { projector: { status: 'ok' } } },
    ])
  })

  it('is 503 when only a restart helps', async () => {
    services.isLive = false
    const response = await app.inject('/livez')
    expect([response.statusCode, response.json()]).toEqual([
      503,
      { status: 'stalled', checks: { projector: { status: 'stalled' } } },
    ])
  })
})

describe('/readyz', () => {
  it('is 200 with the state of each part', async () => {
    const response = await app.inject('/readyz')
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
    services.isReady = false
    const response = await app.inject('/readyz')
    expect([response.statusCode, response.json()]).toEqual([
      503,
      { status: 'unready', checks: { eventLog: { status: 'down' } } },
    ])
  })

  it('is 503 while draining', async () => {
    services.isDraining = true
    const response = await app.inject('/readyz')
    expect([response.statusCode, response.json().status]).toEqual([503, 'draining'])
  })
})

it('while draining every response closes its connection, and is served all the same', async () => {
  const urls = ['/livez', '/readyz', '/v1/pets', '/v1/pets/1', '/nothing', '/v1/pets/%zz', '/docs', '/openapi.json']
  const connections = async () => {
    const responses = await Promise.all(urls.map((url) => app.inject({ url, headers: { authorization } })))
    return responses.map(({ headers }) => headers.connection)
  }
  expect(await connections()).toEqual(urls.map(() => 'keep-alive'))
  services.isDraining = true
  expect(await connections()).toEqual(urls.map(() => 'close'))
  const payload = { name: 'Rex', categoryId: 1 }
  const created = await app.inject({ method: 'POST', url: '/v1/pets', payload, headers: { authorization } })
  expect([created.statusCode, created.headers.connection]).toEqual([201, 'close'])
})

it('a process without the API has nothing but the probes', async () => {
  const projector = await openApp({ health: services.health, draining: services.draining })
  for (const url of ['/livez', '/readyz']) expect((await projector.inject(url)).statusCode).toBe(200)
  for (const url of ['/v1/pets', '/v1/pets/1', '/docs', '/openapi.json']) {
    expectError(await projector.inject({ url, headers: { authorization } }), 404, 'route_not_found')
  }
  expectError(await projector.inject({ method: 'POST', url: '/livez' }), 405, 'method_not_allowed')
  await projector.close()
})
