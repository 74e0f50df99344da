import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { drain } from '../../../src/engine/http/wire/server.ts'
import type { EngineErrorCode } from '../../../src/engine/lib/errors/engine-errors.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { eventually } from '../../lib/eventually.ts'
import { bearer, head, list, receiveAll } from './raw.ts'
import { authorization, key, openServer, testServer, theatreServices } from './test-services.ts'

const server = testServer()
let port: number
beforeAll(async () => {
  port = await server.listen()
})
afterAll(() => server.app.server.closeAllConnections())

const get = (path: string, ...headers: string[]) => head(`GET ${path} HTTP/1.1`, bearer, ...headers)
const lastList = get('/v1/seats', 'Connection: close')
const seat = '{"name":"A12","rowId":7}'
const postHead = (...headers: string[]) =>
  head('POST /v1/seats HTTP/1.1', bearer, 'Content-Type: application/json', ...headers)
const post = (body = seat, length = body.length) => postHead(`Content-Length: ${length}`) + body
const open = (to = port) => connect(to, '127.0.0.1')
const statuses = (text: string) => readResponses(text).map(({ status }) => status)

/** Sends bytes as they are and gives all that comes back until the server closes the connection. */
async function exchange(bytes: string, to = port): Promise<string> {
  const socket = open(to)
  socket.write(bytes)
  return await receiveAll(socket)
}

function readResponses(text: string): { status: number; headers: Record<string, string>; body: string }[] {
  const responses = []
  for (let rest = text; rest !== ''; ) {
    const headEnd = rest.indexOf('\r\n\r\n')
    const [statusLine = '', ...lines] = rest.slice(0, headEnd).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
    )
    const bytes = Buffer.from(rest.slice(headEnd + 4))
    const length = Number(headers['content-length'])
    responses.push({ status: Number(statusLine.split(' ')[1]), headers, body: bytes.subarray(0, length).toString() })
    rest = bytes.subarray(length).toString()
  }
  return responses
}

/** Holds commands back until `end`. `started` resolves when there is one. */
function holdCommands({ services } = server) {
  const { promise: blocked, resolve: end } = Promise.withResolvers<void>()
  const { promise: started, resolve: start } = Promise.withResolvers<void>()
  services.beforeCommand = () => {
    start()
    return blocked
  }
  return { started, end }
}

/** Every answer has them. */
const securityHeaders = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

function expectRawError(text: string, status: number, code: EngineErrorCode): void {
  const headers = { ...securityHeaders, 'content-type': 'application/json; charset=utf-8', connection: 'close' }
  const responses = readResponses(text)
  expect(responses).toMatchObject([{ status, headers }])
  expect(JSON.parse(responses[0]?.body ?? '')).toEqual({ code, message: expect.stringMatching(/./), status })
}

it.each([
  [bearer, bearer],
  [bearer, 'authorization: Bearer wrong'],
  ['Authorization: Bearer wrong', bearer],
  [bearer, 'AUTHORIZATION:'],
])('two Authorization headers are 401: %s and %s', async (...headers) => {
  expectRawError(await exchange(head('GET /v1/seats HTTP/1.1', ...headers, 'Connection: close')), 401, 'unauthorized')
})

it('a key in another place than the header is none', async () => {
  const answer = await exchange(head(`GET /v1/seats?access_token=${key} HTTP/1.1`, 'Connection: close'))
  expectRawError(answer, 401, 'unauthorized')
})

describe('an answer that has no body says nothing of its length', () => {
  const close = ['Connection: close']
  const page = 'https://seats.example'
  const preflight = [`Origin: ${page}`, 'Access-Control-Request-Method: PATCH']
  it.each([
    [304, 'GET', '/v1/seats/1', ['If-None-Match: *']],
    [304, 'HEAD', '/v1/seats/1', ['If-None-Match: *']],
    [304, 'GET', '/docs', ['If-None-Match: *']],
    [304, 'HEAD', '/openapi.json', ['If-None-Match: *']],
    [204, 'DELETE', '/v1/seats/1', []],
    [204, 'OPTIONS', '/v1/seats/1', preflight],
  ])('%i to %s %s', async (status, method, path, headers) => {
    const { app, services, listen } = await openServer(theatreServices(), { corsOrigins: [page] })
    services.add({ name: 'A12', rowId: 7, status: 'available' })
    const answer = await exchange(head(`${method} ${path} HTTP/1.1`, bearer, ...headers, ...close), await listen())
    expect(readResponses(answer)).toMatchObject([{ status, body: '' }])
    expect(answer).not.toMatch(/\r\n(content-length|transfer-encoding):/i)
    await app.close()
  })
})

describe('invalid HTTP is answered with an Error', () => {
  const badRequests = {
    'no HTTP': 'hello\r\n\r\n',
    TLS: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'an unknown method': head('JUMP /v1/seats HTTP/1.1'),
    'a header without a name': head('GET /v1/seats HTTP/1.1', ': x'),
    'two lengths': postHead('Content-Length: 1', 'Content-Length: 2'),
    'length and chunks': postHead('Content-Length: 1', 'Transfer-Encoding: chunked'),
    'no Host': `GET /v1/seats HTTP/1.1\r\n${bearer}\r\nConnection: close\r\n\r\n`,
    'a broken chunk': `${postHead('Transfer-Encoding: chunked')}zz\r\n`,
    'two Hosts': head('GET /v1/seats HTTP/1.1', bearer, 'host: other', 'Connection: close'),
    'a Host that is none': `GET /v1/seats HTTP/1.1\r\nHost: a b/c\r\n${bearer}\r\nConnection: close\r\n\r\n`,
    'HTTP/2.0': head('GET /v1/seats HTTP/2.0', bearer),
    'HTTP/1.7': head('GET /v1/seats HTTP/1.7', bearer),
    'HTTP/0.9': `GET /v1/seats\r\n${bearer}\r\n\r\n`,
  }
  const long = 'x'.repeat(17 * 1024)
  it.each<readonly [what: string, bytes: string, status: number, code: EngineErrorCode]>([
    ...Object.entries(badRequests).map(([what, bytes]) => [what, bytes, 400, 'invalid_request'] as const),
    ['a header of 17 KiB', head('GET /v1/seats HTTP/1.1', `X-Long: ${long}`), 431, 'headers_too_large'],
    ['a path of 17 KiB', head(`GET /v1/seats/${long} HTTP/1.1`), 431, 'headers_too_large'],
    ['a tunnel', head('CONNECT /v1/seats HTTP/1.1', bearer), 405, 'method_not_allowed'],
    ['a method of no route', head('QUERY /v1/seats HTTP/1.1', bearer, 'Connection: close'), 405, 'method_not_allowed'],
    ['that method where nothing is', head('QUERY /x HTTP/1.1', 'Connection: close'), 404, 'route_not_found'],
    ['another transfer coding', postHead('Transfer-Encoding: gzip, chunked'), 501, 'unsupported_transfer_coding'],
    ['another content coding', postHead('Content-Encoding: gzip', 'Content-Length: 9'), 415, 'unsupported_media_type'],
    ['a chunk extension of 17 KiB', `${postHead('Transfer-Encoding: chunked')}1;${long}`, 413, 'payload_too_large'],
  ])('%s', async (_what, bytes, status, code) => {
    expectRawError(await exchange(bytes), status, code)
    expect(statuses(await exchange(lastList))).toEqual([200]) // and the server goes on
  })
})

it.each(['/v1/seats', '/v1/seats/%zz', '/livez', '/openapi.json', '/nothing', '/docs/static/swagger-ui.css'])(
  '%s has the headers that browsers look for, and those of pages are its own',
  async (path) => {
    const [answer] = readResponses(await exchange(get(path, 'Connection: close')))
    const own = path.startsWith('/docs')
      ? { 'content-security-policy': expect.stringContaining("script-src 'self'") }
      : {}
    expect(answer?.headers).toMatchObject({ ...securityHeaders, ...own })
    expect(answer?.headers).not.toHaveProperty('x-powered-by')
  },
)

describe('one connection', () => {
  it('gives a request its answer although rubbish follows, then closes', async () => {
    const { end } = holdCommands()
    const broken = once(server.app.server, 'clientError')
    const answer = exchange(post(`${seat}rubbish\r\n\r\n`, seat.length))
    await broken
    end()
    expect(statuses(await answer)).toEqual([201])
  })

  it('stays usable after an error of the request', async () => {
    expect(statuses(await exchange(get('/v1/seats?limit=0') + lastList))).toEqual([400, 200])
  })

  it.each([
    ['16 MB', 'application/json', 413],
    ['1 MB without length', 'application/json', 413],
    ['1 MB without length', 'text/plain', 415],
  ])('tells a client of %s, %s', async (size, type, status) => {
    const blob = new Blob([Buffer.alloc(Number.parseInt(size, 10) * 1024 * 1024, 32)])
    const body = size.endsWith('length') ? blob.stream() : blob
    const headers = { authorization, 'content-type': type }
    const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' }
    const answer = await fetch(`http://127.0.0.1:${port}/v1/seats`, init)
    expect([answer.status, await answer.json()]).toMatchObject([status, { status }])
  })

  it('survives a client that leaves in the middle of a body, or before its answer', async () => {
    const half = open()
    half.end(post(seat, seat.length + 5))
    await receiveAll(half)
    const gone = open()
    gone.write(post())
    await eventually(() => expect(server.services.events.length).toBe(1))
    gone.destroy()
    expect(statuses(await exchange(lastList))).toEqual([200])
  })

  it('does not look into a client that leaves in the middle of a body', async () => {
    const { logger, lines } = captureLog()
    const { app, listen } = await openServer(server.services, { logger })
    const socket = connect(await listen(), '127.0.0.1')
    socket.write(post(seat, seat.length + 5))
    const [request] = await once(app.server, 'request')
    const cut = new Promise((resolve) => request.once('close', resolve))
    socket.destroy()
    await cut
    await app.close()
    expect(lines).toEqual([])
  })

  it('tells a client that takes too long', async () => {
    const connected = once(server.app.server, 'connection')
    const answer = exchange('GET /v1/seats HTTP/1.1\r\n')
    const [socket] = await connected
    const timeout = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
    server.app.server.emit('clientError', timeout, socket) // as Node does after 10 seconds
    expectRawError(await answer, 408, 'request_timeout')
  })

  it('is closed after the refusal of a body, which is not read on', async () => {
    const unknown = post().replace(key, 'wrong')
    expect(statuses(await exchange(unknown.slice(0, -1)))).toEqual([401])
    expect(statuses(await exchange(postHead('Content-Length: 17000')))).toEqual([413])
  })

  it('asks for a body only once it knows who sends it', async () => {
    const waiting = postHead('Expect: 100-continue', `Content-Length: ${seat.length}`)
    expectRawError(await exchange(waiting.replace(key, 'wrong')), 401, 'unauthorized')
    const socket = open()
    socket.write(waiting)
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 100 Continue/)
    socket.write(seat)
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 201/)
    socket.destroy()
  })

  it('serves a request with an expectation or an upgrade that it does not know', async () => {
    for (const header of ['Expect: the-unexpected', 'Expect: 100-continue', 'Connection: Upgrade\r\nUpgrade: h2c']) {
      const socket = open()
      socket.write(get('/v1/seats', header))
      const [data] = await once(socket, 'data')
      expect(String(data)).toMatch(/^HTTP\/1.1 (200|100)/)
      socket.destroy()
    }
  })
})

describe('draining', () => {
  let own: Awaited<ReturnType<typeof openServer>>
  let to: number
  beforeEach(async () => {
    own = await openServer(theatreServices())
    to = await own.listen()
  })
  afterEach(async () => {
    if (own.app.server.listening) await drain(own.app.server, 10)
    await own.app.close()
  })

  it('closes no connection as long as new ones are taken', async () => {
    own.services.isDraining = true
    expect(statuses(await exchange(list + lastList, to))).toEqual([200, 200])
  })

  it('answers requests in flight and those that still follow, then closes the connection', async () => {
    const { started, end } = holdCommands(own)
    const inFlight = exchange(post(), to)
    await started
    const idle = open(to)
    const late = receiveAll(idle)
    idle.write(list) // answered, so that Node's own close would end the connection at once
    await once(idle, 'data')
    own.services.isDraining = true
    const drained = drain(own.app.server, 50)
    idle.write(list)
    expect(readResponses(await late)).toMatchObject([
      { status: 200 },
      { status: 200, headers: { connection: 'close' } },
    ])
    end()
    expect(readResponses(await inFlight)).toMatchObject([{ status: 201, headers: { connection: 'close' } }])
    await drained
  })

  const urls =
    '/livez /readyz /metrics /v1/seats /v1/seats/1 /nothing /v1/seats/%zz /docs /openapi.json /asyncapi.json'.split(' ')
  it.each(urls)('closes the connection after the answer of %s', async (path) => {
    const socket = open(to)
    const answer = receiveAll(socket)
    await once(socket, 'connect')
    own.services.isDraining = true
    const drained = drain(own.app.server, 60_000)
    socket.write(get(path))
    expect(readResponses(await answer)).toMatchObject([{ headers: { connection: 'close' } }])
    await drained
  })

  it('answers requests behind one in flight even when the app is closed at once', async () => {
    const { started, end } = holdCommands(own)
    const socket = open(to)
    const answer = receiveAll(socket)
    socket.write(post())
    await started
    const closed = own.app.close()
    await eventually(() => expect(own.app.server.listening).toBe(false))
    const taken = once(own.app.server, 'request')
    socket.write(list)
    await taken
    end()
    expect(statuses(await answer)).toEqual([201, 200])
    await closed
  })

  it.each([
    ['anymore', list],
    ['at all', ''],
  ])('closes a connection on which nothing comes %s', async (_, sent) => {
    const idle = open(to)
    const taken = once(own.app.server, 'connection')
    if (sent === '') await taken
    else {
      idle.write(sent)
      await once(idle, 'data')
    }
    own.services.isDraining = true
    await drain(own.app.server, 10)
    expect(idle.closed || (await once(idle, 'close'))).toBeTruthy()
  })
})
