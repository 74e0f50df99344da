import { expect, it, onTestFinished, vi } from 'vitest'
import type { Scope } from '../../src/engine/keys/key-file.ts'
import { PetQuota } from '../../src/engine/http/key-limits.ts'
import type { EngineErrorCode } from '../../src/engine/lib/engine-errors.ts'
import { ServiceError } from '../../src/engine/lib/errors.ts'
import { captureLog } from '../lib/captured-log.ts'
import { eventually } from '../lib/eventually.ts'
import { expectError, FakeServices, key, openServer, otherKey } from './fake-services.ts'

const pet = { name: 'Rex', categoryId: 7 }

async function open(more: Partial<FakeServices> = {}, options: Parameters<typeof openServer>[1] = {}) {
  const server = await openServer(Object.assign(new FakeServices(), more), options)
  const list = (authorization = `Bearer ${key}`) => server.get('/v1/pets', { authorization })
  const add = (headers: Record<string, string> = {}) => server.post('/v1/pets', pet, headers)
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
  const large = await post('/v1/pets', JSON.stringify(pet).padEnd(16 * 1024), headers)
  expect([large.statusCode, (await add()).statusCode, (await add()).statusCode]).toEqual([201, 201, 201])
  expect((await add()).statusCode).toBe(429)
})

it('refuses pets of a key beyond its daily quota, and counts only added pets', async () => {
  let time = new Date('2026-11-20T23:59:00Z')
  const { services, add, list } = await open({ petQuota: new PetQuota(2, () => time) })
  services.beforeCommand = () => {
    throw new ServiceError('event_log_unavailable', 'away')
  }
  expect((await add()).statusCode).toBe(503)
  services.beforeCommand = () => {}
  const keyed = { 'idempotency-key': '"a"' }
  expect([(await add(keyed)).statusCode, (await add(keyed)).statusCode]).toEqual([201, 201])
  services.beforeCommand = () => {
    throw new ServiceError('append_outcome_unknown', 'unknown')
  }
  expect((await add()).statusCode).toBe(504)
  const refused = await add()
  expectError(refused, 429, 'quota_exceeded', 'the 2 pets that it may add')
  expect(refused.headers['retry-after']).toBe('60')
  expect((await list()).statusCode).toBe(200)
  services.beforeCommand = () => {}
  expect((await add({ authorization: `Bearer ${otherKey}` })).statusCode).toBe(201)
  time = new Date('2026-11-21T00:00:00Z')
  expect((await add()).statusCode).toBe(201)
})

it('lets requests under an Idempotency-Key that was counted be repeated beyond the quota, and counts them once', async () => {
  const { services, add } = await open({ petQuota: new PetQuota(2, () => new Date('2026-11-20T12:00:00Z')) })
  const fail = (code: EngineErrorCode) => () => {
    throw new ServiceError(code, 'later')
  }
  const status = async (key: string) => (await add({ 'idempotency-key': `"${key}"` })).statusCode
  expect(await status('a')).toBe(201)
  services.beforeCommand = fail('append_outcome_unknown')
  expect([await status('b'), await status('b'), await status('c')]).toEqual([504, 504, 429])
  services.beforeCommand = fail('event_log_unavailable') // surely not added now, but perhaps before
  expect([await status('b'), await status('c')]).toEqual([503, 429])
  services.beforeCommand = () => {}
  expect([await status('b'), await status('b'), await status('a'), await status('c')]).toEqual([201, 201, 201, 429])
  expect((await add({ authorization: `Bearer ${otherKey}`, 'idempotency-key': '"a"' })).statusCode).toBe(201)
  expect(services.events).toHaveLength(3)
})

it('counts a pet for as long as one of its requests may still add it', async () => {
  const { services, add } = await open({ petQuota: new PetQuota(1, () => new Date('2026-11-20T12:00:00Z')) })
  const keyed = { 'idempotency-key': '"a"' }
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  services.beforeCommand = () => held
  const slow = add(keyed)
  await eventually(() => expect(services.handled).toHaveLength(1))
  services.beforeCommand = () => {
    throw new ServiceError('event_log_unavailable', 'away')
  }
  expect([(await add(keyed)).statusCode, (await add()).statusCode]).toEqual([503, 429])
  release()
  expect([(await slow).statusCode, (await add()).statusCode]).toEqual([201, 429])
})

it.each<[Scope, number[]]>([
  ['read', [200, 200, 200, 200, 403, 403, 403]],
  ['write', [403, 403, 403, 403, 201, 403, 403]],
  ['orders', [403, 403, 403, 403, 403, 201, 200]],
])('a key for %s is for nothing else', async (scope, expected) => {
  const { services, get, post, patch, add } = await open()
  await add()
  await post('/v1/store/orders', { petId: 1 })
  await add()
  services.scopes = new Set([scope])
  const answers = [
    ...['/v1/pets', '/v1/pets/1', '/v1/store/orders', '/v1/store/orders/2'].map((url) => get(url)),
    add(),
    post('/v1/store/orders', { petId: 3 }),
    patch('/v1/store/orders/2', { status: 'approved' }),
  ]
  const found = await Promise.all(answers)
  expect(found.map(({ statusCode }) => statusCode)).toEqual(expected)
  for (const answer of found.filter(({ statusCode }) => statusCode === 403)) {
    expectError(answer, 403, 'insufficient_scope')
    expect(answer.headers['www-authenticate']).toMatch(
      /^Bearer realm="petstore", error="insufficient_scope", scope="(read|write|orders)"$/,
    )
  }
})

it('a key without the scope read reads no order by giving it the status that it has', async () => {
  const { services, post, patch, add } = await open()
  await add()
  await post('/v1/store/orders', { petId: 1 })
  services.scopes = new Set(['orders'])
  const change = (status: string) => patch('/v1/store/orders/2', { status })
  expect((await change('approved')).json()).toMatchObject({ petId: 1, status: 'approved' })
  const again = await change('approved')
  expectError(again, 403, 'insufficient_scope', 'lacks the scope read')
  expect(again.headers['www-authenticate']).toContain('scope="read"')
  expect(again.headers).not.toHaveProperty('etag')
  services.scopes = new Set(['orders', 'read'])
  expect((await change('approved')).statusCode).toBe(200)
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
  for (let i = 0; i < 100; i++) await get('/v1/pets', { authorization: '', 'x-forwarded-for': `192.0.2.${i}` })
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
      path: '/v1/pets',
      statusCode: 201,
      keyId: 'key-1',
      address,
    }),
  ])
})

it('writes no more of what is refused, or of a long path, than a line for many, and the beginning of the path', async () => {
  const { logger, lines } = captureLog()
  const { app, post, patch, services } = await open({}, { logger, logsWrites: true })
  const long = 'x'.repeat(15_000)
  const add = (authorization: string) => post(`/v1/pets?${long}`, pet, { authorization })
  const paths = ['/v1/pets', `/v1/${long}`, `/${long}`]
  for (const path of paths) await post(path, pet, { authorization: 'Bearer wrong' })
  services.scopes = new Set(['read'])
  for (let i = 0; i < 100; i++) await add(`Bearer ${key}`)
  expect(lines).toEqual([])
  services.scopes = new Set(['write', 'orders'])
  expect((await add(`Bearer ${key}`)).statusCode).toBe(400)
  expect((await patch(`/v1/store/orders/${long}`, { status: 'approved' })).statusCode).toBe(400)
  const written = { keyId: 'key-1', statusCode: 400 }
  expect(lines).toMatchObject([
    { ...written, path: '/v1/pets' },
    { ...written, path: expect.stringMatching(/^\/v1\/store\/orders\/x{183}…$/) },
  ])
  await app.close()
  expect(lines.slice(2).map(({ audit, code, count }) => [audit, code, count])).toEqual([
    ['requests refused', 'unauthorized', 1],
    ['requests refused', 'insufficient_scope', 100],
  ])
})
