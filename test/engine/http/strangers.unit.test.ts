import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Connections } from '../../../src/engine/http/wire/connections.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { eventually } from '../../lib/eventually.ts'
import { adjustableClock } from '../rebuilding/rebuilding.ts'
import { bearer, head, list, receiveAll, statusesIn, whenClosed } from './raw.ts'
import { openServer, theatreServices } from './test-services.ts'

/** More than the system keeps of what a client does not take. */
const unread = head('GET /docs/static/swagger-ui-bundle.js HTTP/1.1').repeat(20)
const chunked = (...headers: string[]) =>
  head('POST /v1/seats HTTP/1.1', 'Content-Type: application/json', 'Transfer-Encoding: chunked', ...headers)
const oneSeat = '{"name":"A12","rowId":7}'

async function open(options: Parameters<typeof openServer>[1] = {}) {
  const { app, services, listen } = await openServer(theatreServices(), options)
  const port = await listen()
  onTestFinished(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  /** Both ends of a connection. */
  async function openBoth(): Promise<[client: Socket, server: Socket]> {
    const accepted = once(app.server, 'connection')
    const client = connect(port, '127.0.0.1').on('error', () => {})
    client.setNoDelay(true)
    onTestFinished(() => void client.destroy())
    return [client, (await accepted)[0]]
  }
  return { app, services, openBoth }
}

/** A client that has asked for more than it takes, and the answer that it does not take. */
async function openUnread(opened: Awaited<ReturnType<typeof open>>) {
  const [client, server] = await opened.openBoth()
  client.pause().write(unread)
  const answer = await eventually(() => {
    const { _httpMessage: response } = server as unknown as { _httpMessage?: ServerResponse }
    expect(response?.writableEnded && server.writableLength > 0).toBe(true)
    return response as ServerResponse
  })
  return { client, server, answer }
}

/** What the system has not taken yet of what it was given. */
const queued = (socket: Socket) => (socket as unknown as { _handle: { writeQueueSize: number } })._handle.writeQueueSize

/** The statuses of all answers until the connection is closed. */
const statusesOf = async (client: Socket) => statusesIn(await receiveAll(client))

it('bytes behind a broken request, and an answer that is not taken, are not read and cost nothing', async () => {
  const opened = await open()
  const { client, server, answer } = await openUnread(opened)
  let errors = 0
  opened.app.server.on('clientError', () => errors++)
  client.write('rubbish\r\n\r\n')
  await eventually(() => expect(errors).toBe(1))
  const [listeners, bytes] = [answer.listenerCount('finish'), server.bytesRead]
  for (let sent = 0; sent < 200; sent++) await new Promise((resolve) => client.write('x', resolve))
  await opened.openBoth() // so the server had its turn
  expect([errors, answer.listenerCount('finish'), server.bytesRead]).toEqual([1, listeners, bytes])
  expect((await statusesOf(client))[0]).toBe(200)
})

it('answers the complete requests before a broken one, and no other, then closes', async () => {
  const { services, openBoth } = await open()
  const [client] = await openBoth()
  const goesOn = Promise.withResolvers<void>()
  services.beforeRead = () => goesOn.promise
  client.write(`${list}${list}${chunked(bearer)}zz\r\n`)
  const answers = statusesOf(client)
  await eventually(() => expect(services.atLeast).toHaveLength(1))
  goesOn.resolve()
  expect(await answers).toEqual([200, 200])
})

it('an answer to a tunnel is not taken for that to the request before', async () => {
  const { services, app, openBoth } = await open()
  const [client] = await openBoth()
  const goesOn = Promise.withResolvers<void>()
  services.beforeRead = () => goesOn.promise
  const answers = statusesOf(client)
  const asked = once(app.server, 'connect')
  client.write(list + head('CONNECT a:1 HTTP/1.1'))
  await asked
  goesOn.resolve()
  expect(await answers).toEqual([200])
})

it('a client that resets a tunnel ends its connection, and nothing else', async () => {
  const { openBoth } = await open()
  for (let times = 0; times < 5; times++) {
    const [client, server] = await openBoth()
    client.write(head('CONNECT a:1 HTTP/1.1'), () => client.resetAndDestroy())
    await whenClosed(server)
  }
})

it('closes behind an upgrade that it does not know, since a request sent with it is not read', async () => {
  const { openBoth } = await open()
  const [client] = await openBoth()
  client.write(head('GET /v1/seats HTTP/1.1', bearer, 'Connection: Upgrade', 'Upgrade: h2c') + list)
  expect(await statusesOf(client)).toEqual([200])
})

it('a body in very many pieces is 413, and what has come of it is not taken for the body', async () => {
  const { logger, lines } = captureLog()
  const { services, openBoth } = await open({ logger })
  const [client] = await openBoth()
  const pieces = [...oneSeat.padEnd(1100)].map((byte) => `1\r\n${byte}\r\n`).join('')
  client.write(`${chunked(bearer)}${pieces}0\r\n\r\n`)
  expect(await statusesOf(client)).toEqual([413])
  await eventually(() => expect(services.traffic.inFlight).toBe(0))
  expect(services.handled).toEqual([])
  expect([...services.traffic.errors]).toEqual([['payload_too_large', 1]])
  expect(lines).toEqual([])
})

it('a body in some pieces is read', async () => {
  const { services, openBoth } = await open()
  const [client] = await openBoth()
  const pieces = [...oneSeat.padEnd(1000)].map((byte) => `1\r\n${byte}\r\n`).join('')
  client.write(`${chunked(bearer, 'Connection: close')}${pieces}0\r\n\r\n`)
  expect(await statusesOf(client)).toEqual([201])
  expect(services.handled).toHaveLength(1)
})

it('keeps no more than some pieces of a body that waits for its turn', async () => {
  const { app, openBoth } = await open()
  const [client, server] = await openBoth()
  const waiting = new Promise<IncomingMessage>((resolve) => {
    app.server.on('request', (request) => request.method === 'POST' && resolve(request))
  })
  client.pause().write(unread + chunked() + '1\r\nx\r\n'.repeat(70_000))
  const request = await waiting
  await eventually(() => expect(server.bytesRead).toBeGreaterThan(60_000))
  await new Promise(setImmediate) // what was read is parsed now
  expect(request.readableLength).toBeLessThanOrEqual(1024)
})

it('closes a connection whose client takes nothing for 20 seconds, though it goes on sending, and no other', async () => {
  const skipTime = adjustableClock()
  const opened = await open()
  const connections = Connections.of(opened.app.server)
  const { client, server } = await openUnread(opened)
  client.write('GET /livez HTTP/1.1\r\n')
  const [slow, ofSlow] = await opened.openBoth()
  slow.pause().write(unread)
  await eventually(() => expect(ofSlow.writableLength).toBeGreaterThan(0))
  const [idle, ofIdle] = await opened.openBoth()
  idle.write(list)
  await once(idle, 'data')
  for (let seconds = 0; seconds < 20; seconds += 5) {
    connections?.closeStuck()
    expect(server.destroyed).toBe(false)
    const [read, before] = [server.bytesRead, queued(ofSlow)]
    client.write('X: y\r\n')
    await eventually(() => expect(server.bytesRead).toBeGreaterThan(read))
    await eventually(() => {
      slow.read()
      expect(queued(ofSlow)).not.toBe(before)
    })
    skipTime(5_000)
  }
  connections?.closeStuck()
  expect([server.destroyed, ofSlow.destroyed, ofIdle.destroyed]).toEqual([true, false, false])
})

it('closes no connection on which an answer is still to come, however long that takes', async () => {
  const skipTime = adjustableClock()
  const { app, services, openBoth } = await open()
  expect(app.server.timeout).toBe(0) // Node's own, which knows nothing of deadlines
  const [client] = await openBoth()
  const goesOn = Promise.withResolvers<void>()
  services.beforeRead = () => goesOn.promise
  client.write(list)
  await eventually(() => expect(services.atLeast).toHaveLength(1))
  for (let minutes = 0; minutes < 3; minutes++) {
    Connections.of(app.server)?.closeStuck()
    skipTime(60_000)
  }
  goesOn.resolve()
  const [answer] = await once(client, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1.1 200/)
})
