import { Redis } from 'ioredis'
import { expect, it, vi } from 'vitest'
import { describeWithOwnBrokers } from '../brokers/describe.ts'
import { Client, expectExactly, inParallel, statuses } from './client.ts'
import { startOwnBrokers } from './own-brokers.ts'
import { startService } from './service-process.ts'

const patience = { timeout: 60_000, interval: 100 }

describeWithOwnBrokers('a projector that cannot move', () => {
  it('is reported as stalled while the read models answer but take nothing, and is live again after', async () => {
    const { redis, environment } = await startOwnBrokers()
    const service = await startService({ ...environment, PROJECTOR_STALL_SECONDS: '2' })
    const client = new Client(service)
    const pets = await inParallel(10, 4, (i) => client.create(`pet ${i}`, statuses[i % 3]))
    const live = () => client.request('/livez')
    expect(await live()).toMatchObject({ status: 200, body: { status: 'ok', checks: { projector: { status: 'ok' } } } })

    const admin = new Redis(redis.url)
    await admin.config('SET', 'maxmemory', '1')
    const more = await inParallel(3, 1, (i) => client.create(`unseen ${i}`))
    const stalled = await vi.waitFor(async () => {
      const answer = await live()
      expect(answer.status).toBe(503)
      return answer.body
    }, patience)
    expect(stalled).toMatchObject({ status: 'stalled', checks: { projector: { status: 'stalled' } } })
    const { partitions } = (stalled as Stalled).checks.projector
    expect(sum(partitions)).toBeGreaterThan(0)
    for (const { seconds } of partitions) expect(seconds).toBeGreaterThanOrEqual(2)
    // It goes on to serve what it has, so it stays ready, and says how far behind it is.
    await vi.waitFor(async () => expect(sum(await lagOf(client))).toBe(3), patience)
    expect((await client.request('/readyz')).status).toBe(200)
    expect(await metric(service.url, 'petstore_projection_lag_events')).toBe(3)
    expect(await metric(service.url, 'petstore_projection_lag_seconds')).toBeGreaterThanOrEqual(2)

    await admin.config('SET', 'maxmemory', '0')
    admin.disconnect()
    await vi.waitFor(async () => expect((await live()).status).toBe(200), patience)
    await vi.waitFor(async () => expect(sum(await lagOf(client))).toBe(0), patience)
    await expectExactly(client, [...pets, ...more])
    expect(await metric(service.url, 'petstore_projection_records_total')).toBe(13)
  }, 180_000)

  it('is not stalled while Redis or Kafka is away, however long, and has the full time when it is back', async () => {
    const stallSeconds = 3
    const { kafka, redis, environment } = await startOwnBrokers()
    const service = await startService({ ...environment, PROJECTOR_STALL_SECONDS: String(stallSeconds) })
    const client = new Client(service)
    await client.create('before')
    const seen = new Set<number>()
    const look = async () => {
      seen.add((await client.request('/livez')).status)
      return await lagOf(client)
    }
    for (const broker of [redis, kafka]) {
      await broker.kill()
      if (broker === redis) await client.create('while Redis is away')
      await vi.waitFor(async () => expect(await look()).toBe('unknown'), patience)
      const since = performance.now()
      while (performance.now() - since < 2 * stallSeconds * 1000) expect(await look()).toBe('unknown')
      await broker.start()
      await vi.waitFor(async () => expect(sum(await look())).toBe(0), patience)
    }
    expect([...seen]).toEqual([200])
  }, 180_000)
})

interface Behind {
  readonly events: number
  readonly seconds: number
}
interface Stalled {
  readonly checks: { readonly projector: { readonly partitions: readonly Behind[] } }
}
interface Ready {
  readonly checks: { readonly readModels: { readonly lag: readonly Behind[] | 'unknown' } }
}

function sum(partitions: readonly Behind[] | 'unknown'): number {
  return partitions === 'unknown' ? Number.NaN : partitions.reduce((total, { events }) => total + events, 0)
}

async function lagOf(client: Client): Promise<readonly Behind[] | 'unknown'> {
  return ((await client.request('/readyz')).body as Ready).checks.readModels.lag
}

/** The sum over all its labels, or for seconds the most. */
async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const values = [...text.matchAll(new RegExp(`^${name}(?:{.*})? (.+)$`, 'gm'))].map(([, value]) => Number(value))
  return name.endsWith('_seconds') ? Math.max(...values) : values.reduce((total, value) => total + value, 0)
}
