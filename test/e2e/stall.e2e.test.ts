import { Redis } from 'ioredis'
import { expect, it, vi } from 'vitest'
import { describeWithOwnBrokers } from '../brokers/describe.ts'
import { Client, createMany, expectExactly } from './client.ts'
import { metric, startOwnBrokers, startService } from './service.ts'

const patience = { timeout: 60_000, interval: 100 }
const stallSeconds = 2

describeWithOwnBrokers('a projector that cannot move', () => {
  it('is reported as stalled, but not while Redis or Kafka is away, however long, and is live again after', async () => {
    const { kafka, redis, environment } = await startOwnBrokers()
    const service = await startService({ ...environment, PROJECTOR_STALL_SECONDS: String(stallSeconds) })
    const client = new Client(service)
    const pets = await createMany(client, 10)
    const live = () => client.request('/livez')
    expect(await live()).toMatchObject({ status: 200, body: { status: 'ok', checks: { projector: { status: 'ok' } } } })

    // The read models answer, but take nothing.
    const admin = new Redis(redis.url)
    await admin.config('SET', 'maxmemory', '1')
    for (let i = 0; i < 3; i++) pets.push(await client.create(`unseen ${i}`))
    await vi.waitFor(async () => expect((await live()).status).toBe(503), patience)
    const { body } = await live()
    expect(body).toMatchObject({ status: 'stalled', checks: { projector: { status: 'stalled' } } })
    const { partitions } = (body as Health).checks.projector
    expect(sum(partitions)).toBeGreaterThan(0)
    for (const { seconds } of partitions) expect(seconds).toBeGreaterThanOrEqual(stallSeconds)
    // It goes on to serve what it has, so it stays ready, and says how far behind it is.
    await vi.waitFor(async () => expect(sum(await lagOf(client))).toBe(3), patience)
    expect((await client.request('/readyz')).status).toBe(200)
    expect(await metric(service.url, 'petstore_projection_lag_events')).toBe(3)
    expect(await metric(service.url, 'petstore_projection_lag_seconds')).toBeGreaterThanOrEqual(stallSeconds)

    await admin.config('SET', 'maxmemory', '0')
    admin.disconnect()
    await vi.waitFor(async () => expect((await live()).status).toBe(200), patience)
    await vi.waitFor(async () => expect(sum(await lagOf(client))).toBe(0), patience)
    await expectExactly(client, pets)
    expect(await metric(service.url, 'petstore_projection_records_total')).toBe(13)

    // While a broker is away it is not stalled, and it has the full time when that is back.
    const seen = new Set<number>()
    const look = async () => {
      seen.add((await live()).status)
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
  })
})

interface Behind {
  readonly events: number
  readonly seconds: number
}
interface Health {
  readonly checks: {
    readonly projector: { readonly partitions: readonly Behind[] }
    readonly readModels: { readonly lag: readonly Behind[] | 'unknown' }
  }
}

function sum(partitions: readonly Behind[] | 'unknown'): number {
  return partitions === 'unknown' ? Number.NaN : partitions.reduce((total, { events }) => total + events, 0)
}

async function lagOf(client: Client): Promise<readonly Behind[] | 'unknown'> {
  return ((await client.request('/readyz')).body as Health).checks.readModels.lag
}
