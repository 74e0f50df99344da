import { type AddressInfo, connect } from 'node:net'
import { expect, it, vi } from 'vitest'
import { authorization, expectError, FakeServices, key, openApp } from './fake-services.ts'

/** A server that holds back reads until `end`, on its port; `list` is the status of a list, `reads` how many began. */
async function openHolding(maxInFlightPerKey: number) {
  const services = new FakeServices()
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const begun = vi.fn(() => promise)
  Object.assign(services, { maxInFlightPerKey, beforeRead: begun })
  services.keys.set('other', 'key-2')
  const app = await openApp(services)
  const list = (headers: Record<string, string> = { authorization }) => app.inject({ url: '/v1/pets', headers })
  const port = async () => {
    await app.listen({ host: '127.0.0.1', port: 0 })
    return (app.server.address() as AddressInfo).port
  }
  return { services, app, list, end, begun, port }
}

it('refuses requests of an API key beyond its limit in flight, with Retry-After, until one is answered', async () => {
  const { app, list, end, begun } = await openHolding(2)
  const waiting = [list(), list()]
  await vi.waitFor(() => expect(begun).toHaveBeenCalledTimes(2))
  for (let more = 0; more < 3; more++) {
    const refused = await list()
    expectError(refused, 429, 'too_many_requests', 'already has 2 requests in flight')
    expect(refused.headers['retry-after']).toBe('1')
  }
  expect((await list({ authorization: 'Bearer wrong' })).statusCode).toBe(401)
  const other = list({ authorization: 'Bearer other' })
  await vi.waitFor(() => expect(begun).toHaveBeenCalledTimes(3))
  end()
  for (const answer of await Promise.all([...waiting, other])) expect(answer.statusCode).toBe(200)
  expect((await Promise.all([list(), list()])).map(({ statusCode }) => statusCode)).toEqual([200, 200])
  await app.close()
})

it('counts a request no longer once it has any answer', async () => {
  const { app, list, end, services } = await openHolding(1)
  end()
  const requests = [
    { url: '/v1/pets?limit=0' },
    { url: '/v1/pets/2' },
    { method: 'HEAD', url: '/v1/pets' },
    { method: 'POST', url: '/v1/pets', payload: 'x' },
    { method: 'PUT', url: '/v1/pets' },
  ] as const
  for (const request of requests) {
    await app.inject({ ...request, headers: { authorization } })
    expect((await list()).statusCode).toBe(200)
  }
  services.beforeRead = () => Promise.reject(new Error('a bug'))
  expect([(await list()).statusCode, (await list()).statusCode]).toEqual([500, 500])
  await app.close()
})

it.each<[string, string]>([
  ['while its answer is waited for', 'GET /v1/pets HTTP/1.1\r\n'],
  ['in the middle of its body', 'POST /v1/pets HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n'],
])('counts a request no longer whose client goes %s', async (_when, head) => {
  const { app, list, end, services, port } = await openHolding(1)
  const findKey = vi.spyOn(services, 'findKey')
  const socket = connect(await port(), '127.0.0.1')
  socket.write(`${head}Host: a\r\nAuthorization: ${authorization}\r\n\r\n{`)
  await vi.waitFor(() => expect(findKey).toHaveBeenCalledWith(key))
  expect((await list()).statusCode).toBe(429)
  socket.destroy()
  end()
  await vi.waitFor(async () => expect((await list()).statusCode).toBe(200))
  await app.close()
})

it('counts a follower of the events no longer who goes before the feed begins, and ends its feed', async () => {
  const { app, list, end, begun, services, port } = await openHolding(1)
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  let signal: AbortSignal | undefined
  let following = 0
  async function* steps() {
    following++
    try {
      for (;;) yield await held.then(() => ({ events: [], after: [] }))
    } finally {
      following--
    }
  }
  services.feed.follow = async (_query, gone) => {
    signal = gone
    await held
    return steps()
  }
  const socket = connect(await port(), '127.0.0.1')
  socket.write(`GET /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`)
  await vi.waitFor(() => expect(signal).toBeDefined())
  expect((await list()).statusCode).toBe(429)
  socket.destroy()
  await vi.waitFor(() => expect(signal?.aborted).toBe(true))
  release()
  end()
  await vi.waitFor(async () => expect((await list()).statusCode).toBe(200))
  expect(begun).toHaveBeenCalledOnce()
  expect(following).toBe(0)
  await app.close()
})
