import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { networkOf, withoutPort } from '../../../src/engine/http/wire/networks.ts'
import { drain } from '../../../src/engine/http/wire/server.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { eventually } from '../../lib/eventually.ts'
import { list, whenClosed } from './raw.ts'
import { key, openServer, theatreServices } from './test-services.ts'

const up = { ready: true, checks: { eventLog: { status: 'up' } } }
const probe = 'GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n'

async function openLimited(
  limits: { max?: number; maxPerAddress?: number; isTrustedProxy?: (address: string) => boolean } = {},
) {
  const { logger, lines } = captureLog('warn')
  const connections = { max: 100, maxPerAddress: 100, isTrustedProxy: () => false, ...limits }
  const { services, app, listen } = await openServer(theatreServices(), { logger, connections })
  const port = await listen()
  async function close() {
    const closed = drain(app.server, 1)
    app.server.closeAllConnections()
    await closed
  }
  onTestFinished(close)
  const open = (from = '127.0.0.1') => connect({ port, host: '127.0.0.1', localAddress: from }).on('error', () => {})
  /** One after the other: the system may let in those that are opened at once in any order. */
  async function accepted(from?: string) {
    const [socket] = await Promise.all([open(from), once(app.server, 'connection')])
    return socket
  }
  return { app, services, lines, open, accepted, close }
}

/** Whether the socket is let in: then it gets an answer, else its end. */
async function isServed(socket: Socket, candidate = key): Promise<boolean> {
  socket.write(list.replace(key, candidate))
  const served = once(socket, 'data').then(
    () => true,
    () => false,
  )
  return Promise.race([served, whenClosed(socket).then(() => false)])
}

it('handles the requests of one connection one after the other', async () => {
  const { services, open } = await openLimited()
  const ends: (() => void)[] = []
  services.beforeRead = () => new Promise((resolve) => void ends.push(resolve))
  const socket = open()
  socket.write(list.repeat(3))
  for (const handled of [1, 2, 3]) {
    await eventually(() => expect(ends).toHaveLength(handled))
    if (handled < 3) await eventually(() => expect(services.atLeast.length).toBe(handled))
    ends.at(-1)?.()
  }
})

const large = list.replace('\r\n\r\n', `\r\nx: ${'y'.repeat(15_000)}\r\n\r\n`)

it.each([
  ['large', large, 13, 17],
  ['tiny', list, 100, 130],
])('closes a connection on which more than 256 KiB of %s requests wait', async (_, request, few, many) => {
  const { services, lines, open } = await openLimited()
  let begun = 0
  services.beforeRead = () => {
    begun++
    return new Promise(() => {})
  }
  const [patient, flooding] = [open(), open()]
  patient.write(request.repeat(few))
  flooding.write(request.repeat(many))
  await whenClosed(flooding)
  await eventually(() => expect(begun).toBe(2))
  expect(patient.destroyed).toBe(false)
  expect(lines).toMatchObject([
    { closed: 1, msg: expect.stringContaining('more than 256 KiB of requests wait on one') },
  ])
  expect([...services.traffic.closed]).toEqual([['waiting', 1]])
  patient.destroy()
  await eventually(() => expect(services.traffic.waitingBytes).toBe(0))
})

it('closes those with the most waiting requests beyond 64 MiB of them in all, strangers first, and none for its first', async () => {
  const { services, open } = await openLimited({ max: 500, maxPerAddress: 500 })
  const [held, goesOn] = [
    probe.replace('\r\n\r\n', `\r\nx: ${'y'.repeat(15_000)}\r\n\r\n`),
    Promise.withResolvers<void>(),
  ]
  onTestFinished(() => goesOn.resolve())
  services.beforeRead = () => goesOn.promise
  vi.spyOn(services.health, 'ready').mockImplementation(async () => {
    await goesOn.promise
    return up
  })
  const keyed = open()
  keyed.write(large.repeat(14))
  await eventually(() => expect(services.traffic.waitingBytes).toBeGreaterThan(200_000))
  const modest = Array.from({ length: 20 }, () => open())
  for (const socket of modest) socket.write(held.repeat(2))
  const flooding = Array.from({ length: 400 }, () => open())
  for (const socket of flooding) socket.write(held.repeat(13))
  await eventually(() => expect(flooding.filter(({ destroyed }) => destroyed).length).toBeGreaterThan(40))
  expect(services.traffic.waitingBytes).toBeLessThanOrEqual(64 * 1024 ** 2)
  expect([keyed, ...modest].filter(({ destroyed }) => destroyed)).toEqual([])
})

it('has others served between the requests of those who pipeline', async () => {
  const { services, open } = await openLimited()
  const [connections, each] = [40, 20]
  const goOn = Promise.withResolvers<void>()
  let [begun, begunBefore] = [0, 0]
  services.beforeRead = () => {
    begun++
    return begun <= connections ? goOn.promise : Promise.resolve()
  }
  vi.spyOn(services.health, 'ready').mockImplementationOnce(async () => {
    begunBefore = begun
    return up
  })
  const pipelining = Array.from({ length: connections }, () => open().resume())
  for (const socket of pipelining) socket.write(list.repeat(each))
  await eventually(() => expect(begun).toBe(connections))
  const other = open()
  await once(other, 'connect')
  goOn.resolve()
  other.write(probe)
  await once(other, 'data')
  await eventually(() => expect(begun).toBe(connections * each))
  expect(begunBefore).toBeLessThan((connections * each) / 2)
})

it('reads nothing behind the requests for which a connection was closed', async () => {
  const { app, services, open } = await openLimited()
  let parsed = 0
  app.server.on('request', () => void parsed++)
  const flooding = open().resume()
  flooding.write('GET /livez HTTP/1.1\r\n\r\n'.repeat(2500))
  await whenClosed(flooding)
  await eventually(() => expect(services.traffic.waitingBytes).toBe(0))
  expect(parsed).toBeGreaterThan(100)
  expect(parsed).toBeLessThan(150)
})

it('reads four new connections in a turn of the event loop', async () => {
  const { app, open } = await openLimited()
  let turn = 0
  let timer = setImmediate(function count() {
    turn++
    timer = setImmediate(count)
  })
  onTestFinished(() => clearImmediate(timer))
  const read: number[] = []
  app.server.on('request', () => void read.push(turn))
  const sockets = Array.from({ length: 60 }, () => open())
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (const socket of sockets) socket.write(list)
  await eventually(() => expect(read).toHaveLength(60))
  const perTurn = [...Map.groupBy(read, (each) => each).values()].map(({ length }) => length)
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(4)
})

it('tells when each request had arrived, so that all wait for one look at the keys', async () => {
  const { services, open } = await openLimited()
  const arrived: number[] = []
  const find = services.findKey
  let answeredAtMs = 0
  services.findKey = async (key, arrivedAtMs = Number.NaN) => {
    arrived.push(arrivedAtMs)
    await eventually(() => expect(services.traffic.waitingBytes).toBeGreaterThan(0))
    answeredAtMs ||= performance.now()
    return find(key)
  }
  const socket = open()
  socket.write(list.repeat(3))
  await eventually(() => expect(arrived.length).toBeGreaterThan(1))
  expect(arrived[1]).toBeLessThan(answeredAtMs)
  socket.destroy()
})

it.each([
  ['an address', { maxPerAddress: 2 }, '127.0.0.1 has 2 connections'],
  ['all', { max: 2 }, 'there are 2 connections'],
])('closes connections beyond the limit of %s, and says so once for many', async (_of, limits, reason) => {
  const { services, lines, open, close } = await openLimited(limits)
  const goesOn = Promise.withResolvers<void>()
  onTestFinished(() => goesOn.resolve())
  services.beforeRead = () => goesOn.promise
  const busy = [open(), open()]
  for (const socket of busy) socket.write(list)
  await eventually(() => expect(services.atLeast).toHaveLength(2))
  for (let more = 0; more < 3; more++) expect(await isServed(open())).toBe(false)
  expect(lines).toMatchObject([{ refused: 1, msg: expect.stringContaining(reason) }])
  expect([...services.traffic.closed]).toEqual([['limit', 3]])
  services.beforeRead = async () => {}
  busy[0]?.destroy()
  await eventually(async () => expect(await isServed(open())).toBe(true))
  await close()
  expect(lines.reduce((sum, { refused }) => sum + Number(refused), 0)).toBe(services.traffic.closed.get('limit'))
})

it('does not count the connections of a proxy as those of one address', async () => {
  const { open } = await openLimited({ maxPerAddress: 1, isTrustedProxy: () => true })
  expect([await isServed(open()), await isServed(open())]).toEqual([true, true])
})

describe('when all connections are taken', () => {
  it('the longest idle of the stranger with the most makes room, and says so once for many', async () => {
    const { services, lines, open, accepted } = await openLimited({ max: 5 })
    const goesOn = Promise.withResolvers<void>()
    onTestFinished(() => goesOn.resolve())
    const keyed = open()
    expect(await isServed(keyed)).toBe(true)
    const [waiting, busy] = [await accepted(), await accepted()]
    const others = [waiting, busy, await accepted(), await accepted('127.0.0.2')]
    vi.spyOn(services.health, 'ready').mockImplementationOnce(async () => {
      await goesOn.promise
      return up
    })
    waiting.write(probe)
    await eventually(() => expect(services.health.ready).toHaveBeenCalled())
    busy.write(probe)
    await once(busy, 'data')
    const closed = others.map((socket) => whenClosed(socket))
    for (const idle of [2, 1, 3]) {
      expect(await isServed(open('127.0.0.3'))).toBe(true)
      await closed[idle]
    }
    expect([keyed, waiting].map((socket) => socket.closed)).toEqual([false, false])
    const why = expect.stringContaining('there are 5 connections')
    expect(lines).toMatchObject([{ closed: 1, msg: why }])
    expect([...services.traffic.closed]).toEqual([['room', 3]])
  })

  it('by owners, and few strangers, the longest idle of the owner with the most makes room', async () => {
    const { services, open, accepted } = await openLimited({ max: 5 })
    services.keys.set('rotated', 'key-1')
    const of = async (candidate: string) => {
      const socket = open()
      expect(await isServed(socket, candidate)).toBe(true)
      return socket
    }
    const stranger = await accepted()
    const other = await of('other-key')
    const [first, second, third] = [await of('test-key'), await of('rotated'), await of('test-key')]
    expect(await isServed(first)).toBe(true) // so it was idle for less long
    expect(await isServed(open(), 'other-key')).toBe(true)
    await eventually(() => expect([second, third].filter(({ closed }) => closed)).toHaveLength(1))
    expect([stranger, other, first].map(({ closed }) => closed)).toEqual([false, false, false])
  })

  it('connections of a key that is revoked make room as those of strangers', async () => {
    const { services, open } = await openLimited({ max: 3 })
    const [revoked, ...valid] = [open(), open(), open()]
    expect(await isServed(revoked, 'other-key')).toBe(true)
    for (const socket of valid) expect(await isServed(socket)).toBe(true)
    services.keys.delete('other-key')
    const closed = whenClosed(revoked)
    expect(await isServed(open())).toBe(true)
    await closed
    expect(valid.map((socket) => socket.closed)).toEqual([false, false])
  })

  it('a proxy keeps its own', async () => {
    const { open } = await openLimited({ max: 1, isTrustedProxy: (address) => address === '127.0.0.2' })
    const ofProxy = open('127.0.0.2')
    await once(ofProxy, 'connect')
    expect(await isServed(open())).toBe(false)
    expect(await isServed(ofProxy)).toBe(true)
  })
})

it.each([
  ['192.0.2.1', '192.0.2.1', true],
  ['192.0.2.1', '192.0.2.2', false],
  ['::ffff:192.0.2.1', '192.0.2.1', true],
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
  ['2001:db8::1', '2001:db8::2:0:0:1', true],
  ['2001:db8::1', '2001:db8:0:1::1', false],
  ['2001:db8::5:6:7:8:9', '2001:db8:0:5:6:7:8:9', true],
  ['2001:db8::5:6:7:8:9', '2001:db8::5', false],
  ['::1', '::2', true],
  ['fe80::1%eth0', 'fe80::2%eth0', true],
])('%s and %s count as one: %s', (one, other, isSame) => {
  expect(networkOf(one) === networkOf(other)).toBe(isSame)
})

const unchanged =
  '203.0.113.9 2001:db8::1 2001:db8::1:4711 203.0.113.9: 203.0.113.999:1 [203.0.113.9]:1 [x]:1 unknown x:1'
it.each<[string, string]>([
  ['203.0.113.9:4711', '203.0.113.9'],
  ['[2001:db8::1]:4711', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[::ffff:203.0.113.9]:1', '::ffff:203.0.113.9'],
  ['[fe80::1%eth0]:4711', 'fe80::1%eth0'],
  ...unchanged.split(' ').map((text): [string, string] => [text, text]),
])('the address in %s is %s', (text, address) => {
  expect(withoutPort(text)).toBe(address)
})
