import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { type KafkaBroker, type RedisServer, startKafka, startRedis } from '../brokers/brokers.ts'
import { describeWithLocalBrokers, describeWithOwnBrokers } from '../brokers/describe.ts'
import { startRedis as startLocalRedis } from '../brokers/processes.ts'
import { Client, expectExactly, inParallel, type Pet, statuses } from './client.ts'
import { expectVerified } from './petstore.ts'
import { startRedirect } from './redirect.ts'
import { brokerEnvironment, type Environment, startService } from './service-process.ts'
import { readEvents } from './topic.ts'
import { watchFor } from './watch.ts'
import { expectTruth, settleUnknown, WriteLoad } from './write-load.ts'

const patience = { timeout: 60_000, interval: 50 }
const timeout = 120_000
/** Nothing is written to disk but on SAVE. */
const volatile = ['--appendonly', 'no']

type Fault = (world: { client: Client; more: () => Promise<void> }) => Promise<void>

/** The service has pets, then suffers the fault, in which more are written; all is right again by itself. */
async function sufferIdle(kafka: KafkaBroker, redisUrl: string, fault: Fault): Promise<void> {
  const { client, environment } = await start(kafka, redisUrl)
  const pets: Pet[] = []
  const more = async () => {
    pets.push(...(await inParallel(60, 8, (i) => client.create(`pet ${pets.length + i}`, statuses[i % 3]))))
    await vi.waitFor(async () => expect(await client.list({ limit: 100 })).toHaveLength(pets.length), patience)
  }
  await more()
  const watch = watchFor(client, [...pets])
  await fault({ client, more })
  await vi.waitFor(async () => expect((await client.request('/v1/pets')).status).toBe(200), patience)
  await expectVerified(environment)
  expect(await watch.stop()).toEqual([])
  await expectExactly(client, pets)
}

async function sufferUnderLoad(kafka: KafkaBroker, redisUrl: string, fault: Fault): Promise<void> {
  const { client, environment } = await start(kafka, redisUrl)
  const load = new WriteLoad(client, 8)
  await load.until(100, 201)
  const watch = watchFor(client, [load.firstPet()])
  await fault({ client, more: () => load.until(100, 201) })
  await load.until(100, 201)
  await vi.waitFor(async () => expect((await client.request('/v1/pets')).status).toBe(200), patience)
  await expectVerified(environment)
  const attempts = await load.stop()
  expect(await watch.stop()).toEqual([])
  const settled = await settleUnknown(client, attempts)
  await expectTruth(client, { attempts, settled, events: await readEvents(kafka.brokers, environment.KAFKA_TOPIC) })
  await expectVerified(environment)
}

async function start(kafka: KafkaBroker, redisUrl: string) {
  const environment = brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl })
  const service = await startService(environment)
  return { client: new Client(service), environment: environment satisfies Environment }
}

const situations = [
  ['on an idle system', sufferIdle],
  ['with writes going on', sufferUnderLoad],
] as const

describeWithOwnBrokers('when Redis loses data', () => {
  let kafka: KafkaBroker
  beforeAll(async () => {
    kafka = await startKafka()
  })
  afterAll(() => kafka?.remove())

  async function volatileRedis(): Promise<RedisServer> {
    const redis = await startRedis({ args: volatile })
    onTestFinished(() => redis.remove())
    return redis
  }

  it.each(situations)('all of it, %s', { timeout }, async (_, suffer) => {
    const redis = await volatileRedis()
    await suffer(kafka, redis.url, async () => {
      await redis.kill()
      await redis.start()
    })
  })

  it.each(situations)(
    'what was written since a snapshot that it is put back to, %s',
    { timeout },
    async (_, suffer) => {
      const redis = await volatileRedis()
      await suffer(kafka, redis.url, async ({ more }) => {
        await ask(redis.url, (connection) => connection.call('SAVE'))
        await more()
        await redis.kill()
        await redis.start()
      })
    },
  )
})

describeWithLocalBrokers('when Redis fails over', () => {
  let kafka: KafkaBroker
  beforeAll(async () => {
    kafka = await startKafka()
  })
  afterAll(() => kafka?.remove())

  async function localRedis(): Promise<RedisServer> {
    const redis = await startLocalRedis({ args: volatile })
    onTestFinished(() => redis.remove())
    return redis
  }

  it.each(situations)('to a replica that lagged, %s', { timeout }, async (_, suffer) => {
    const [primary, replica] = await Promise.all([localRedis(), localRedis()])
    const address = await startRedirect(portOf(primary))
    await suffer(kafka, `redis://127.0.0.1:${address.port}`, async ({ more }) => {
      await follow(replica, portOf(primary))
      await vi.waitFor(async () => expect(await replication(replica)).toContain('master_link_status:up'), patience)
      await follow(replica, 1) // where nobody listens: it keeps what it has
      await vi.waitFor(async () => expect(await replication(replica)).toContain('master_link_status:down'), patience)
      await more()
      address.to(portOf(replica)) // and refuses writes until it is promoted
      await primary.kill()
      await ask(replica.url, (connection) => connection.call('REPLICAOF', 'NO', 'ONE'))
    })
  })
})

function portOf({ url }: RedisServer): number {
  return Number(new URL(url).port)
}

async function follow({ url }: RedisServer, port: number): Promise<void> {
  await ask(url, (connection) => connection.call('REPLICAOF', '127.0.0.1', String(port)))
}

function replication({ url }: RedisServer): Promise<string> {
  return ask(url, (connection) => connection.info('replication'))
}

async function ask<T>(url: string, question: (connection: Redis) => Promise<T>): Promise<T> {
  const connection = new Redis(url)
  try {
    return await question(connection)
  } finally {
    connection.disconnect()
  }
}
