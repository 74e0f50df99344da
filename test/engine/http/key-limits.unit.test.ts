import { expect, it, onTestFinished, vi } from 'vitest'
import { readConfig } from '../../../src/engine/app/config.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { theatre } from '../theatre/theatre.ts'
import { expectError, key, openServer, otherKey, type TestServices, theatreServices } from './test-services.ts'

const seat = { name: 'A12', rowId: 7 }

async function open(more: Partial<TestServices> = {}, options: Parameters<typeof openServer>[1] = {}) {
  const server = await openServer(Object.assign(theatreServices(), more), options)
  const list = (authorization = `Bearer ${key}`) => server.get('/v1/seats', { authorization })
  const add = (headers: Record<string, string> = {}) => server.post('/v1/seats', seat, headers)
  return { ...server, list, add }
}

it('refuses requests of a key beyond its rate, reads and writes separately, and says when to retry', async () => {
  const time = vi.spyOn(performance, 'now')
  onTestFinished(() => time.mockRestore())
  const { list, add } = await open({ rate: { requests: 2, seconds: 60 } })
  time.mockReturnValue(1000)
  expect([(await list()).statusCode, (await list()).statusCode]).toEqual([200, 200])
  time.mockReturnValue(50_500)
  const refused = await list()
  expectError(refused, 429, 'too_many_requests', 'the 2 reads that it may send in 60 s')
  const headers = { 'ratelimit-policy': '"reads";q=2;w=60', ratelimit: '"reads";r=0;t=11', 'retry-after': '11' }
  expect(refused.headers).toMatchObject(headers)
  expect((await list(`Bearer ${otherKey}`)).statusCode).toBe(200)
  expect([(await add()).statusCode, (await add()).statusCode, (await add()).statusCode]).toEqual([201, 201, 429])
  time.mockReturnValue(61_000)
  expect([(await list()).statusCode, (await list()).statusCode, (await list()).statusCode]).toEqual([200, 200, 429])
})

it.each([
  ['names its length', {}],
  ['comes in chunks, of which it counts as many as there may be', { 'transfer-encoding': 'chunked' }],
])('a body that %s counts once for each KiB towards the rate', async (_, headers) => {
  const { add, post } = await open({ rate: { requests: 18, seconds: 60 } })
  const large = await post('/v1/seats', JSON.stringify(seat).padEnd(16 * 1024), headers)
  expect([large.statusCode, (await add()).statusCode, (await add()).statusCode]).toEqual([201, 201, 201])
  expect((await add()).statusCode).toBe(429)
})

it('writes one line for all that was refused to an address and a key, and few for many addresses', async () => {
  const { logger, lines } = captureLog('warn')
  vi.useFakeTimers({ toFake: ['setInterval'] })
  const connections = { max: 1, maxPerAddress: 1, isTrustedProxy: () => true }
  const { app, get, list, services } = await open({}, { logger, connections })
  for (let i = 0; i < 100; i++) await list('Bearer wrong')
  services.scopes = new Set()
  await list()
  vi.advanceTimersByTime(10_000)
  const refused = { level: 30, audit: 'requests refused', address: '127.0.0.1', seconds: 10 }
  expect(lines).toEqual([
    expect.objectContaining({ ...refused, code: 'unauthorized', count: 100 }),
    expect.objectContaining({ ...refused, code: 'insufficient_scope', keyId: 'key-1', count: 1 }),
  ])
  lines.splice(0)
  for (let i = 0; i < 100; i++) await get('/v1/seats', { authorization: '', 'x-forwarded-for': `192.0.2.${i}` })
  await app.close()
  expect(lines).toHaveLength(21)
  expect(lines.at(-1)).toMatchObject({ code: 'of others', count: 80 })
  vi.useRealTimers()
})

it.each([
  ['nobody', undefined, '127.0.0.1'],
  ['the proxy that sent it', () => true, '192.0.2.1'],
])('logs each write with its key and the address of who sent it, where %s is trusted', async (_who, trust, address) => {
  const { logger, lines } = captureLog()
  const connections = { max: 1, maxPerAddress: 1, isTrustedProxy: trust ?? (() => false) }
  const { add, list } = await open({}, { logger, connections, logsWrites: true })
  await list()
  await add({ 'x-forwarded-for': '192.0.2.1' })
  expect(lines).toEqual([
    expect.objectContaining({
      msg: 'request',
      method: 'POST',
      path: '/v1/seats',
      statusCode: 201,
      keyId: 'key-1',
      address,
    }),
  ])
})

it.each([
  ['203.0.113.9:4711', '203.0.113.9'],
  ['[2001:db8::1]:4711', '2001:db8::1'],
  ['203.0.113.7, 203.0.113.9:4711, 10.0.0.1:8080, [fd00::1]:8080', '203.0.113.9'],
])('logs whom X-Forwarded-For: %s names without the port, and knows a proxy with its port', async (header, address) => {
  const { logger, lines } = captureLog()
  const { isTrustedProxy } = readConfig(theatre, { TRUST_PROXY: '127.0.0.1, 10.0.0.0/8, fd00::/8' })
  const connections = { max: 1, maxPerAddress: 1, isTrustedProxy }
  const { app, add, get } = await open({}, { logger, connections, logsWrites: true })
  await add({ 'x-forwarded-for': header })
  await get('/v1/seats', { authorization: '', 'x-forwarded-for': header })
  await app.close()
  expect(lines).toMatchObject([
    { msg: 'request', address },
    { audit: 'requests refused', address },
  ])
})

it('writes no more of what is refused, or of a long path, than a line for many, and the beginning of the path', async () => {
  const { logger, lines } = captureLog()
  const { app, post, patch, services } = await open({}, { logger, logsWrites: true })
  const long = 'x'.repeat(15_000)
  const add = (authorization: string) => post(`/v1/seats?${long}`, seat, { authorization })
  const paths = ['/v1/seats', `/v1/${long}`, `/${long}`]
  for (const path of paths) await post(path, seat, { authorization: 'Bearer wrong' })
  services.scopes = new Set(['read'])
  for (let i = 0; i < 100; i++) await add(`Bearer ${key}`)
  expect(lines).toEqual([])
  services.scopes = new Set(['write', 'bookings'])
  expect((await add(`Bearer ${key}`)).statusCode).toBe(400)
  expect((await patch(`/v1/bookings/${long}`, { status: 'approved' })).statusCode).toBe(400)
  const written = { keyId: 'key-1', statusCode: 400 }
  expect(lines).toMatchObject([
    { ...written, path: '/v1/seats' },
    { ...written, path: expect.stringMatching(/^\/v1\/bookings\/x{187}…$/) },
  ])
  await app.close()
  expect(lines.slice(2).map(({ audit, code, count }) => [audit, code, count])).toEqual([
    ['requests refused', 'unauthorized', 1],
    ['requests refused', 'insufficient_scope', 100],
  ])
})
