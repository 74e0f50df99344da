import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { issueKey, readKeys } from '../api-keys/key-file.ts'
import { KeyRing } from '../api-keys/key-ring.ts'
import { createPetCommand } from '../command-handling/create-pet.ts'
import { createPetOnceCommand } from '../command-handling/create-pet-once.ts'
import { PetIds } from '../command-handling/pet-ids.ts'
import { PetReads } from '../domain/read-pets.ts'
import type { EventLog } from '../event-log/event-log.ts'
import { defaultLimits, GroupCommit } from '../event-log/group-commit.ts'
import { type ApiServices, buildApp } from '../http/app.ts'
import { drain } from '../http/drain.ts'
import { keepHouse } from '../read-models/housekeeping.ts'
import type { Shards } from '../read-models/shards.ts'
import type { Config } from './config.ts'
import { ServiceHealth } from './health.ts'
import { watchLag } from './lag.ts'
import { ServiceMetrics } from './metrics.ts'
import { startProjectors } from './projectors.ts'
import { openReadSide, type ReadSide } from './read-side.ts'
import { openStorage } from './storage.ts'

export interface Service {
  readonly url: string
  /** The key issued by this start, if it issued one. */
  readonly issuedKey: string | undefined
  /** Resolves once the event log is another one: this service can only be closed then. */
  readonly logReplaced: Promise<void>
  /** Finishes what is in flight, in the order in which the parts need each other. */
  close(): Promise<void>
}

/** How long a closing process still takes connections, so that whoever probes it can send new ones elsewhere. */
const unreadyMs = 500
/** How long it then keeps a connection on which nothing comes. */
const idleMs = 500

/** Puts the parts together as the configuration says, and starts them. */
export async function startService(config: Config, logger: Logger): Promise<Service> {
  const storage = await openStorage(config, logger)
  const { log, stores } = storage
  const projector = config.role === 'api' ? undefined : await startProjectors(storage, logger)
  const graceMs = config.readModelGraceSeconds * 1000
  const stopKeepingHouse = keepHouse(stores, { graceMs, prunes: projector !== undefined, logger })
  const issuedKey = issueFirstKey(config)
  const api = config.role === 'projector' ? undefined : startApi(config, log, stores, logger)
  const { lag, stalls } = watchLag(storage, config.projectorStallSeconds * 1000, projector)
  const health = new ServiceHealth({ log, stores, projector, reads: api?.readSide, lag, stalls })
  const metrics = new ServiceMetrics(lag)
  let draining = false
  const app = await buildApp({ api: api?.services, health, metrics, draining: () => draining }, { logger })
  const url = await app.listen({ host: config.host, port: config.port })

  async function close(): Promise<void> {
    draining = true
    await delay(unreadyMs)
    await drain(app.server, idleMs)
    await app.close()
    await lag.close()
    await api?.close()
    await projector?.close()
    await stopKeepingHouse()
    await storage.close()
  }
  return { url, issuedKey, logReplaced: log.replaced, close }
}

interface Api {
  readonly services: ApiServices
  readonly readSide: ReadSide
  close(): Promise<void>
}

function startApi(config: Config, log: EventLog, stores: Shards, logger: Logger): Api {
  const keys = new KeyRing(config.apiKeysFile, config.apiKeys, logger)
  if (keys.size === 0) {
    logger.warn(`no API key is valid yet: issue one with 'petstore keys issue --name NAME' for ${config.apiKeysFile}`)
  }
  const commit = new GroupCommit(log, { ...defaultLimits, timeoutMs: config.appendTimeoutMs })
  const readSide = openReadSide(stores, log)
  const { whenApplied, isParked } = readSide
  const petReads = new PetReads(readSide.reads)
  const createPet = createPetCommand({ log, appender: commit, ids: new PetIds(log), now: () => new Date() })
  const timeoutMs = config.appendTimeoutMs
  const createPetOnce = createPetOnceCommand({ log, createPet, decisions: readSide, pets: petReads, timeoutMs })
  const services = { createPet, createPetOnce, pets: petReads, whenApplied, isParked, log, keyId: keys.idOf.bind(keys) }
  async function close(): Promise<void> {
    await commit.close()
    await readSide.close()
    keys.close()
  }
  return { services, readSide, close }
}

/** The embedded default works at once: its first start issues a key, unless keys are given. */
function issueFirstKey({ brokers, apiKeys, apiKeysFile }: Config): string | undefined {
  if (brokers !== undefined || apiKeys.length > 0 || readKeys(apiKeysFile) !== undefined) return undefined
  return issueKey(apiKeysFile, 'first start', new Date()).key
}
