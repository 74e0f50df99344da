import type { Logger } from 'pino'
import type { Definition } from '../definition/definition.ts'
import type { Finding } from '../lib/finding.ts'
import { checkKafka } from '../log/kafka/check-kafka.ts'
import { openKafkaEventLog } from '../log/kafka/kafka-event-log.ts'
import { versionOfLog } from '../projector/definition.ts'
import { checkRedis } from '../read-models/redis/check-redis.ts'
import { openRedisReadModels } from '../read-models/redis/redis-read-models.ts'
import { type Stores, shardVersions } from '../read-models/shards.ts'
import type { ReadModelStore } from '../read-models/store.ts'
import type { Config } from './config.ts'

export { tuneProcess } from '../log/kafka/process-tuning.ts'

type Brokers = NonNullable<Config['brokers']>

/** Least time for Redis, if Kafka took most of it. */
const redisTimeoutMsMin = 2000

/** Opens Kafka and Redis. `timeoutMs` is for both together. */
export async function openBrokers(
  { version, stream: { collection: home } }: Definition,
  { appendTimeoutMs, readModelShards: shards }: Config,
  { kafka, redis }: Brokers,
  logger: Logger,
  timeoutMs?: number,
) {
  const start = performance.now()
  const log = await openKafkaEventLog({ ...kafka, appendTimeoutMs, logger, bootTimeoutMs: timeoutMs })
  try {
    const left = timeoutMs && Math.max(redisTimeoutMsMin, timeoutMs - (performance.now() - start))
    const versions = shardVersions(versionOfLog(version, log.logId), shards)
    const openVersion = (each: string) =>
      openRedisReadModels({ ...redis, version: each, home, logger, openTimeoutMs: left })
    const stores = await openAll(versions.map(openVersion))
    const group = `${kafka.topic}.projector.${version}${shards === 1 ? '' : `.s${shards}`}`
    async function close(): Promise<void> {
      await Promise.all(stores.map((store) => store.close()))
      await log.close()
    }
    return { log, stores, versions, openVersion, group, close }
  } catch (error) {
    await log.close()
    throw error
  }
}

/** Resolves to all of them; if one cannot be opened, closes the others and throws. */
async function openAll(opening: readonly Promise<ReadModelStore>[]): Promise<Stores> {
  const results = await Promise.allSettled(opening)
  const stores = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed === undefined) return stores as [ReadModelStore, ...ReadModelStore[]]
  await Promise.all(stores.map((store) => store.close()))
  throw failed.reason
}

export async function checkBrokers({ kafka, redis }: Brokers, logger: Logger): Promise<Finding[]> {
  return (await Promise.all([checkKafka({ ...kafka, logger }), checkRedis(redis)])).flat()
}
