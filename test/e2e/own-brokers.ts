import { onTestFinished } from 'vitest'
import { startKafka, startRedis } from '../brokers/brokers.ts'
import { brokerEnvironment } from './service-process.ts'

/** A Kafka and a Redis of the test's own, to be broken, and what the service needs to find them. */
export async function startOwnBrokers(redisArgs: readonly string[] = []) {
  const [kafka, redis] = await Promise.all([startKafka(), startRedis({ args: redisArgs })])
  onTestFinished(async () => void (await Promise.all([kafka.remove(), redis.remove()])))
  return { kafka, redis, environment: brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl: redis.url }) }
}
