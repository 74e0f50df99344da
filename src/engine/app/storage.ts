import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Definition } from '../definition/definition.ts'
import { isDiskFull } from '../lib/durable-files.ts'
import { lockFile } from '../lib/file-lock.ts'
import type { EventLog } from '../log/event-log.ts'
import { openKafkaEventLog } from '../log/kafka/kafka-event-log.ts'
import { tuneProcess } from '../log/kafka/process-tuning.ts'
import { copySqliteEventLog } from '../log/sqlite/copy-log.ts'
import { openSqliteEventLog } from '../log/sqlite/sqlite-event-log.ts'
import { versionOfLog } from '../projector/definition.ts'
import { openRedisReadModels } from '../read-models/redis/redis-read-models.ts'
import { type Stores, shardVersions } from '../read-models/shards.ts'
import { openSqliteReadModels } from '../read-models/sqlite/sqlite-read-models.ts'
import type { ReadModelStore } from '../read-models/store.ts'
import type { Config } from './config.ts'
import { openDataFolder } from './data-folder.ts'
import { ConfigError } from './environment.ts'

/** Log and read models, as configured. */
export interface Storage {
  readonly log: EventLog
  /** One for each shard. */
  readonly stores: Stores
  /** The read-model versions of this release and this log, one per store. */
  readonly versions: readonly string[]
  /** Opens the read models of any version, without renewing it. The caller closes them. */
  openVersion(version: string): Promise<ReadModelStore>
  /** Consumer group of the projectors. */
  readonly group: string
  close(): Promise<void>
}

/** How long the command line waits for brokers. */
const openTimeoutMs = 8000
/** Least time for Redis, if Kafka took most of it. */
const redisTimeoutMsMin = 2000

/** Settings of the whole process, to be made before anything else starts. */
export function prepareProcess({ brokers, role }: Pick<Config, 'brokers' | 'role'>): void {
  process.umask(0o077) // new files are for this user alone
  if (brokers !== undefined) tuneProcess({ consumes: role !== 'api' })
}

/** Opens Kafka and Redis, or the files of the single process that serves embedded mode. */
export async function openStorage(definition: Definition, config: Config, logger: Logger): Promise<Storage> {
  if (config.brokers !== undefined) return openBrokers(definition, config, config.brokers, logger)
  openDataFolder(config.dataDir)
  return orDiskFull(config, () => openAlone(definition, config))
}

function openAlone(definition: Definition, config: Config): Storage {
  const lock = lockFile(join(config.dataDir, 'server.lock'), 0)
  if (lock === undefined) {
    throw new ConfigError(`Another server is using ${config.dataDir}: stop it, or set DATA_DIR to another folder.`)
  }
  const files = openFiles(definition, config, true)
  async function close(): Promise<void> {
    await files.close()
    lock?.[Symbol.dispose]()
  }
  return { ...files, close }
}

/** Opens existing storage only, also beside a running process. Waits less long for brokers than `openStorage`. */
export async function openStorageBeside(definition: Definition, config: Config, logger: Logger): Promise<Storage> {
  if (config.brokers !== undefined) return openBrokers(definition, config, config.brokers, logger, openTimeoutMs)
  expectEmbeddedLog(config)
  return orDiskFull(config, () => openFiles(definition, config, false))
}

/** SQLite needs some space even to read. */
function orDiskFull<T>({ dataDir }: Config, open: () => T): T {
  try {
    return open()
  } catch (cause) {
    if (!isDiskFull(cause)) throw cause
    const remedy = 'free some space, or set DATA_DIR to a folder on another disk'
    throw new ConfigError(`DATA_DIR=${dataDir} is on a disk that is full: ${remedy}.`, { cause })
  }
}

function expectEmbeddedLog(config: Config): void {
  // Not `existsSync`: it says no as well where this user may not look.
  if (statSync(eventLogFile(config), { throwIfNoEntry: false }) === undefined) {
    throw new ConfigError(`There is no event log in ${config.dataDir}: set DATA_DIR, or KAFKA_BROKERS and REDIS_URL.`)
  }
}

/** Opens empty read models in a file of their own. */
export function openScratch({ version, home }: Definition, file: string): ReadModelStore {
  return openSqliteReadModels({ file, version, home: home.collection, isOwner: true })
}

/** Copies the embedded log to a folder as it is now, also beside a process that serves it. Returns how many events it has. */
export function copyEmbeddedLog(config: Config, folder: string): number {
  expectEmbeddedLog(config)
  return copySqliteEventLog(eventLogFile(config), eventLogFile({ dataDir: folder }))
}

function eventLogFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'event-log.db')
}

function openFiles({ version, stream }: Definition, config: Config, isOwner: boolean): Storage {
  const { collection: home } = stream
  const log = openSqliteEventLog({ file: eventLogFile(config) })
  const file = join(config.dataDir, 'read-models.db')
  const store = openSqliteReadModels({ file, version, home, isOwner })
  const openVersion = async (each: string) => openSqliteReadModels({ file, version: each, home })
  return { log, stores: [store], versions: [version], openVersion, group: 'projector', close: closing(log, [store]) }
}

async function openBrokers(
  { version, stream: { collection: home } }: Definition,
  { appendTimeoutMs, readModelShards: shards }: Config,
  { kafka, redis }: NonNullable<Config['brokers']>,
  logger: Logger,
  timeoutMs?: number,
): Promise<Storage> {
  const start = performance.now()
  const log = await openKafkaEventLog({ ...kafka, appendTimeoutMs, logger, bootTimeoutMs: timeoutMs })
  try {
    const left = timeoutMs && Math.max(redisTimeoutMsMin, timeoutMs - (performance.now() - start))
    const versions = shardVersions(versionOfLog(version, log.logId), shards)
    const openVersion = (each: string) =>
      openRedisReadModels({ ...redis, version: each, home, logger, openTimeoutMs: left })
    const stores = await openAll(versions.map(openVersion))
    const group = `${kafka.topic}.projector.${version}${shards === 1 ? '' : `.s${shards}`}`
    return { log, stores, versions, openVersion, group, close: closing(log, stores) }
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

function closing(log: EventLog, stores: Stores): () => Promise<void> {
  return async () => {
    await Promise.all(stores.map((store) => store.close()))
    await log.close()
  }
}
