import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { networkOf } from '../../../src/engine/http/networks.ts'
import { drain } from '../../../src/engine/http/server.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { eventually } from '../../lib/eventually.ts'
import { authorization, fakeTheatre, openServer } from './fake-services.ts'

const list = `GET /v1/seats HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`

const probe = 'GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n'

async function openLimited(
  limits: { max?: number; maxPerAddress?: number; isTrustedProxy?: (address: string) => boolean } = {},
) {
  const { logger, lines } = captureLog('warn')
  const connections = { max: 100, maxPerAddress: 100, isTrustedProxy: () => false, ...limits }
  const { services, app, listen } = await openServer(fakeTheatre(), { logger, connections })
  const port = await listen()
  onTestFinished(async () => {
    const closed = drain(app.server, 1)
    app.server.closeAllConnections()
    await closed
  })
  const open = (from = '127.0.0.1') => connect({ port, host: '127.0.0.1', localAddress: from }).on('error', () => {})
  /** One after the other: the system may let in those that are opened at once in any order. */
  async function accepted(from?: string) {
    const [socket] = await Promise.all([open(from), once(app.server, 'connection')])
    return socket
  }
  return { services, lines, open, accepted }
}

/** Whether the socket is let in: then it gets an answer, else its end. */
async function isServed(socket: Socket): Promise<boolean> {
  socket.write(list)
  const served = once(socket, 'data').then(
    () => true,
    () => false,
  )
  return Promise.race([served, once(socket, 'close').then(() => false)])
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

it('closes a connection on which more than 100 requests wait', async () => {
  const { services, open } = await openLimited()
  let begun = 0
  services.beforeRead = () => {
    begun++
    return new Promise(() => {})
  }
  const [patient, flooding] = [open(), open()]
  patient.write(list.repeat(101))
  flooding.write(list.repeat(102))
  await once(flooding, 'close')
  await eventually(() => expect(begun).toBe(2))
  expect(patient.destroyed).toBe(false)
})

it.each([
  ['an address', { maxPerAddress: 2 }, '127.0.0.1 has 2 connections'],
  ['all', { max: 2 }, 'there are 2 connections'],
])('closes connections beyond the limit of %s, and says so once for many', async (_of, limits, reason) => {
  const { lines, open } = await openLimited(limits)
  const [first, second] = [open(), open()]
  expect([await isServed(first), await isServed(second)]).toEqual([true, true])
  for (let more = 0; more < 3; more++) expect(await isServed(open())).toBe(false)
  expect(lines).toMatchObject([{ refused: 1, msg: expect.stringContaining(reason) }])
  first.destroy()
  await eventually(async () => expect(await isServed(open())).toBe(true))
})

it('does not count the connections of a proxy as those of one address', async () => {
  const { open } = await openLimited({ maxPerAddress: 1, isTrustedProxy: () => true })
  expect([await isServed(open()), await isServed(open())]).toEqual([true, true])
})

describe('when all connections are taken', () => {
  it('the one without a key that is idle for longest makes room, and says so once for many', async () => {
    const { services, lines, open, accepted } = await openLimited({ max: 5 })
    const goesOn = Promise.withResolvers<void>()
    onTestFinished(() => goesOn.resolve())
    const keyed = open()
    expect(await isServed(keyed)).toBe(true)
    const [waiting, busy] = [await accepted(), await accepted()]
    const others = [waiting, busy, await accepted(), await accepted('127.0.0.2')]
    vi.spyOn(services.health, 'ready').mockImplementationOnce(async () => {
      await goesOn.promise
      return { ready: true, checks: { eventLog: { status: 'up' } } }
    })
    waiting.write(probe)
    await eventually(() => expect(services.health.ready).toHaveBeenCalled())
    busy.write(probe)
    await once(busy, 'data')
    const closed = others.map((socket) => once(socket, 'close'))
    for (const idle of [2, 3, 1]) {
      expect(await isServed(open('127.0.0.3'))).toBe(true)
      await closed[idle]
    }
    expect([keyed, waiting].map((socket) => socket.closed)).toEqual([false, false])
    expect(await isServed(open())).toBe(false)
    const why = expect.stringContaining('there are 5 connections')
    expect(lines).toMatchObject([
      { closed: 1, msg: why },
      { refused: 1, msg: why },
    ])
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
