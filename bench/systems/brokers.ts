import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { brokerSource, howToGetBrokers, ownBrokerSource, startKafka, startRedis } from '../../test/brokers/brokers.ts'
import { say } from '../run.ts'
import { kafkaOf } from './kafka-client.ts'

/** A Kafka and a Redis, and what the service is to call its own in them. */
export interface Brokers {
  readonly environment: Readonly<Record<string, string>>
  /** Removes the brokers where they were started, else what the service left in them. */
  remove(): Promise<void>
}

/** Found in the order in which tests find theirs. */
export async function findBrokers(): Promise<Brokers> {
  const source = await brokerSource()
  if (source === 'none') throw new Error(`there are no brokers: ${howToGetBrokers}`)
  if (source !== 'given') return await startBrokers()
  const { KAFKA_BROKERS = '', REDIS_URL = '' } = process.env
  say(`Kafka ${KAFKA_BROKERS} and Redis as given`)
  const environment = environmentOf(KAFKA_BROKERS, REDIS_URL)
  const { KAFKA_TOPIC, REDIS_PREFIX } = environment
  async function remove(): Promise<void> {
    await removeTopics(KAFKA_BROKERS, KAFKA_TOPIC)
    await removeKeys(REDIS_URL, REDIS_PREFIX)
  }
  return { environment, remove }
}

async function startBrokers(): Promise<Brokers> {
  say(`starting Kafka and Redis from ${await ownBrokerSource()}`)
  // As docker-compose.yml runs it: tests want every write on disk at once
  const redisOptions = { args: ['--appendfsync', 'everysec', '--auto-aof-rewrite-min-size', '1gb'] }
  const [kafka, redis] = await Promise.allSettled([startKafka(), startRedis(redisOptions)])
  const remove = async () => {
    const started = [kafka, redis].flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    await Promise.all(started.map((broker) => broker.remove()))
  }
  if (kafka.status === 'fulfilled' && redis.status === 'fulfilled') {
    return { environment: environmentOf(kafka.value.brokers, redis.value.url), remove }
  }
  await remove()
  throw [kafka, redis].find((result) => result.status === 'rejected')?.reason
}

function environmentOf(kafkaBrokers: string, redisUrl: string) {
  const name = `bench-${randomUUID()}`
  return { KAFKA_BROKERS: kafkaBrokers, REDIS_URL: redisUrl, KAFKA_TOPIC: name, REDIS_PREFIX: name }
}

async function removeTopics(brokers: string, topic: string): Promise<void> {
  const admin = kafkaOf(brokers.split(',')).admin()
  await admin.connect()
  try {
    const topics = (await admin.listTopics()).filter((name) => name === topic || name.startsWith(`${topic}.`))
    await admin.deleteTopics({ topics })
    const { groups } = await admin.listGroups()
    const ours = groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(`${topic}.`))
    if (ours.length > 0) await admin.deleteGroups(ours)
  } finally {
    await admin.disconnect()
  }
}

/** Removes the keys of one prefix, and of all that begin with it and a colon. */
export async function removeKeys(url: string, prefix: string): Promise<void> {
  const redis = new Redis(url)
  try {
    for await (const keys of redis.scanStream({ match: `{${prefix}:*` }) as AsyncIterable<string[]>) {
      if (keys.length > 0) await redis.unlink(...keys)
    }
  } finally {
    redis.disconnect()
  }
}
