import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../../src/engine/app/config.ts'
import type { EventLog } from '../../src/engine/log/event-log.ts'
import { openKafkaEventLog } from '../../src/engine/log/kafka/kafka-event-log.ts'
import { openSqliteEventLog } from '../../src/engine/log/sqlite/sqlite-event-log.ts'
import type { ReadModelStore } from '../../src/engine/read-models/ports/store.ts'
import { openRedisReadModels } from '../../src/engine/read-models/redis/redis-read-models.ts'
import { openSqliteReadModels } from '../../src/engine/read-models/sqlite/sqlite-read-models.ts'
import { versionOfLog } from '../../src/engine/read-models/version-of-log.ts'
import { petstore } from '../../test/store/petstore.ts'

export type LogKind = 'kafka' | 'sqlite'
export type StoreKind = 'redis' | 'sqlite'

/** The logs and read models that the service has, and that it opens in two pairs only, each by itself. */
export async function openLog(
  kind: LogKind,
  { brokers, dataDir, appendTimeoutMs }: Config,
  logger: Logger,
): Promise<EventLog> {
  if (kind === 'sqlite') return openSqliteEventLog({ file: join(dataDir, 'event-log.db') })
  if (brokers === undefined) throw new Error('no brokers are configured')
  return await openKafkaEventLog({ ...brokers.kafka, appendTimeoutMs, logger })
}

export async function openStore(
  kind: StoreKind,
  { brokers, dataDir }: Config,
  { logId }: EventLog,
  logger: Logger,
): Promise<ReadModelStore> {
  const { names, version } = petstore
  if (kind === 'sqlite') {
    return openSqliteReadModels({ file: join(dataDir, 'read-models.db'), version, names, isOwner: true })
  }
  if (brokers === undefined) throw new Error('no brokers are configured')
  return await openRedisReadModels({ ...brokers.redis, version: versionOfLog(version, logId), names, logger })
}
