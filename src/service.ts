import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { readModelVersion } from '../projections/definition.ts'
import { pets } from '../projections/pets.ts'
import { Projector } from '../projections/projector.ts'
import { issueKey, readKeys } from './api-keys/key-file.ts'
import { KeyRing } from './api-keys/key-ring.ts'
import { type Config, ConfigError } from './config.ts'
import type { EventLog } from './event-log/event-log.ts'
import { defaultLimits, GroupCommit } from './event-log/group-commit.ts'
import { openKafkaEventLog } from './event-log/kafka/kafka-event-log.ts'
import { openSqliteEventLog } from './event-log/sqlite/sqlite-event-log.ts'
import { lockFile } from './file-lock.ts'
import { type ApiServices, buildApp } from './http/app.ts'
import { drain } from './http/drain.ts'
import { createPetCommand } from './pets/create-pet.ts'
import { createPetOnceCommand } from './pets/create-pet-once.ts'
import { PetIds } from './pets/pet-ids.ts'
import { PetReads } from './pets/read-pets.ts'
import { AppliedProgress } from './read-models/applied-progress.ts'
import { ConsistentReads } from './read-models/consistent-reads.ts'
import { ProvenReads } from './read-models/proven-reads.ts'
import type { ReadModels } from './read-models/read-models.ts'
import { openRedisReadModels } from './read-models/redis/redis-read-models.ts'
import { openSqliteReadModels } from './read-models/sqlite/sqlite-read-models.ts'
import { ServiceHealth } from './service-health.ts'

export interface Service {
  readonly url: string
  /** The key issued by this start, if it issued one. */
  readonly issuedKey: string | undefined
  /** Finishes what is in flight, in the order in which the parts need each other. */
  close(): Promise<void>
}

/** How long a closing process still takes connections, so that whoever probes it can send new ones elsewhere. */
const unreadyMs = 500
/** How long it then keeps a connection on which nothing comes. */
const idleMs = 500

interface Storage {
  readonly log: EventLog
  readonly store: ReadModels
  /** Consumer group of the projectors. */
  readonly group: string
  release(): void
}

/** Puts the parts together as the configuration says, and starts them. */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const { log, store, group, release } = await openStorage(config, logger)
  const projector =
    config.role === 'api' ? undefined : await Projector.start({ log, store, definition: pets, group, logger })
  const issuedKey = issueFirstKey(config)
  const api = config.role === 'projector' ? undefined : startApi(config, log, store, logger)
  const health = new ServiceHealth({ log, store, projector, reads: api?.reads })
  let draining = false
  const app = await buildApp({ api: api?.services, health, draining: () => draining }, { logger })
  const url = await app.listen({ host: config.host, port: config.port })

  async function close(): Promise<void> {
    draining = true
    await delay(unreadyMs)
    await drain(app.server, idleMs)
    await app.close()
    await api?.close()
    await projector?.close()
    await store.close()
    await log.close()
    release()
  }
  return { url, issuedKey, close }
}

function openStorage(config: Config, logger: Logger): Promise<Storage> {
  return config.brokers === undefined ? openEmbedded(config) : openBrokers(config, config.brokers, logger)
}

async function openEmbedded({ dataDir }: Config): Promise<Storage> {
  mkdirSync(dataDir, { recursive: true })
  const lock = lockFile(join(dataDir, 'server.lock'), 0)
  if (lock === undefined) {
    throw new ConfigError(`Another server is running on ${dataDir}: stop it, or set DATA_DIR to another folder.`)
  }
  const log = openSqliteEventLog({ file: join(dataDir, 'event-log.db') })
  const store = openSqliteReadModels({ file: join(dataDir, 'read-models.db'), version: readModelVersion(pets) })
  return { log, store, group: 'projector', release: () => lock.release() }
}

async function openBrokers(
  { appendTimeoutMs }: Config,
  { kafka, redis }: NonNullable<Config['brokers']>,
  logger: Logger,
): Promise<Storage> {
  const version = readModelVersion(pets)
  const log = await openKafkaEventLog({ ...kafka, appendTimeoutMs, logger })
  const store = await openRedisReadModels({ ...redis, version, logger })
  return { log, store, group: `${kafka.topic}.projector.${version}`, release() {} }
}

interface Api {
  readonly services: ApiServices
  readonly reads: ProvenReads
  close(): Promise<void>
}

function startApi(config: Config, log: EventLog, store: ReadModels, logger: Logger): Api {
  const keys = new KeyRing(config.apiKeysFile, config.apiKeys, logger)
  if (keys.size === 0) {
    logger.warn(`no API key is valid yet: issue one with 'petstore keys issue --name NAME' for ${config.apiKeysFile}`)
  }
  const commit = new GroupCommit(log, { ...defaultLimits, timeoutMs: config.appendTimeoutMs })
  const reads = new ProvenReads(store, log)
  const progress = new AppliedProgress(store)
  const whenApplied = progress.whenApplied.bind(progress)
  const petReads = new PetReads(new ConsistentReads(reads, progress))
  const createPet = createPetCommand({ log, appender: commit, ids: new PetIds(log), now: () => new Date() })
  const decisions = { decision: reads.decision.bind(reads), whenApplied }
  const timeoutMs = config.appendTimeoutMs
  const createPetOnce = createPetOnceCommand({ log, createPet, decisions, pets: petReads, timeoutMs })
  const services = { createPet, createPetOnce, pets: petReads, whenApplied, log, keyId: keys.idOf.bind(keys) }
  async function close(): Promise<void> {
    await commit.close()
    progress.close()
    await reads.close()
    keys.close()
  }
  return { services, reads, close }
}

/** The embedded default works at once: its first start issues a key, unless keys are given. */
function issueFirstKey({ brokers, apiKeys, apiKeysFile }: Config): string | undefined {
  if (brokers !== undefined || apiKeys.length > 0 || readKeys(apiKeysFile) !== undefined) return undefined
  return issueKey(apiKeysFile, 'first start', new Date()).key
}
