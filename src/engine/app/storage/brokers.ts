import type { Logger } from 'pino'
import type { Definition } from '../../definition/definition.ts'
import type { Finding } from '../../lib/operating/finding.ts'
import { checkKafka } from '../../log/kafka/check-kafka.ts'
import { openKafkaEventLog } from '../../log/kafka/kafka-event-log.ts'
import { checkPublishing } from '../../log/kafka/publishing/check-publishing.ts'
import { KafkaPublishedLog } from '../../log/kafka/publishing/kafka-published-log.ts'
import { documentsTarget, eventsTarget, type PublisherName } from '../../log/published-log.ts'
import type { ReadModelStore } from '../../read-models/ports/store.ts'
import { checkRedis } from '../../read-models/redis/check-redis.ts'
import { openRedisReadModels } from '../../read-models/redis/redis-read-models.ts'
import { shardVersions } from '../../read-models/shards.ts'
import { versionOfLog } from '../../read-models/version-of-log.ts'
import type { Config } from '../config.ts'

export { tuneProcess } from '../../log/kafka/process-tuning.ts'

type Brokers = NonNullable<Config['brokers']>

/** Least time for Redis, if Kafka took most of it. */
const redisTimeoutMsMin = 2000

/** Opens Kafka and Redis. `timeoutMs` is for both together. */
export async function openBrokers(
  definition: Definition,
  { appendTimeoutMs, readModelShards: shards }: Config,
  { kafka, redis, publishers }: Brokers,
  logger: Logger,
  timeoutMs?: number,
) {
  const start = performance.now()
  const { version, names } = definition
  const log = await openKafkaEventLog({ ...kafka, appendTimeoutMs, logger, bootTimeoutMs: timeoutMs })
  const left = timeoutMs && Math.max(redisTimeoutMsMin, timeoutMs - (performance.now() - start))
  const versions = shardVersions(versionOfLog(version, log.logId), shards)
  const openVersion = (each: string) =>
    openRedisReadModels({ ...redis, version: each, names, logger, openTimeoutMs: left })
  const { logId } = log
  const openPublished = () =>
    publishers.map((publisher) => {
      const targets = targetsOf(definition, publisher)
      return new KafkaPublishedLog({ ...kafka, logger, logId, publisher, targets })
    })
  const opening = versions.map(openVersion)
  async function close(): Promise<void> {
    const nothingToClose = () => {}
    await Promise.all(opening.map((store) => store.then((opened) => opened.close(), nothingToClose)))
    await log.close()
  }
  try {
    const stores = (await Promise.all(opening)) as [ReadModelStore, ...ReadModelStore[]]
    const group = `${kafka.topic}.projector.${version}${shards === 1 ? '' : `.s${shards}`}`
    return { log, stores, versions, openVersion, openPublished, group, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What a publisher tells in. */
function targetsOf({ resources }: Definition, publisher: PublisherName): readonly string[] {
  return publisher === 'events' ? [eventsTarget] : resources.map(({ collection }) => documentsTarget(collection))
}

export async function checkBrokers(
  definition: Definition,
  { kafka, redis, publishers }: Brokers,
  logger: Logger,
): Promise<Finding[]> {
  const options = { ...kafka, logger }
  const [ofKafka, ofRedis] = await Promise.all([checkKafka(options), checkRedis(redis)])
  const isAway = ofKafka.every(({ state }) => state === 'failed')
  const ofPublishing = (isAway ? [] : publishers).map((publisher) =>
    checkPublishing({ ...options, publisher, targets: targetsOf(definition, publisher) }),
  )
  return [...ofKafka, ...(await Promise.all(ofPublishing)).flat(), ...ofRedis]
}
