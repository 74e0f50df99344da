import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { brokerSource, howToGetBrokers, ownBrokerSource, startKafka, startRedis } from '../../test/brokers/brokers.ts'
import { askKafka } from '../../test/brokers/ready.ts'
import { say } from '../run.ts'
import { kafkaOf } from './kafka-client.ts'

/**
 * A Kafka and a Redis, found in the order in which tests find theirs, and what the service is to call its own in them. With
 * `stack` ends what was started; of brokers that were given, what the service left in them.
 */
export async function findBrokers(stack: AsyncDisposableStack) {
  const source = await brokerSource()
  if (source === 'none') throw new Error(`there are no brokers: ${howToGetBrokers}`)
  if (source !== 'given') return await startBrokers(stack)
  const { KAFKA_BROKERS = '', REDIS_URL = '' } = process.env
  say(`Kafka ${KAFKA_BROKERS} and Redis as given`)
  const environment = environmentOf(KAFKA_BROKERS, REDIS_URL)
  stack.defer(() => removeKeys(REDIS_URL, environment.REDIS_PREFIX))
  stack.defer(() => removeTopics(KAFKA_BROKERS, environment.KAFKA_TOPIC))
  return environment
}

async function startBrokers(stack: AsyncDisposableStack) {
  say(`starting Kafka and Redis from ${await ownBrokerSource()}`)
  const kafka = await startKafka()
  stack.defer(() => kafka.remove())
  // As docker-compose.yml runs it: tests want every write on disk at once
  const redis = await startRedis({ args: ['--appendfsync', 'everysec', '--auto-aof-rewrite-min-size', '1gb'] })
  stack.defer(() => redis.remove())
  return environmentOf(kafka.brokers, redis.url)
}

function environmentOf(kafkaBrokers: string, redisUrl: string) {
  const name = `bench-${randomUUID()}`
  return { KAFKA_BROKERS: kafkaBrokers, REDIS_URL: redisUrl, KAFKA_TOPIC: name, REDIS_PREFIX: name }
}

function removeTopics(brokers: string, topic: string): Promise<void> {
  return askKafka(kafkaOf(brokers.split(',')), async (admin) => {
    const topics = (await admin.listTopics()).filter((name) => name === topic || name.startsWith(`${topic}.`))
    await admin.deleteTopics({ topics })
    const { groups } = await admin.listGroups()
    const ours = groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(`${topic}.`))
    if (ours.length > 0) await admin.deleteGroups(ours)
  })
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
