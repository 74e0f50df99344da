import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildApp, drain } from '../../src/http/app.ts'
import type { ErrorCode } from '../../src/lib/errors.ts'
import { authorization, FakeServices, key, openApp } from './fake-services.ts'
import { exchange, readResponses, receiveAll } from './raw-socket.ts'

let services: FakeServices
let app: Awaited<ReturnType<typeof openApp>>
let port: number
beforeEach(async () => {
  services = new FakeServices()
  app = await openApp(services)
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as AddressInfo).port
})
afterEach(async () => {
  if (app.server.listening) await drain(app.server, 10)
  await app.close()
})

const head = (line: string, ...headers: string[]) => [line, 'Host: localhost', ...headers, '', ''].join('\r\n')
const bearer = `Authorization: ${authorization}`
const pet = '{"name":"Rex","categoryId":7}'
const post = (body = pet, length = body.length) =>
  head('POST /v1/pets HTTP/1.1', bearer, 'Content-Type: application/json', `Content-Length: ${length}`) + body
const list = head('GET /v1/pets HTTP/1.1', bearer)
const lastList = head('GET /v1/pets HTTP/1.1', bearer, 'Connection: close')
const chunked = head('POST /v1/pets HTTP/1.1', bearer, 'Content-Type: application/json', 'Transfer-Encoding: chunked')
const statuses = (text: string) => readResponses(text).map(({ status }) => status)

/** Holds commands back until `end`. `started` resolves when there is one. */
function holdCommands() {
  const { promise: blocked, resolve: end } = Promise.withResolvers<void>()
  const { promise: started, resolve: start } = Promise.withResolvers<void>()
  services.beforeCommand = () => {
    start()
    return blocked
  }
  return { started, end }
}

function expectRawError(text: string, status: number, code: ErrorCode): void {
  const responses = readResponses(text)
  expect(responses.map(({ status }) => status)).toEqual([status])
  expect(JSON.parse(responses[0]?.body ?? '')).toEqual({ code, message: expect.stringMatching(/./), status })
  expect(responses[0]?.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    connection: 'close',
  })
}

describe('two Authorization headers are 401', () => {
  it.each([
    [bearer, bearer],
    [bearer, 'authorization: Bearer wrong'],
    ['Authorization: Bearer wrong', bearer],
    [bearer, 'AUTHORIZATION:'],
  ])('%s and %s', async (...headers) => {
    const answer = await exchange(port, head('GET /v1/pets HTTP/1.1', ...headers, 'Connection: close'))
    expectRawError(answer, 401, 'unauthorized')
  })

  it('one is enough', async () => {
    expect(statuses(await exchange(port, lastList))).toEqual([200])
  })
})

describe('what is no valid HTTP is answered with an Error', () => {
  it.each<[string, string, number, ErrorCode]>([
    ['no HTTP', 'hello\r\n\r\n', 400, 'invalid_request'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'invalid_request'],
    ['an unknown method', head('JUMP /v1/pets HTTP/1.1'), 400, 'invalid_request'],
    ['a header without a name', head('GET /v1/pets HTTP/1.1', ': x'), 400, 'invalid_request'],
    ['two lengths', head('POST /v1/pets HTTP/1.1', 'Content-Length: 1', 'Content-Length: 2'), 400, 'invalid_request'],
    [
      'length and chunks',
      head('POST /v1/pets HTTP/1.1', 'Content-Length: 1', 'Transfer-Encoding: chunked'),
      400,
      'invalid_request',
    ],
    ['no Host', `GET /v1/pets HTTP/1.1\r\n${bearer}\r\nConnection: close\r\n\r\n`, 400, 'invalid_request'],
    ['a header of 17 KiB', head('GET /v1/pets HTTP/1.1', `X-Long: ${'x'.repeat(17 * 1024)}`), 431, 'headers_too_large'],
    ['a path of 17 KiB', head(`GET /v1/pets/${'1'.repeat(17 * 1024)} HTTP/1.1`), 431, 'headers_too_large'],
    ['a broken chunk', `${chunked}zz\r\n`, 400, 'invalid_request'],
    ['a chunk with an extension of 17 KiB', `${chunked}1;${'x'.repeat(17 * 1024)}`, 413, 'payload_too_large'],
  ])('%s', async (_what, bytes, status, code) => expectRawError(await exchange(port, bytes), status, code))

  it('and the server goes on', async () => {
    await exchange(port, 'hello\r\n\r\n')
    expect(statuses(await exchange(port, lastList))).toEqual([200])
  })
})

describe('one connection', () => {
  it('answers pipelined requests in order', async () => {
    const answer = await exchange(port, list + post() + head('GET /v1/pets/1 HTTP/1.1', bearer) + lastList)
    expect(statuses(answer)).toEqual([200, 201, 200, 200])
  })

  it('gives a request its answer although rubbish follows, then closes', async () => {
    const { end } = holdCommands()
    const broken = once(app.server, 'clientError')
    const answer = exchange(port, post(`${pet}rubbish\r\n\r\n`, pet.length))
    await broken
    end()
    expect(statuses(await answer)).toEqual([201])
  })

  it('stays usable after an error of the request', async () => {
    expect(statuses(await exchange(port, head('GET /v1/pets?limit=0 HTTP/1.1', bearer) + lastList))).toEqual([400, 200])
  })

  it('tells a client of 100 MB what is wrong, having read little of it', async () => {
    const total = 100 * 1024 * 1024
    const answer = await fetch(`http://127.0.0.1:${port}/v1/pets`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: new Blob([Buffer.alloc(total, 32)]),
    })
    expect([answer.status, await answer.json()]).toMatchObject([413, { code: 'payload_too_large' }])
  })

  it.each([
    ['text/plain', 415],
    ['application/json', 413],
  ])('tells a client of 1 MB without length, %s', async (type, status) => {
    const body = new Blob([Buffer.alloc(1024 * 1024, 32)]).stream()
    const headers = { authorization, 'content-type': type }
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' }
    const answer = await fetch(`http://127.0.0.1:${port}/v1/pets`, init)
    expect([answer.status, await answer.json()]).toMatchObject([status, { status }])
  })

  it('survives a client that leaves in the middle of a body, or before its answer', async () => {
    const half = connect(port, '127.0.0.1')
    half.end(post(pet, pet.length + 5))
    await receiveAll(half)
    const gone = connect(port, '127.0.0.1')
    gone.write(post())
    await expect.poll(() => services.events.length).toBe(1)
    gone.destroy()
    expect(statuses(await exchange(port, lastList))).toEqual([200])
  })

  it('does not look into a client that leaves in the middle of a body', async () => {
    const lines: string[] = []
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
    const logged = await buildApp(services, { logger })
    const server = logged.server.listen({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write(post(pet, pet.length + 5))
    const [request] = await once(server, 'request')
    const cut = new Promise((resolve) => request.once('close', resolve))
    socket.destroy()
    await cut
    await drain(server, 10)
    await logged.close()
    expect(lines).toEqual([])
  })

  it('tells a client that takes too long', async () => {
    const connected = once(app.server, 'connection')
    const answer = exchange(port, 'GET /v1/pets HTTP/1.1\r\n')
    const [socket] = await connected
    const timeout = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    app.server.emit('clientError', timeout, socket) // as Node does after 10 seconds
    expectRawError(await answer, 408, 'request_timeout')
  })

  it('serves a request with an expectation or an upgrade that it does not know', async () => {
    for (const header of ['Expect: the-unexpected', 'Expect: 100-continue', 'Connection: Upgrade\r\nUpgrade: h2c']) {
      const socket = connect(port, '127.0.0.1')
      socket.write(head('GET /v1/pets HTTP/1.1', bearer, header))
      const [data] = await once(socket, 'data')
      expect(String(data)).toMatch(/^HTTP\/1.1 (200|100)/)
      socket.destroy()
    }
  })
})

describe('draining', () => {
  it('closes no connection as long as new ones are taken', async () => {
    services.isDraining = true
    expect(statuses(await exchange(port, list + lastList))).toEqual([200, 200])
  })

  it('answers what is in flight and what still comes behind it, then closes the connection', async () => {
    const { started, end } = holdCommands()
    const inFlight = exchange(port, post())
    await started
    const idle = connect(port, '127.0.0.1')
    const late = receiveAll(idle)
    await once(idle, 'connect')
    services.isDraining = true
    const drained = drain(app.server, 50)
    idle.write(list)
    expect(readResponses(await late)).toMatchObject([{ status: 200, headers: { connection: 'close' } }])
    end()
    expect(readResponses(await inFlight)).toMatchObject([{ status: 201, headers: { connection: 'close' } }])
    await drained
  })

  const urls = '/livez /readyz /metrics /v1/pets /v1/pets/1 /nothing /v1/pets/%zz /docs /openapi.json'.split(' ')
  it.each(urls)('closes the connection after the answer of %s', async (path) => {
    const socket = connect(port, '127.0.0.1')
    const answer = receiveAll(socket)
    await once(socket, 'connect')
    services.isDraining = true
    const drained = drain(app.server, 60_000)
    socket.write(head(`GET ${path} HTTP/1.1`, bearer))
    expect(readResponses(await answer)).toMatchObject([{ headers: { connection: 'close' } }])
    await drained
  })

  it('answers also what comes behind a request in flight when the app is closed at once', async () => {
    const { started, end } = holdCommands()
    const socket = connect(port, '127.0.0.1')
    const answer = receiveAll(socket)
    socket.write(post())
    await started
    const closed = app.close()
    await expect.poll(() => app.server.listening).toBe(false)
    const taken = once(app.server, 'request')
    socket.write(list)
    await taken
    end()
    expect(statuses(await answer)).toEqual([201, 200])
    await closed
  })

  it('closes a connection on which nothing comes', async () => {
    const idle = connect(port, '127.0.0.1')
    idle.write(list)
    await once(idle, 'data')
    services.isDraining = true
    await drain(app.server, 10)
    expect(idle.closed || (await once(idle, 'close'))).toBeTruthy()
  })
})

it('a key in another place than the header is none', async () => {
  const answer = await exchange(port, head(`GET /v1/pets?access_token=${key} HTTP/1.1`, 'Connection: close'))
  expectRawError(answer, 401, 'unauthorized')
})
