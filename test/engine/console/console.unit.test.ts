import { mkdtempDisposableSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readConfig } from '../../../src/engine/app/config.ts'
import { type Service, startService } from '../../../src/engine/app/service.ts'
import { nothingLoaded } from '../../../src/engine/commands/outcome.ts'
import { tellEvent } from '../../../src/engine/console/one-event.ts'
import { issueKey, revokeKey } from '../../../src/engine/keys/api-keys.ts'
import { openSqliteEventLog } from '../../../src/engine/log/sqlite/sqlite-event-log.ts'
import { freePort } from '../../brokers/ready.ts'
import { eventually } from '../../lib/eventually.ts'
import { theatre } from '../theatre/theatre.ts'

const DATA_DIR = mkdtempSync(join(tmpdir(), 'theatre-console-'))
const keyFile = join(DATA_DIR, 'api-keys.json')
const issue = (name: string, scopes?: readonly string[]) =>
  issueKey(keyFile, { service: 'theatre', name, ...(scopes && { scopes }) }, new Date())
const lines: string[] = []
let service: Service
let operator: string
let reader: string
let seatId: number

beforeAll(async () => {
  operator = issue('operator', ['read', 'write', 'bookings', 'operate']).key
  reader = issue('reader', ['read']).key
  const config = readConfig(theatre, { DATA_DIR, PORT: '0' })
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  service = await startService(theatre, config, logger, { lost: 0, warnings: [] })
  await vi.waitFor(async () => expect((await fetch(`${service.url}/readyz`)).status).toBe(200), { timeout: 30_000 })
  seatId = (await ask<{ id: number }>('v1/seats', { method: 'POST', body: { name: '<b>A12</b>\u202e', rowId: 7 } }))
    .body.id
  await ask('v1/bookings', { method: 'POST', body: { seatId } })
})
afterAll(async () => {
  await service.close()
  rmSync(DATA_DIR, { recursive: true })
})

interface Asked {
  readonly method?: string
  readonly body?: object
  readonly key?: string
}
async function ask<Body>(path: string, { method = 'GET', body, key = operator }: Asked = {}) {
  const response = await fetch(`${service.url}/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as Body }
}
interface Refused {
  readonly code: string
  readonly message: string
}

/** Appends a record as another producer may. Resolves to its place. */
async function append(key: string, value: object): Promise<string> {
  const log = openSqliteEventLog({ file: join(DATA_DIR, 'event-log.db') })
  const offset = await log.append(0, [{ key, value: JSON.stringify(value), headers: {} }])
  await log.close()
  return `0/${offset}`
}
const envelope = { specversion: '1.0', source: '/elsewhere', subject: '' }
const outcomeOf = async (place: string) =>
  (await ask<{ outcome: string; why: string }>(`console/api/events/${place}`)).body

describe('the page of the console', () => {
  const filesOf = (html: string) => [...html.matchAll(/(?:href|src)="(console\/[^"]+)"|"\.\/(console\/[^"]+)"/g)]

  it('has a policy by which nothing else runs, and is small', async () => {
    const { status, headers, body: html } = await ask<string>('console', { key: '' })
    expect(status).toBe(200)
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self' 'sha256-[^']+'; /)
    const named = filesOf(html).map(([, linked, imported]) => linked ?? imported ?? '')
    const imports = (text: string) =>
      [...text.matchAll(/from '\.\/([\w.]+)'/g)].map(([, name]) => `console/static/${name}`)
    const files = new Map([['console', html]])
    for (const name of named) {
      if (files.has(name)) continue
      const file = await ask<string>(name, { key: '' })
      expect(file.status, name).toBe(200)
      files.set(name, file.body)
      named.push(...imports(file.body))
    }
    expect(files.size).toBeGreaterThan(15)
    const bytes = [...files.values()].reduce((sum, text) => sum + gzipSync(text).length, 0)
    expect(bytes).toBeLessThan(120_000)
  })

  it('escapes what a service is called', async () => {
    const html = (await ask<string>('console', { key: '' })).body
    expect(html).toContain('<title>Theatre: console</title>')
  })

  it('is found with a slash behind it too', async () => {
    const { url } = await fetch(`${service.url}/console/`)
    expect(url).toBe(`${service.url}/console`)
  })
})

describe('where the console is', () => {
  const silent = pino({ level: 'silent' })
  async function statusesOf(settings: NodeJS.ProcessEnv) {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'theatre-where-'))
    const [port, adminPort] = [await freePort(), await freePort()]
    const admin = settings.ADMIN_PORT === undefined ? {} : { ADMIN_PORT: String(adminPort) }
    const environment = { DATA_DIR: folder.path, PORT: String(port), ...settings, ...admin }
    const other = await startService(theatre, readConfig(theatre, environment), silent, { lost: 0, warnings: [] })
    const paths = ['console', 'console/api/status', 'v1/seats']
    const ports = settings.ADMIN_PORT === undefined ? [port] : [port, adminPort]
    try {
      return await Promise.all(
        ports.map((each) =>
          Promise.all(paths.map(async (path) => (await fetch(`http://127.0.0.1:${each}/${path}`)).status)),
        ),
      )
    } finally {
      await other.close()
    }
  }

  it.each([
    ['on the port of the API', {}, [[200, 401, 401]]],
    ['nowhere, where it is switched off', { CONSOLE: 'false' }, [[404, 404, 401]]],
    [
      'on the admin port alone, with the API beside it',
      { ADMIN_PORT: 'some' },
      [
        [404, 404, 401],
        [200, 401, 401],
      ],
    ],
    [
      'nowhere, and the admin port has no API',
      { ADMIN_PORT: 'some', CONSOLE: 'false' },
      [
        [404, 404, 401],
        [404, 404, 404],
      ],
    ],
  ])('is %s', async (_where, settings, statuses) => {
    expect(await statusesOf(settings)).toEqual(statuses)
  })

  it('is off with brokers, unless it is switched on', () => {
    const brokers = { KAFKA_BROKERS: 'localhost:9092', REDIS_URL: 'redis://localhost' }
    expect(readConfig(theatre, brokers).hasConsole).toBe(false)
    expect(readConfig(theatre, { ...brokers, CONSOLE: 'true' }).hasConsole).toBe(true)
  })
})

describe('whoever asks for what the console shows', () => {
  const paths = ['status', 'figures', 'generations', 'parked', 'runbook', 'events/0/0', 'streams/1', 'tail']

  it.each(paths)('needs an API key with scope read: %s', async (path) => {
    expect((await ask(`console/api/${path}`, { key: 'none' })).status).toBe(401)
    const { key } = issue(path, ['write'])
    expect(await ask<Refused>(`console/api/${path}`, { key })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    })
  })

  it('has scope operate by name alone', async () => {
    const { headers } = await ask('console/api/status', { key: issue('of every scope').key })
    expect(headers.get('may-operate')).toBe('false')
  })

  it.each(['jobs/rebuild', 'jobs/verify', 'parked/0/0/discard'])('needs scope operate to act: %s', async (path) => {
    for (const key of [reader, issue('of every scope').key]) {
      const asked = { method: 'POST', body: { reason: 'none' }, key }
      expect(await ask<Refused>(`console/api/${path}`, asked)).toMatchObject({
        status: 403,
        body: { message: 'This API key lacks the scope operate.' },
      })
    }
  })

  it('is refused within two seconds of a revocation', async () => {
    const { id, key } = issue('revoked', ['read'])
    expect((await ask('console/api/status', { key })).status).toBe(200)
    revokeKey(keyFile, id)
    await vi.waitFor(async () => expect((await ask('console/api/status', { key })).status).toBe(401), { timeout: 2000 })
  })

  it('is refused within two seconds of the end of its key', async () => {
    const expiresAt = new Date(Date.now() + 500)
    const { key } = issueKey(keyFile, { service: 'theatre', name: 'short', expiresAt }, new Date())
    expect((await ask('console/api/status', { key })).status).toBe(200)
    await vi.waitFor(async () => expect((await ask('console/api/status', { key })).status).toBe(401), { timeout: 2500 })
  })

  it.each([
    'status?x=1',
    'figures?x=1',
    'figures?after=then',
    'events/0/-1',
    'events/0/one',
    'streams/one',
    'tail?x=1',
    'stream-of?path=/v1/seats',
  ])('is told what is wrong with the request: %s', async (path) => {
    expect(await ask<Refused>(`console/api/${path}`)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  })
})

describe('the status', () => {
  it('names service and process, and says that all is well', async () => {
    const { headers, body } = await ask<Record<string, unknown>>('console/api/status')
    expect(headers.get('may-operate')).toBe('true')
    expect(body).toMatchObject({
      service: { title: 'Theatre', noun: 'seat', types: expect.arrayContaining(['theatre.SeatAdded.v1']) },
      process: { name: expect.stringMatching(/\/\d+$/), role: 'all', release: expect.any(String) },
      problems: [],
      lag: { status: 'known' },
    })
  })

  it('has figures since a time', async () => {
    const { body } = await ask<{ everyMs: number; marks: object[] }>('console/api/figures?after=0')
    expect(body).toMatchObject({ everyMs: 5000, marks: [{ what: 'this process started' }] })
  })

  it('names the process that projects each partition', async () => {
    const { body } = await ask<{ process: { name: string } }>('console/api/status')
    expect(await ask('console/api/projectors')).toMatchObject({ status: 200, body: { 0: body.process.name } })
  })

  it('has the generations and the runbook', async () => {
    const { body } = await ask<object>('console/api/generations')
    expect(body).toMatchObject({ generations: [{ state: 'active', documents: { seats: 1, bookings: 1 } }] })
    const runbook = await ask<string>('console/api/runbook')
    expect(runbook.body).toBe(readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8'))
  })
})

describe('a record', () => {
  it('that took effect', async () => {
    expect(await ask('console/api/events/0/0')).toMatchObject({
      status: 200,
      body: {
        ...{ partition: 0, offset: 0, key: String(seatId) },
        outcome: 'applied',
        why: 'It is version 1 of its stream.',
      },
    })
  })

  it('that did not, and why', async () => {
    const key = String(seatId)
    const removed = { ...envelope, subject: key, type: 'theatre.SeatRemoved.v1', data: { seatId } }
    const superseded = await append(key, { ...removed, id: 'a', streamversion: 2 })
    const unversioned = await append(key, { ...removed, id: 'b' })
    const skipped = await append(key, { no: 'event' })
    await eventually(async () => expect((await outcomeOf(unversioned)).outcome).not.toBe('waiting'))
    expect((await outcomeOf(skipped)).outcome).toBe('skipped')
    expect(await outcomeOf(superseded)).toMatchObject({
      outcome: 'superseded',
      why: 'When its turn came, version 2 was not the next one of its stream.',
    })
    expect((await outcomeOf(unversioned)).outcome).toBe('superseded')
  })

  it('that the read models have not come to', async () => {
    const value = {
      ...envelope,
      id: 'f',
      type: 'theatre.SeatRemoved.v1',
      subject: '1',
      streamversion: 2,
      data: { seatId: 1 },
    }
    const record = { offset: 0, key: Buffer.from('1'), value: Buffer.from(JSON.stringify(value)) }
    const log = {
      endOffsets: async () => [1],
      read: async () => ({ records: [record], next: 1 }),
      partitionFor: () => 0,
    }
    const readModel = { load: async () => ({ ...nothingLoaded, reached: [new Map()] }) }
    const told = await tellEvent({ definition: theatre, log, readModel }, { partition: 0, offset: 0 })
    expect(told.outcome).toBe('waiting')
  })

  it('that is not there', async () => {
    for (const place of ['0/1000', '7/0']) {
      expect(await ask<Refused>(`console/api/events/${place}`)).toMatchObject({
        status: 404,
        body: { code: 'no_such_record', message: `The log has no record at ${place}.` },
      })
    }
  })

  it('is shown whole, however large it may be', async () => {
    const padding = 'x'.repeat(16_000)
    const { body } = await ask<{ value: string }>(`console/api/events/${await append('x', { ...envelope, padding })}`)
    expect(body.value).toContain(padding)
  })

  it('never shows the hashes that only the topic has', async () => {
    const place = await append('x', { ...envelope, id: 'c', idempotencykey: 'secret', requestfingerprint: 'secret' })
    const { body } = await ask<{ value: string }>(`console/api/events/${place}`)
    expect(body.value).toContain('"id":"c"')
    expect(body.value).not.toContain('secret')
  })
})

describe('a stream', () => {
  it('is told event by event, beside the documents as of each', async () => {
    const { body } = await ask<{ versions: { version: number; documents: { collection: string; json: string }[] }[] }>(
      `console/api/streams/${seatId}`,
    )
    expect(body).toMatchObject({ isKnown: true, before: 0 })
    const shown = body.versions.map(({ version, documents }) => [
      version,
      ...documents.map(({ collection, json }) => [collection, JSON.parse(json).status]),
    ])
    expect(shown).toEqual([
      [1, ['seats', 'available']],
      [2, ['seats', 'pending'], ['bookings', 'placed']],
    ])
    const { body: seat } = await ask<object>(`v1/seats/${seatId}`)
    expect(JSON.parse(body.versions[1]?.documents[0]?.json ?? '')).toEqual(seat)
  })

  it('that is none', async () => {
    expect((await ask('console/api/streams/999')).body).toEqual({ isKnown: false, versions: [], before: 0 })
  })

  it('is found by a document that it shows', async () => {
    const [booking] = (await ask<{ id: number }[]>('v1/bookings')).body
    const found = (path: string, id: unknown) =>
      ask<{ stream?: string; code?: string }>(`console/api/stream-of?path=${path}&id=${id}`)
    expect((await found('/v1/bookings', booking?.id)).body).toEqual({ stream: String(seatId) })
    expect((await found('/v1/bookings', 5)).body).toMatchObject({ code: 'booking_not_found' })
    expect((await found('/v1/none', 5)).body).toMatchObject({ code: 'invalid_request' })
  })
})

describe('what operators do', () => {
  it('rebuilds and verifies, watched, one at a time', async () => {
    const ended = () =>
      eventually(async () => {
        const { job } = (await ask<{ job: { result?: object } }>('console/api/status')).body
        expect(job.result).toBeDefined()
        return job
      })
    for (const [kind, outcome] of [
      ['rebuild', 'The new generation has taken over.'],
      ['verify', expect.stringMatching(/^\d+ compared, all as the log says\.$/)],
    ]) {
      const begun = await ask<object>(`console/api/jobs/${kind}`, { method: 'POST' })
      expect(begun).toMatchObject({ status: 202, body: { kind, actor: expect.stringMatching(/^key /) } })
      expect(await ended()).toMatchObject({ kind, result: { isGood: true, outcome } })
    }
    const [one, other] = await Promise.all(
      ['verify', 'verify'].map((kind) => ask<Refused>(`console/api/jobs/${kind}`, { method: 'POST' })),
    )
    expect([one?.status, other?.status].toSorted()).toEqual([202, 409])
    expect([one?.body.code, other?.body.code]).toContain('already_running')
    await ended()
    expect((await ask(`console/api/jobs/other`, { method: 'POST' })).status).toBe(400)
  })

  it('discards what is parked, with a reason that the audit has', async () => {
    const key = String(seatId)
    const wrong = { ...envelope, subject: key, type: 'theatre.BookingApproved.v1', data: { bookingId: 'one' } }
    const first = await append(key, { ...wrong, id: 'd', streamversion: 3 })
    const second = await append(key, { ...wrong, id: 'e', streamversion: 4 })
    const parked = () => ask<object>('console/api/parked')
    await eventually(async () =>
      expect((await parked()).body).toMatchObject({ streams: [{ stream: key, waiting: 1 }], more: 0 }),
    )
    expect(await outcomeOf(first)).toMatchObject({ outcome: 'parked', why: expect.stringContaining('data: ') })
    expect(await outcomeOf(second)).toMatchObject({
      outcome: 'parked',
      why: expect.stringContaining('an earlier event'),
    })
    const discard = (place: string, body: object = { reason: 'A typo.' }) =>
      ask<Refused>(`console/api/parked/${place}/discard`, { method: 'POST', body })
    expect((await discard(first, {})).body.message).toContain('reason')
    expect((await discard(first, { reason: '' })).status).toBe(400)
    expect((await discard(second)).body.message).toContain(`waits behind ${first}`)
    expect((await discard('0/0')).body).toMatchObject({ code: 'no_such_record' })
    expect(await discard(first)).toMatchObject({ status: 200, body: { isApplied: true } })
    expect(await outcomeOf(first)).toMatchObject({ outcome: 'discarded' })
    const audit = lines.map((line) => JSON.parse(line)).find((line) => line.audit === 'event discarded' && line.actor)
    expect(audit).toMatchObject({ event: first, stream: key, reason: 'A typo.', actor: expect.stringMatching(/^key /) })
  })
})
