import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { writeToken } from '../../../src/engine/http/values/tokens.ts'
import { Connections } from '../../../src/engine/http/wire/connections.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { eventually } from '../../lib/eventually.ts'
import { adjustableClock } from '../rebuilding/rebuilding.ts'
import { authorization, expectError, openServer, testServer, theatreServices, tokenScope } from './test-services.ts'

const server = testServer()
const created = '{"specversion":"1.0",\r\n"type":"theatre.SeatAdded.v1"}'

describe('the feed', () => {
  it('is made of server-sent events, the last of each step with the id to go on from', async () => {
    const [none, one] = [[], [{ partition: 0, offset: 1 }]]
    server.services.steps = async function* () {
      yield { events: [], after: none }
      const event = { stream: '1', type: 'theatre.SeatAdded.v1' }
      const booking = { stream: '1', type: 'theatre.BookingPlaced.v1' }
      yield {
        events: [
          { ...event, json: created },
          { ...booking, json: '{}' },
        ],
        after: one,
      }
      yield { events: [], after: one }
      yield { events: [{ ...event, json: '{}' }], after: one }
    }
    const answer = await server.get('/v1/events')
    expect(answer.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
    })
    expect(answer.body).toBe(
      `retry: 2000\nid: ${writeToken(tokenScope, none)}\n\n` +
        'event: theatre.SeatAdded.v1\ndata: {"specversion":"1.0",\ndata: "type":"theatre.SeatAdded.v1"}\n\n' +
        `id: ${writeToken(tokenScope, one)}\nevent: theatre.BookingPlaced.v1\ndata: {}\n\n` +
        ':\n\nevent: theatre.SeatAdded.v1\ndata: {}\n\n', // an id comes only if it is another one
    )
  })

  const position = { partition: 5, offset: 9 }
  const id = writeToken(tokenScope, [position])
  it.each([
    ['', {}, { after: 'now' }],
    ['', { 'last-event-id': '' }, { after: 'now' }],
    ['?from=start', {}, { after: [] }],
    ['?from=start', { 'last-event-id': id }, { after: [position] }],
    ['', { 'last-event-id': writeToken(tokenScope, []) }, { after: [] }],
    ['?seatId=7&type=theatre.BookingPlaced.v1', {}, { after: 'now', stream: '7', type: 'theatre.BookingPlaced.v1' }],
  ])('%s with %j begins as it says', async (query, headers, expected) => {
    await server.get(`/v1/events${query}`, headers as Record<string, string>)
    expect(server.services.followed).toEqual([expected])
  })

  const other = writeToken({ ...tokenScope, logId: 'another' }, [position])
  it.each([
    ['?type=theatre.SeatSold.v1', {}, 'invalid_request', 'query: type'],
    ['?type=theatre.EventDiscarded.v1', {}, 'invalid_request', 'query: type'],
    ['?from=end', {}, 'invalid_request', 'query: from'],
    ['?seatId=a12', {}, 'invalid_request', 'query: seatId'],
    ['?since=1', {}, 'invalid_request', 'query'],
    ['', { 'last-event-id': other }, 'invalid_consistency_token', 'Last-Event-ID belongs to another event log'],
    ['', { 'last-event-id': '12' }, 'invalid_consistency_token', 'Last-Event-ID was not issued'],
  ] as const)('%s with %j is 400 %s', async (query, headers, code, message) => {
    expectError(await server.get(`/v1/events${query}`, headers), 400, code, message)
    expect(server.services.followed).toEqual([])
  })

  it('that cannot begin is answered with the error', async () => {
    server.services.steps = () => {
      throw new ServiceError('event_log_unavailable', 'away')
    }
    expectError(await server.get('/v1/events'), 503, 'event_log_unavailable')
  })

  it('counts what it catches up with as reads of its owner, and leaves half of the rate to requests', async () => {
    const time = vi.spyOn(performance, 'now').mockReturnValue(1000)
    onTestFinished(() => time.mockRestore())
    const { services, get, app } = await openServer(
      Object.assign(theatreServices(), { rate: { requests: 6, seconds: 60 } }),
    )
    onTestFinished(() => app.close())
    const counted: number[] = []
    services.feed.follow = async (_query, { owner, count }) => {
      expect(owner).toBe('key-1')
      counted.push(count(), count(), count())
      return (async function* () {})()
    }
    await get('/v1/events')
    time.mockReturnValue(11_000)
    await get('/v1/events')
    expect(counted).toEqual([0, 0, 60_000, 50_000, 50_000, 50_000])
    expect([(await get('/v1/seats')).statusCode, (await get('/v1/seats')).statusCode]).toEqual([200, 200])
    expect((await get('/v1/seats')).statusCode).toBe(429)
  })

  it('has no HEAD, since it has no end', async () => {
    const answer = await server.send('HEAD', '/v1/events')
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET'])
  })

  it('needs a key with the scope read', async () => {
    server.services.scopes = new Set(['write'])
    expectError(await server.get('/v1/events'), 403, 'insufficient_scope')
    expectError(await server.get('/v1/events', { authorization: '' }), 401, 'unauthorized')
  })

  it('ends once its key is not valid any more', async () => {
    const { services } = server
    server.services.steps = async function* () {
      yield { events: [], after: [] }
      services.keys.clear()
      yield { events: [{ stream: '1', type: 'theatre.SeatAdded.v1', json: '{}' }], after: [] }
    }
    const answer = await server.get('/v1/events')
    expect([answer.statusCode, answer.body.includes('event:')]).toEqual([200, false])
  })

  it('is a request in flight until it ends', async () => {
    server.services.maxInFlightPerKey = 1
    const goesOn = Promise.withResolvers<void>()
    server.services.steps = async function* () {
      yield { events: [], after: [] }
      await goesOn.promise
    }
    const { app, listen } = await openServer(server.services)
    onTestFinished(() => app.close())
    const url = `http://127.0.0.1:${await listen()}`
    const feed = await fetch(`${url}/v1/events`, { headers: { authorization } })
    const get = () => fetch(`${url}/v1/seats`, { headers: { authorization } })
    expect([feed.status, (await get()).status]).toEqual([200, 429])
    goesOn.resolve()
    await feed.text()
    await eventually(async () => expect((await get()).status).toBe(200))
  })

  it('is told to a client that never reads no further than the system keeps for it, and then no more', async () => {
    const { app, listen, services } = await openServer(theatreServices())
    onTestFinished(() => app.close())
    const skipTime = adjustableClock()
    let hasLeft = false
    const event = { stream: '1', type: 'theatre.SeatAdded.v1', json: `"${'x'.repeat(1024 ** 2)}"` }
    let megabytes = 0
    async function* endless() {
      for (;;) {
        megabytes++
        yield { events: [event], after: [] }
      }
    }
    services.feed.follow = async (_query, _account, signal) => {
      signal.addEventListener('abort', () => {
        hasLeft = true
      })
      return endless()
    }
    const socket = connect(await listen(), '127.0.0.1').pause()
    onTestFinished(() => void socket.destroy())
    socket.write(`GET /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`)
    await eventually(() => expect(megabytes).toBeGreaterThan(1))
    await eventually(() => {
      Connections.of(app.server)?.closeStuck()
      skipTime(20_000)
      expect(hasLeft).toBe(true)
    })
    expect(megabytes).toBeLessThan(50)
    socket.resume() // only now does it learn that it was left
    await once(socket, 'close')
  })
})

it('a history that ends a page with one of several events goes on behind that one', async () => {
  const places: unknown[] = []
  server.services.feed.history = async (_, { after }) => {
    places.push(after)
    const last = after === undefined ? { version: 3, index: 0 } : undefined
    return { events: ['{"streamindex":0}'], last, isKnown: true, reached: [] }
  }
  onTestFinished(() => server.services.reset())
  const { headers, body } = await server.get('/v1/seats/7/events?limit=1')
  expect(body).toBe('[{"streamindex":0}]')
  const [, next = ''] = /^<(.+)>; rel="next"$/.exec(String(headers.link)) ?? []
  expect((await server.get(next)).headers.link).toBeUndefined()
  expect(places).toEqual([undefined, { version: 3, index: 0 }])
})
