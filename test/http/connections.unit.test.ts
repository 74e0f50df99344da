import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { drain } from '../../src/http/server.ts'
import { captureLog } from '../lib/captured-log.ts'
import { eventually } from '../lib/eventually.ts'
import { authorization, FakeServices, openServer } from './fake-services.ts'

const list = `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`

async function openLimited(limits: { max?: number; maxPerAddress?: number; isTrustedProxy?: () => boolean } = {}) {
  const { logger, lines } = captureLog('warn')
  const connections = { max: 100, maxPerAddress: 100, isTrustedProxy: () => false, ...limits }
  const { services, app, listen } = await openServer(new FakeServices(), { logger, connections })
  const port = await listen()
  onTestFinished(async () => {
    const closed = drain(app.server, 1)
    app.server.closeAllConnections()
    await closed
  })
  return { services, lines, open: () => connect(port, '127.0.0.1').on('error', () => {}) }
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
