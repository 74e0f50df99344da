import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UnknownOutcome } from '../../../src/engine/commands/command-handler.ts'
import { nextOf } from './contract/fixture.ts'
import { headerOf, openServer, theatreServices } from './test-services.ts'

describe.each([
  ['https://theatre.example/shop', '/shop'],
  ['https://theatre.example/a/b', '/a/b'],
  ['https://theatre.example', ''],
])('clients that reach the service under %s', (publicUrl, prefix) => {
  const server = {} as Awaited<ReturnType<typeof openServer>>
  beforeAll(async () => void Object.assign(server, await openServer(theatreServices(), { publicUrl })))
  afterAll(() => server.app.close())

  it('are given addresses of what they add, and of the next page, that lead to it', async () => {
    const inside = (address = '') => {
      expect(address.startsWith(`${prefix}/v1/`)).toBe(true)
      return address.slice(prefix.length) // as the proxy hands it on
    }
    for (const name of ['A12', 'Mia']) {
      const added = await server.post('/v1/seats', { name, rowId: 7 })
      expect((await server.get(inside(headerOf(added, 'location')))).body).toBe(added.body)
    }
    for (const seatId of [1, 2]) {
      const placed = await server.post('/v1/bookings', { seatId })
      expect((await server.get(inside(headerOf(placed, 'location')))).body).toBe(placed.body)
    }
    for (const list of ['/v1/seats', '/v1/bookings', '/v1/seats/1/events']) {
      const next = nextOf(await server.get(`${list}?limit=1`))
      expect((await server.get(inside(next))).json()).toHaveLength(1)
    }
    server.services.beforeCommand = () => Promise.reject(new UnknownOutcome({ id: 9 } as never, 'late', undefined))
    const late = await server.post('/v1/bookings', { seatId: 1 })
    expect([late.statusCode, late.headers.location]).toEqual([504, `${prefix}/v1/bookings/9`])
    server.services.reset()
  })

  it('are led to the documentation from what is deprecated and from errors', async () => {
    const links = headerOf(await server.get('/v1/seats/1'), 'link')
    const addresses = [...links.matchAll(/<([^>#]*)(?:#\w+)?>/g)].map(([, address]) => address)
    expect(addresses).toEqual([`${prefix}/v1/seats`, `${prefix}/docs`, `${prefix}/docs/errors`])
  })
})
