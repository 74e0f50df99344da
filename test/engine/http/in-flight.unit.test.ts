import { connect } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { eventually } from '../../lib/eventually.ts'
import { authorization, expectError, key, openServer, otherKey, theatreServices } from './test-services.ts'

/** A server that holds back reads until `end`; `list` asks for a list, `begun` is called by each. */
async function openHolding(maxInFlightPerKey: number) {
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const begun = vi.fn(() => promise)
  const services = Object.assign(theatreServices(), { maxInFlightPerKey, beforeRead: begun })
  const server = await openServer(services)
  onTestFinished(() => {
    end()
    return server.app.close()
  })
  const list = (headers?: Record<string, string>) => server.get('/v1/seats', headers)
  return { ...server, list, end, begun }
}

it('refuses requests of an API key beyond its limit in flight, with Retry-After, until one is answered', async () => {
  const { list, end, begun } = await openHolding(2)
  const waiting = [list(), list()]
  await eventually(() => expect(begun).toHaveBeenCalledTimes(2))
  for (let more = 0; more < 3; more++) {
    const refused = await list()
    expectError(refused, 429, 'too_many_requests', 'already has 2 requests in flight')
    expect(refused.headers['retry-after']).toBe('1')
  }
  expect((await list({ authorization: 'Bearer wrong' })).statusCode).toBe(401)
  const other = list({ authorization: `Bearer ${otherKey}` })
  await eventually(() => expect(begun).toHaveBeenCalledTimes(3))
  end()
  for (const answer of await Promise.all([...waiting, other])) expect(answer.statusCode).toBe(200)
  expect((await Promise.all([list(), list()])).map(({ statusCode }) => statusCode)).toEqual([200, 200])
})

it('counts a request no longer once it has any answer', async () => {
  const { app, list, end, services } = await openHolding(1)
  end()
  const requests = [
    { url: '/v1/seats?limit=0' },
    { url: '/v1/seats/2' },
    { method: 'HEAD', url: '/v1/seats' },
    { method: 'POST', url: '/v1/seats', payload: 'x' },
    { method: 'PUT', url: '/v1/seats' },
  ] as const
  for (const request of requests) {
    await app.inject({ ...request, headers: { authorization } })
    expect((await list()).statusCode).toBe(200)
  }
  services.beforeRead = () => Promise.reject(new Error('a bug'))
  expect([(await list()).statusCode, (await list()).statusCode]).toEqual([500, 500])
})

it.each<[string, string]>([
  ['while its answer is waited for', 'GET /v1/seats HTTP/1.1\r\n'],
  ['in the middle of its body', 'POST /v1/seats HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n'],
])('counts a request no longer whose client goes %s', async (_when, head) => {
  const { list, end, services, listen } = await openHolding(1)
  const findKey = vi.spyOn(services, 'findKey')
  const socket = connect(await listen(), '127.0.0.1')
  socket.write(`${head}Host: a\r\nAuthorization: ${authorization}\r\n\r\n{`)
  await eventually(() => expect(findKey).toHaveBeenCalledWith(key, expect.any(Number)))
  expect((await list()).statusCode).toBe(429)
  socket.destroy()
  end()
  await eventually(async () => expect((await list()).statusCode).toBe(200))
})

it('counts a follower of the events no longer who goes before the feed begins, and ends its feed', async () => {
  const { list, end, begun, services, listen } = await openHolding(1)
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
  services.feed.follow = async (_query, _account, gone) => {
    signal = gone
    await held
    return steps()
  }
  const socket = connect(await listen(), '127.0.0.1')
  socket.write(`GET /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`)
  await eventually(() => expect(signal).toBeDefined())
  expect((await list()).statusCode).toBe(429)
  socket.destroy()
  await eventually(() => expect(signal?.aborted).toBe(true))
  release()
  end()
  await eventually(async () => expect((await list()).statusCode).toBe(200))
  expect(begun).toHaveBeenCalledOnce()
  expect(following).toBe(0)
})
