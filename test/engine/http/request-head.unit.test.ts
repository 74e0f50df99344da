import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { receiveAll, statusesIn } from './raw.ts'
import { authorization, testServer } from './test-services.ts'

const server = testServer()
let port: number
beforeAll(async () => {
  port = await server.listen()
})
afterAll(() => server.app.server.closeAllConnections())

const seat = '{"name":"A12","rowId":7}'
const usual = { Host: 'x', Authorization: authorization, 'Content-Type': 'application/json' }

/** A request as bytes; several values of a header are several lines, and one that is undefined is none. */
function request(line: string, changed: Record<string, string | string[] | undefined> = {}, body = ''): string {
  const headers = Object.entries<string | string[] | undefined>({
    ...usual,
    'Content-Length': `${body.length}`,
    ...changed,
  })
  const lines = headers.flatMap(([name, values = []]) => [values].flat().map((value) => `${name}: ${value}`))
  return [line, ...lines, '', body].join('\r\n')
}
const post = (changed: Record<string, string | string[] | undefined> = {}) =>
  request('POST /v1/seats HTTP/1.1', { Connection: 'close', ...changed }, seat)

async function exchange(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes, 'latin1')
  return await receiveAll(socket)
}

it.each([
  [200, 200],
  [201, 431],
  [2600, 431],
])('%i headers are answered with %i', async (count, status) => {
  const head = (others: number) =>
    request('GET /v1/seats HTTP/1.1', { Connection: 'close', a: Array.from({ length: others }, () => 'x') })
  const own = head(0).trimEnd().split('\r\n').length - 1
  expect(statusesIn(await exchange(head(count - own)))).toEqual([status])
})

describe('Host', () => {
  const list = (host: string) => request('GET /v1/seats HTTP/1.1', { Host: host, Connection: 'close' })

  it.each([
    '',
    'x',
    'x:',
    'x:3000',
    '[::1]',
    '[::ffff:1.2.3.4]:80',
    'a_b.example',
    'x%20y',
    '127.0.0.1:0',
    "a!$&'()*+,;=b~",
  ])('%j is one', async (host) => expect(statusesIn(await exchange(list(host)))).toEqual([200]))

  it.each(['a b', 'a/b', 'x:y', 'x:1:2', '::1', '[::1', '::1]', '[x]', 'x%2', 'x%zz', 'user@x', 'x\xe9', 'x?y', 'x#y'])(
    '%j is 400',
    async (host) => expect(statusesIn(await exchange(list(host)))).toEqual([400]),
  )
})

describe('the target', () => {
  const get = (target: string, method = 'GET') => request(`${method} ${target} HTTP/1.1`, { Connection: 'close' })
  it.each<[target: string, status: number]>([
    ['http://x/v1/seats', 200], // RFC 9112 section 3.2.2
    ['http://other:80/v1/seats?limit=5', 200],
    ['/v1/%73eats', 200], // RFC 3986 section 6.2.2.2
    ['/%76%31/seats', 200],
    ['/v1/seats?', 200],
    ['/v1/seats?&&', 200],
    ['/v1%2Fseats', 404],
    ['/v1/../v1/seats', 404],
    ['/v1/seats/1%2Fevents', 400],
    ['*', 400],
    ['v1/seats', 400],
    ['/v1/seats#limit=5', 400],
    ['/v1/seats?limit=5#', 400],
    ['/v1/seats?limit=5&\xc3\xa9', 400], // RFC 3986 section 2: what is not ASCII is percent-encoded
    ['/v1/seats?limit=5&%e9', 400],
    ['/v1/seats?li%6Dit=%35', 200],
  ])('%s is %d', async (target, status) => expect(statusesIn(await exchange(get(target)))).toEqual([status]))

  it('is the server as a whole in OPTIONS *, which supports no more than its root', async () => {
    expect(statusesIn(await exchange(get('*', 'OPTIONS')))).toEqual([405])
  })

  it.each(['/v1/%73eats', 'http://x/v1/seats'])('%s does not support PUT', async (target) => {
    expect(await exchange(get(target, 'PUT'))).toMatch(/^HTTP\/1.1 405 [\s\S]*allow: GET, HEAD, POST\r\n/)
  })
})

describe('Expect', () => {
  it.each(['100-continue', '100-Continue', 'x, 100-continue', ' , 100-continue,'])(
    '%j is answered',
    async (expected) => {
      const socket = connect(port, '127.0.0.1')
      socket.write(post({ Expect: expected }).slice(0, -seat.length))
      expect(String((await once(socket, 'data'))[0])).toBe('HTTP/1.1 100 Continue\r\n\r\n')
      socket.write(seat)
      expect(statusesIn(await receiveAll(socket))).toEqual([201])
    },
  )

  it('is ignored in HTTP/1.0 (RFC 9110 section 10.1.1), and if it is another', async () => {
    const old = request('POST /v1/seats HTTP/1.0', { Expect: '100-continue' }, seat)
    for (const bytes of [old, post({ Expect: '100-continued' })])
      expect(statusesIn(await exchange(bytes))).toEqual([201])
  })
})

describe('a body', () => {
  it.each(['', 'identity', 'Identity', 'identity, identity', ' ,identity,', ','])(
    'with the Content-Encoding %j is read as it is',
    async (coding) => expect(statusesIn(await exchange(post({ 'Content-Encoding': coding })))).toEqual([201]),
  )

  it.each(['gzip', 'identity, br', 'x', 'aes128gcm'])('with the Content-Encoding %j is 415', async (coding) => {
    const answer = await exchange(post({ 'Content-Encoding': coding }))
    expect(answer).toMatch(/^HTTP\/1.1 415 [\s\S]*\r\naccept-encoding: identity\r\n/)
    expect(answer).toContain('"The body must be sent as it is: no Content-Encoding is read."')
  })

  it('with a Content-Encoding is 415 too where all of it has come before its turn', async () => {
    const coded = post({ 'Content-Encoding': 'gzip' })
    const arrived = new Promise<void>((resolve) => {
      server.app.server.on('request', (request) => {
        if (request.method === 'POST') setImmediate(resolve) // behind the bytes that came with its head
      })
    })
    server.services.beforeRead = () => arrived
    expect(statusesIn(await exchange(request('GET /v1/seats HTTP/1.1') + coded))).toEqual([200, 415])
  })

  it.each<string[]>([
    ['application/json', 'text/plain'],
    ['text/plain', 'application/json'],
    ['application/json', 'application/json'],
  ])('with two types is 415: %s and %s', async (...types) => {
    const answer = await exchange(post({ 'Content-Type': types }))
    expect([statusesIn(answer), answer]).toEqual([[415], expect.stringContaining('more than one Content-Type')])
    expect(server.services.events).toEqual([])
  })

  it('of no bytes, however that is written, leaves the connection open', async () => {
    const put = request('PUT /v1/seats HTTP/1.1', { 'Content-Length': '00' })
    const last = request('GET /v1/seats HTTP/1.1', { Connection: 'close' })
    expect(statusesIn(await exchange(put + last))).toEqual([405, 200])
  })
})

it('an answer to bytes that are no request has the headers of the other errors', async () => {
  const answer = await exchange('hello\r\n\r\n')
  expect(answer).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/)
  const headers = ['Cache-Control: no-store', 'Link: </docs/errors#invalid_request>; rel="help"', 'Connection: close']
  for (const header of headers) expect(answer).toContain(`${header}\r\n`)
  const [, date = ''] = /\r\nDate: (.*)\r\n/.exec(answer) ?? []
  expect(Math.abs(Date.parse(date) - Date.now())).toBeLessThan(60_000)
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  expect(answer).toContain(`Content-Length: ${body.length}\r\n`)
  expect(answer).not.toContain('access-control-')
})

it('HTTP of another version is told which are spoken', async () => {
  expect(await exchange(request('GET /v1/seats HTTP/2.0'))).toContain('only HTTP/1.1 and HTTP/1.0.')
})
