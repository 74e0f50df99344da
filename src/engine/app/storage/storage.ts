import type { Logger } from 'pino'
import type { Definition } from '../../definition/definition.ts'
import type { Finding } from '../../lib/operating/finding.ts'
import type { EventLog } from '../../log/event-log.ts'
import type { PublishedLog } from '../../log/published-log.ts'
import type { ReadModelStore } from '../../read-models/ports/store.ts'
import type { Stores } from '../../read-models/shards.ts'
import type { Config } from '../config.ts'
import { checkFiles, openFiles } from './files.ts'

/** Log and read models, as configured. */
export interface Storage {
  readonly log: EventLog
  /** One for each shard. */
  readonly stores: Stores
  /** The read-model versions of this release and this log, one per store. */
  readonly versions: readonly string[]
  /** Opens the read models of any version, without renewing it. The caller closes them. */
  openVersion(version: string): Promise<ReadModelStore>
  /** The topics of the publishers, if anything is to be published. */
  openPublished(): readonly PublishedLog[]
  /** Consumer group of the projectors. */
  readonly group: string
  close(): Promise<void>
}

/** How long the command line waits for brokers. */
const openTimeoutMs = 8000

/** The adapters of Kafka and Redis. Their packages take as long to load as everything else: embedded mode does without. */
const loadBrokers = () => import('./brokers.ts')

/** Settings of the whole process, to be made before anything else starts. */
export async function prepareProcess({ brokers, role }: Pick<Config, 'brokers' | 'role'>): Promise<void> {
  process.umask(0o077) // new files are for this user alone
  if (brokers === undefined) return
  const { tuneProcess } = await loadBrokers()
  tuneProcess({ consumes: role !== 'api' })
}

/**
 * Opens Kafka and Redis, or the files of embedded mode. `beside` a running process only existing files are opened, and
 * brokers are waited for less long.
 */
export async function openStorage(
  definition: Definition,
  config: Config,
  logger: Logger,
  { beside = false } = {},
): Promise<Storage> {
  if (config.brokers === undefined) return openFiles(definition, config, logger, !beside)
  const { openBrokers } = await loadBrokers()
  return await openBrokers(definition, config, config.brokers, logger, beside ? openTimeoutMs : undefined)
}

/** Looks at brokers, or reads all of the files of embedded mode, telling how far it is, and changes nothing. */
export async function checkStorage(
  definition: Definition,
  { brokers, dataDir }: Pick<Config, 'brokers' | 'dataDir'>,
  logger: Logger,
  update: (step: string, done: number, end: number) => void,
): Promise<Finding[]> {
  if (brokers === undefined) return await checkFiles({ dataDir }, update)
  const { checkBrokers } = await loadBrokers()
  return await checkBrokers(definition, brokers, logger)
}
