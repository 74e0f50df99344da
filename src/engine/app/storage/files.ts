import { accessSync, chmodSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import type { Definition } from '../../definition/definition.ts'
import { isDiskFull, makeFolder } from '../../lib/durable-files.ts'
import { user } from '../../lib/errors/file-errors.ts'
import { lockFile } from '../../lib/file-lock.ts'
import { type Finding, failed, ok } from '../../lib/operating/finding.ts'
import { type EventLog, readMax } from '../../log/event-log.ts'
import { copySqliteEventLog } from '../../log/sqlite/copy-log.ts'
import { openSqliteEventLog } from '../../log/sqlite/sqlite-event-log.ts'
import type { ReadModelStore } from '../../read-models/ports/store.ts'
import { checkReadModels } from '../../read-models/sqlite/check-read-models.ts'
import { openSqliteReadModels } from '../../read-models/sqlite/sqlite-read-models.ts'
import type { Config } from '../config.ts'
import { ConfigError } from '../variables.ts'

/** Opens the files of embedded mode: for the single process that serves them, or existing ones beside it. */
export function openFiles(definition: Definition, config: Config, logger: Logger, isOwner: boolean) {
  const { version, names } = definition
  const shared = { file: readModelsFile(config), names }
  if (isOwner) openDataFolder(config.dataDir)
  else expectEventLog(config)
  try {
    const lock = isOwner ? lockFolder(config) : undefined
    const log = openSqliteEventLog({ file: eventLogFile(config), logger, isOwner })
    const store = openSqliteReadModels({ ...shared, version, isOwner, repair: { logger } })
    const openVersion = async (each: string) => openSqliteReadModels({ ...shared, version: each })
    async function close(): Promise<void> {
      await store.close()
      await log.close()
      lock?.[Symbol.dispose]()
    }
    const openPublished = () => []
    return { log, stores: [store] as const, versions: [version], openVersion, openPublished, group: 'projector', close }
  } catch (cause) {
    if (!isDiskFull(cause)) throw cause // SQLite needs some space even to read
    const remedy = 'free some space, or set DATA_DIR to a folder on another disk'
    throw new ConfigError(`DATA_DIR=${config.dataDir} is on a disk that is full: ${remedy}.`, { cause })
  }
}

/**
 * Creates the folder for its user alone. An existing folder that others can read is closed to them if it contains only
 * our files.
 */
function openDataFolder(dataDir: string): void {
  try {
    makeFolder(dataDir)
    accessSync(dataDir, constants.W_OK | constants.X_OK)
    const { uid, mode } = statSync(dataDir)
    const isOpen = (mode & 0o077) !== 0
    if (isOpen && uid === process.getuid?.() && isOurs(readdirSync(dataDir))) chmodSync(dataDir, 0o700)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isFile = code === 'EEXIST' || code === 'ENOTDIR'
    const problem = isFile ? 'is not a folder' : `cannot be written to (${message})`
    throw new ConfigError(`DATA_DIR=${dataDir} ${problem}: set DATA_DIR to a folder that ${user()} can write to.`, {
      cause: error,
    })
  }
}

function isOurs(names: readonly string[]): boolean {
  return names.length === 0 || names.includes('event-log.db')
}

function lockFolder({ dataDir }: Config): Disposable {
  const lock = lockFile(join(dataDir, 'server.lock'), 0)
  if (lock !== undefined) return lock
  throw new ConfigError(`Another server is using ${dataDir}: stop it, or set DATA_DIR to another folder.`)
}

function expectEventLog(config: Config): void {
  // Not `existsSync`: it says no as well where this user may not look.
  if (statSync(eventLogFile(config), { throwIfNoEntry: false }) === undefined) {
    throw new ConfigError(`There is no event log in ${config.dataDir}: set DATA_DIR, or KAFKA_BROKERS and REDIS_URL.`)
  }
}

/** Reads all of the files of embedded mode, telling how far it is, and changes nothing. */
export async function checkFiles(
  { dataDir }: Pick<Config, 'dataDir'>,
  update: (step: string, done: number, end: number) => void,
): Promise<Finding[]> {
  const what = 'event log'
  const file = eventLogFile({ dataDir })
  if (!existsSync(file)) return [ok(what, `is not there yet: the first start makes it in ${resolve(dataDir)}`)]
  const readModels = checkReadModels(readModelsFile({ dataDir }))
  try {
    const log = openSqliteEventLog({ file, isOwner: false })
    const end = await readThrough(log, (next, end) => update(what, next, end)).finally(() => log.close())
    return [ok(what, `has ${end} events, all as they were written`), ...readModels]
  } catch (error) {
    return [failed(what, error), ...readModels]
  }
}

/** Resolves to how many events the log has. Throws where it is damaged. */
async function readThrough(log: EventLog, update: (done: number, end: number) => void): Promise<number> {
  const [end = 0] = await log.endOffsets()
  for (let next = 0; next < end; update(next, end)) ({ next } = await log.read(0, next, readMax))
  await log.confirm()
  return end
}

/** Opens empty read models in a file of their own. */
export function openScratch({ version, names }: Definition, file: string): ReadModelStore {
  return openSqliteReadModels({ file, version, names, isOwner: true })
}

/**
 * Copies the embedded log to a folder as it is now, also beside a process that serves it, and reads the copy, telling
 * how far it is. Returns how many events it has.
 */
export function copyEmbeddedLog(config: Config, folder: string, progress: (done: number, end: number) => void): number {
  expectEventLog(config)
  return copySqliteEventLog(eventLogFile(config), eventLogFile({ dataDir: folder }), progress)
}

export function eventLogFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'event-log.db')
}

function readModelsFile({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'read-models.db')
}
