import { Redis } from 'ioredis'
import { expect, it, vi } from 'vitest'
import type { KafkaBroker, RedisServer } from '../brokers/brokers.ts'
import { describeWithOwnBrokers } from '../brokers/describe.ts'
import { type Answer, Client, expectExactly, inParallel, type Pet, statuses } from './client.ts'
import { startOwnBrokers } from './own-brokers.ts'
import { startRefused, startService } from './service-process.ts'
import { watchFor } from './watch.ts'

const patience = { timeout: 60_000, interval: 50 }

describeWithOwnBrokers('when brokers fail', () => {
  /** The service on brokers of its own, with some pets that it is known to serve. */
  async function startWithPets(count = 60): Promise<World> {
    const brokers = await startOwnBrokers()
    const service = await startService(brokers.environment)
    const client = new Client(service)
    const pets = await inParallel(count, 8, (i) => client.create(`pet ${i}`, statuses[i % 3]))
    await vi.waitFor(async () => expect(await client.list({ limit: 100 })).toHaveLength(count), patience)
    return { ...brokers, client, pets, alive: service.running }
  }

  it('without Kafka POST answers 503 or 504 within 6 s and GETs go on; with it back POST works, without a restart', async () => {
    const { kafka, client, pets, alive } = await startWithPets()
    await kafka.kill()
    const answers = await inParallel(20, 5, (i) => timed(() => client.post({ name: `while away ${i}`, categoryId: 1 })))
    for (const { answer, ms } of answers) {
      expect(['503 event_log_unavailable', '504 append_outcome_unknown']).toContain(summary(answer))
      expect(ms).toBeLessThan(6000)
    }
    expect(summary(answers.at(-1)?.answer)).toBe('503 event_log_unavailable')
    await expectExactly(client, pets)
    await kafka.start()
    const after = await vi.waitFor(() => client.create('after'), patience)
    const surely = await vi.waitFor(async () => {
      const listed = await client.list({ limit: 100 })
      expect(listed).toContainEqual(after)
      return listed
    }, patience)
    expect(surely).toEqual(expect.arrayContaining([...pets]))
    const unknown = answers.filter(({ answer }) => answer.status === 504).length
    expect(surely.length - pets.length - 1).toBeLessThanOrEqual(unknown)
    expect(alive()).toBe(true)
  })

  it('without Redis GETs answer 503 within 2 s and POSTs go on; all is right when it is back', async () => {
    const { redis, client, pets, alive } = await startWithPets()
    await redis.kill()
    const gets = await inParallel(10, 5, (i) => timed(() => client.get(pets[i]?.id ?? 0)))
    for (const { answer, ms } of gets) {
      expect(answer.status).toBe(503)
      expect(ms).toBeLessThan(2000)
    }
    const more = await inParallel(20, 5, (i) => client.create(`while away ${i}`))
    await redis.start()
    await untilServed(client, [...pets, ...more])
    expect(alive()).toBe(true)
  })

  it('a Redis that comes back empty is filled from the log', async () => {
    const brokers = await startOwnBrokers(['--appendonly', 'no'])
    const client = new Client(await startService(brokers.environment))
    const pets = await inParallel(60, 8, (i) => client.create(`pet ${i}`, statuses[i % 3]))
    await untilServed(client, pets)
    await brokers.redis.kill()
    await brokers.redis.start()
    await untilServed(client, pets)
  })

  it('a Redis that stands still makes GETs answer 503 within 2 s, and is used again when it goes on', async () => {
    const { redis, client, pets } = await startWithPets()
    await redis.pause()
    for (const { answer, ms } of await inParallel(20, 20, (i) => timed(() => client.get(pets[i]?.id ?? 0)))) {
      expect(answer.status).toBe(503)
      expect(ms).toBeLessThan(2000)
    }
    await redis.resume()
    await untilServed(client, pets)
  })

  it('FLUSHALL on an idle system: never a 404 or a short list, and complete again by itself', async () => {
    const { redis, client, pets } = await startWithPets()
    const watch = watchFor(client, pets)
    await flush(redis)
    await watch.until503()
    await untilServed(client, pets)
    expect(await watch.stop()).toEqual([])
  })

  it('FLUSHALL under load: never a 404 or a short list, and complete again by itself', async () => {
    const { redis, client, pets } = await startWithPets()
    const watch = watchFor(client, pets)
    const created = inParallel(2000, 8, (i) => client.create(`under load ${i}`, statuses[i % 3]))
    for (let i = 0; i < 3; i++) {
      await flush(redis)
      await watch.until503()
      await watch.until200()
    }
    await untilServed(client, [...pets, ...(await created)])
    expect(await watch.stop()).toEqual([])
  })

  it('a Redis that may drop keys by itself stops the boot and says what to do', async () => {
    const { environment } = await startOwnBrokers(['--maxmemory-policy', 'allkeys-lru'])
    const { output, code } = await startRefused(environment)
    expect(code).toBe(1)
    expect(output).toMatch(/maxmemory-policy/)
    expect(output).toMatch(/noeviction/)
  })
})

interface World {
  readonly kafka: KafkaBroker
  readonly redis: RedisServer
  readonly client: Client
  readonly pets: readonly Pet[]
  readonly alive: () => boolean
}

async function timed(request: () => Promise<Answer>): Promise<{ answer: Answer; ms: number }> {
  const start = performance.now()
  const answer = await request()
  return { answer, ms: performance.now() - start }
}

function summary(answer: Answer | undefined): string {
  return `${answer?.status} ${(answer?.body as { code?: string } | undefined)?.code}`
}

async function untilServed(client: Client, pets: readonly Pet[]): Promise<void> {
  await vi.waitFor(async () => expect(await client.list({ limit: 100 })).toHaveLength(pets.length), patience)
  await expectExactly(client, pets)
}

async function flush({ url }: RedisServer): Promise<void> {
  const redis = new Redis(url)
  await redis.flushall()
  redis.disconnect()
}
