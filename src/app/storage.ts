import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { pets } from '../../projections/pets.ts'
import type { EventLog } from '../event-log/event-log.ts'
import { openKafkaEventLog } from '../event-log/kafka/kafka-event-log.ts'
import { openSqliteEventLog } from '../event-log/sqlite/sqlite-event-log.ts'
import { lockFile } from '../lib/file-lock.ts'
import { readModelVersion, shardVersions } from '../projector/definition.ts'
import type { ReadModels } from '../read-models/read-models.ts'
import { openRedisReadModels } from '../read-models/redis/redis-read-models.ts'
import type { Shards } from '../read-models/shards.ts'
import { openSqliteReadModels } from '../read-models/sqlite/sqlite-read-models.ts'
import { type Config, ConfigError } from './config.ts'

/** The two ports, as the configuration wants them. */
export interface Storage {
  readonly log: EventLog
  readonly stores: Shards
  /** Of the read models in each of the stores: those of this release. */
  readonly versions: readonly string[]
  /** Opens the read models of any version, to be closed by the caller. That changes nothing: it is not renewed. */
  openVersion(version: string): Promise<ReadModels>
  /** Consumer group of the projectors. */
  readonly group: string
  close(): Promise<void>
}

/** Opens Kafka and Redis, or the files of the embedded service for the one process that serves them. */
export async function openStorage(config: Config, logger: Logger): Promise<Storage> {
  if (config.brokers !== undefined) return openBrokers(config, config.brokers, logger)
  mkdirSync(config.dataDir, { recursive: true })
  const lock = lockFile(join(config.dataDir, 'server.lock'), 0)
  if (lock === undefined) {
    throw new ConfigError(`Another server is running on ${config.dataDir}: stop it, or set DATA_DIR to another folder.`)
  }
  const files = openFiles(config, true)
  async function close(): Promise<void> {
    await files.close()
    lock?.release()
  }
  return { ...files, close }
}

/** As `openStorage`, also beside a process that serves it, and only what is there. Brokers are waited for less long. */
export async function openStorageBeside(config: Config, logger: Logger): Promise<Storage> {
  if (config.brokers !== undefined) return openBrokers(config, config.brokers, logger, patienceMs)
  if (!existsSync(logFile(config))) {
    throw new ConfigError(`There is no event log in ${config.dataDir}: set DATA_DIR, or KAFKA_BROKERS and REDIS_URL.`)
  }
  return openFiles(config, false)
}

/** Opens empty read models of their own in a file. */
export function openScratch(file: string): ReadModels {
  return openSqliteReadModels({ file, version })
}

const version = readModelVersion(pets)
const patienceMs = 8000
/** For Redis, when Kafka took most of the time. */
const leastWaitMs = 2000

function logFile({ dataDir }: Config): string {
  return join(dataDir, 'event-log.db')
}

function openFiles(config: Config, isOwner: boolean): Storage {
  const log = openSqliteEventLog({ file: logFile(config) })
  const file = join(config.dataDir, 'read-models.db')
  const store = openSqliteReadModels({ file, version, isOwner })
  const openVersion = async (each: string) => openSqliteReadModels({ file, version: each })
  return { log, stores: [store], versions: [version], openVersion, group: 'projector', close: closing(log, [store]) }
}

async function openBrokers(
  { appendTimeoutMs, readModelShards: shards }: Config,
  { kafka, redis }: NonNullable<Config['brokers']>,
  logger: Logger,
  waitMs?: number,
): Promise<Storage> {
  const start = performance.now()
  const log = await openKafkaEventLog({ ...kafka, appendTimeoutMs, logger, bootTimeoutMs: waitMs })
  try {
    const openTimeoutMs = waitMs && Math.max(leastWaitMs, waitMs - (performance.now() - start))
    const versions = shardVersions(version, shards)
    const openVersion = (each: string) => openRedisReadModels({ ...redis, version: each, logger, openTimeoutMs })
    const stores = await openAll(versions.map(openVersion))
    const group = `${kafka.topic}.projector.${version}${shards === 1 ? '' : `.s${shards}`}`
    return { log, stores, versions, openVersion, group, close: closing(log, stores) }
  } catch (error) {
    await log.close()
    throw error
  }
}

/** All of them or, where one cannot be opened, none. */
async function openAll(opening: readonly Promise<ReadModels>[]): Promise<Shards> {
  const results = await Promise.allSettled(opening)
  const stores = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed === undefined) return stores as [ReadModels, ...ReadModels[]]
  await Promise.all(stores.map((store) => store.close()))
  throw failed.reason
}

function closing(log: EventLog, stores: Shards): () => Promise<void> {
  return async () => {
    await Promise.all(stores.map((store) => store.close()))
    await log.close()
  }
}
