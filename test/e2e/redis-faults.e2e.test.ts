import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { type KafkaBroker, type RedisOptions, type RedisServer, startKafka, startRedis } from '../brokers/brokers.ts'
import { describeWithLocalBrokers, describeWithOwnBrokers } from '../brokers/describe.ts'
import { Link } from '../brokers/link.ts'
import { startRedis as startLocalRedis } from '../brokers/processes.ts'
import { askRedis } from '../brokers/ready.ts'
import { Client, createMany, type Pet, untilServed } from './client.ts'
import { buying, Load, reading } from './load.ts'
import { brokerEnvironment, expectVerified, startService } from './service.ts'

const patience = { timeout: 60_000, interval: 50 }

interface World {
  readonly more: () => Promise<void>
  readonly readers: Load
}

/** The service has pets, then suffers the fault, in which more are written; all is right again by itself. */
async function suffer(
  situation: (typeof situations)[number],
  { kafka, redisUrl }: { kafka: KafkaBroker; redisUrl: string },
  fault: (world: World) => Promise<void>,
): Promise<void> {
  const environment = brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl })
  const client = new Client(await startService(environment))
  const pets: Pet[] = []
  const load = situation === 'on an idle system' ? undefined : new Load([client], 8, buying)
  async function more(): Promise<void> {
    if (load !== undefined) return await load.until(100)
    pets.push(...(await createMany(client, 60)))
    await untilServed(client, pets)
  }
  await more()
  const readers = load ?? new Load([client], 3, reading([...pets]))
  await fault({ more, readers })
  await load?.until(100)
  await vi.waitFor(async () => expect((await client.request('/v1/pets')).status).toBe(200), patience)
  await expectVerified(environment)
  await readers.expectTrue(environment)
  if (load === undefined) await untilServed(client, pets)
}

const situations = ['on an idle system', 'with writes and orders going on'] as const

/** Nothing is written to disk but on SAVE. */
async function volatileRedis(start: (options: RedisOptions) => Promise<RedisServer>): Promise<RedisServer> {
  const redis = await start({ args: ['--appendonly', 'no'] })
  onTestFinished(() => redis.remove())
  return redis
}

const losses: Readonly<Record<string, (redis: RedisServer, world: World) => Promise<void>>> = {
  'all of it, as it ends': async (redis) => {
    await redis.kill()
    await redis.start()
  },
  'all of it, as it is emptied again and again': async ({ url }, { readers }) => {
    for (let i = 0; i < 3; i++) {
      await askRedis(url, (connection) => connection.flushall())
      await readers.until(4, 503, 'any')
      await readers.until(4, 200, 'any')
    }
  },
  'what was written since a snapshot that it is put back to': async (redis, { more }) => {
    await askRedis(redis.url, (connection) => connection.call('SAVE'))
    await more()
    await redis.kill()
    await redis.start()
  },
}

describeWithOwnBrokers('when Redis loses data', () => {
  let kafka: KafkaBroker
  beforeAll(async () => {
    kafka = await startKafka()
  })
  afterAll(() => kafka?.remove())

  const cases = Object.keys(losses).flatMap((what) => situations.map((situation) => ({ what, situation })))
  it.each(cases)('$what, $situation', async ({ what, situation }) => {
    const redis = await volatileRedis(startRedis)
    await suffer(situation, { kafka, redisUrl: redis.url }, async (world) => await losses[what]?.(redis, world))
  })
})

describeWithLocalBrokers('when Redis fails over', () => {
  let kafka: KafkaBroker
  beforeAll(async () => {
    kafka = await startKafka()
  })
  afterAll(() => kafka?.remove())

  it.each(situations)('to a replica that lagged, %s', async (situation) => {
    const [primary, replica] = await Promise.all([volatileRedis(startLocalRedis), volatileRedis(startLocalRedis)])
    const address = await Link.to(portOf(primary))
    onTestFinished(() => address.close())
    await suffer(situation, { kafka, redisUrl: `redis://127.0.0.1:${address.port}` }, async ({ more }) => {
      await follow(replica, portOf(primary))
      await vi.waitFor(async () => expect(await replication(replica)).toContain('master_link_status:up'), patience)
      await follow(replica, 1) // where nobody listens: it keeps what it has
      await vi.waitFor(async () => expect(await replication(replica)).toContain('master_link_status:down'), patience)
      await more()
      address.turnTo(portOf(replica)) // and refuses writes until it is promoted
      await primary.kill()
      await askRedis(replica.url, (connection) => connection.call('REPLICAOF', 'NO', 'ONE'))
    })
  })
})

function portOf({ url }: RedisServer): number {
  return Number(new URL(url).port)
}

async function follow({ url }: RedisServer, port: number): Promise<void> {
  await askRedis(url, (connection) => connection.call('REPLICAOF', '127.0.0.1', String(port)))
}

function replication({ url }: RedisServer): Promise<string> {
  return askRedis(url, (connection) => connection.info('replication'))
}
