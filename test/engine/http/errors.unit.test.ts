import type { Level } from 'pino'
import { describe, expect, it } from 'vitest'
import { errorsPage } from '../../../src/engine/http/documents/errors-page.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { theatre } from '../theatre/theatre.ts'
import { expectError, openApp, openServer, testServer, theatreServices } from './test-services.ts'

it('the page of errors says what the table says, as text and code', () => {
  const meaning = 'Send `"a<b"` & wait.'
  const page = errorsPage('Library', new Map([['book_is_lent', { status: 409, retry: 2, effect: 'none', meaning }]]))
  expect(page).toContain(`
<dt id="book_is_lent"><a href="#book_is_lent"><code>book_is_lent</code></a></dt>
<dd>Send <code>"a&lt;b"</code> &amp; wait.<br>Status 409. Retry: yes, after 2 s. Effect: none.</dd>
`)
})

describe('passes on with its message, from reads and from commands', () => {
  const server = testServer()

  it.each([...theatre.errors])('%s', async (code, { status, retry }) => {
    const fail = () => Promise.reject(ServiceError.own(code, 'What happened: "ü".'))
    Object.assign(server.services, { beforeRead: fail, beforeCommand: fail })
    const answers = [
      ...['/v1/seats', '/v1/seats/1', '/v1/bookings', '/v1/bookings/1'].map((url) => server.get(url)),
      server.post('/v1/seats', { name: 'A12', rowId: 1 }),
      server.post('/v1/bookings', { seatId: 1 }),
      server.patch('/v1/bookings/1', { status: 'approved' }),
    ]
    for (const answer of await Promise.all(answers)) {
      expectError(answer, status, code, 'What happened: "ü".')
      expect(answer.headers['retry-after']).toBe(typeof retry === 'number' ? String(retry) : undefined)
    }
  })
})

it('each error leads to what its code means', async () => {
  const { services, app, get } = await openServer(theatreServices(), { publicUrl: 'https://shop.example/seats' })
  const codes = [...theatre.errors.keys()]
  for (const code of codes) {
    services.beforeRead = () => Promise.reject(ServiceError.own(code, 'What happened.'))
    const { link } = (await get('/v1/seats')).headers
    const [, page = '', anchor] = /^<\/seats(\/.*)#(\w+)>; rel="help"$/.exec(String(link)) ?? []
    expect([anchor, (await app.inject(page)).body]).toEqual([code, expect.stringContaining(`id="${code}"`)])
  }
  await app.close()
})

it('an error of a process that serves no such page leads nowhere', async () => {
  const { api: _, ...probed } = theatreServices()
  const app = await openApp({ ...probed, draining: () => false })
  const { statusCode, headers } = await app.inject('/v1/seats')
  expect([statusCode, headers.link]).toEqual([404, undefined])
  await app.close()
})

describe('an error without a code of the table', () => {
  const server = testServer()
  const bug = (members: object) => Object.assign(new TypeError('password hunter2'), members)
  it.each<[string, unknown]>([
    ['an Error', bug({})],
    ['one with a status', bug({ statusCode: 404, status: 404 })],
    ['one with a foreign code', bug({ code: 'ENOENT', statusCode: 400 })],
    ['one with a code that objects have', bug({ code: 'constructor' })],
    ['an error of a service with a code of nobody', ServiceError.own('seat_not_fond', 'password hunter2')],
    ['a string', 'password hunter2'],
    ['undefined', undefined],
    ['null', null],
  ])('%s is 500 and tells the client nothing', async (_what, raised) => {
    server.services.beforeCommand = () => Promise.reject(raised)
    const response = await server.post('/v1/seats', { name: 'A12', rowId: 1 })
    expectError(response, 500, 'internal_error')
    expect(response.json().message).toBe('An unexpected error occurred.')
  })
})

describe('the log', () => {
  async function logOf(level: Level, error: unknown): Promise<Record<string, unknown>[]> {
    const { logger, lines } = captureLog(level)
    const { services, get } = await openServer(theatreServices(), { logger })
    if (error !== undefined) services.beforeRead = () => Promise.reject(error)
    await get('/v1/seats?limit=5', { 'x-request-id': 'id-1' })
    await get('/v1/seats', { authorization: 'Bearer wrong' })
    return lines.filter(({ audit }) => audit === undefined)
  }

  it('has an unexpected error with its stack and the request id', async () => {
    const err = { type: 'TypeError', message: 'a bug', stack: expect.stringContaining('errors.unit.test.ts') }
    expect(await logOf('info', new TypeError('a bug'))).toEqual([
      expect.objectContaining({ level: 50, requestId: 'id-1', method: 'GET', path: '/v1/seats', err }),
    ])
  })

  it('has an error whose code no table has', async () => {
    const message = 'the code seat_not_fond is not among the errors of the service: no seat'
    const err = { type: 'Error', message, stack: expect.any(String) }
    expect(await logOf('info', ServiceError.own('seat_not_fond', 'no seat'))).toEqual([
      expect.objectContaining({ level: 50, msg: 'unexpected error', err: expect.objectContaining(err) }),
    ])
  })

  it('has a part that is away, with its cause, at level debug only: there may be thousands of these a second', async () => {
    const error = new ServiceError('read_model_unavailable', 'away', { cause: new Error('connection refused') })
    expect(await logOf('debug', error)).toContainEqual(
      expect.objectContaining({
        level: 20,
        requestId: 'id-1',
        err: expect.objectContaining({ code: 'read_model_unavailable', message: 'away: connection refused' }),
      }),
    )
    expect(await logOf('info', error)).toEqual([])
  })

  it('has nothing else at level info', async () => {
    expect(await logOf('info', undefined)).toEqual([])
    expect(await logOf('info', new ServiceError('invalid_cursor', 'no'))).toEqual([])
  })

  it('has a line for each request at level debug, without the key', async () => {
    const lines = (await logOf('debug', undefined)).filter(({ msg }) => msg === 'request')
    expect(lines).toMatchObject([
      { level: 20, requestId: 'id-1', method: 'GET', path: '/v1/seats', statusCode: 200 },
      { level: 20, method: 'GET', path: '/v1/seats', statusCode: 401 },
    ])
    expect(JSON.stringify(lines)).not.toContain('wrong')
  })
})
