import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pino } from 'pino'
import type { Definition } from '../definition/definition.ts'
import { expiryOf, readKeys, whyUnreadable } from '../keys/key-file.ts'
import { timeOfDay } from '../lib/clock.ts'
import { lockFile } from '../lib/file-lock.ts'
import { type Finding, failed, ok } from '../lib/finding.ts'
import { type Config, readConfig } from './config.ts'
import { loadBrokers, openStorage, prepareProcess } from './storage.ts'

const spaceWarnBytes = 1024 ** 3
const spaceLeastBytes = 64 * 1024 ** 2
const logger = pino({ level: 'silent' })

/** Looks at all that the service needs, and changes nothing. Nothing else is looked at if the settings cannot be read, or the folder cannot be used. */
export async function checkUp(definition: Definition, environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const node = ok('Node', process.versions.node)
  try {
    const config = readConfig(definition, environment)
    await prepareProcess(config)
    const settings = ok(
      'settings',
      config.brokers === undefined ? 'can be read; embedded' : 'can be read; Kafka and Redis',
    )
    const folder = checkFolder(config)
    if (folder.some(({ state }) => state === 'failed')) return [node, settings, ...folder]
    return [node, settings, ...folder, checkKeys(definition, config), ...(await checkStorage(definition, config))]
  } catch (error) {
    return [node, failed('settings', error)]
  }
}

function checkFolder({ dataDir, brokers }: Config): Finding[] {
  const what = `folder ${resolve(dataDir)}`
  if (brokers !== undefined && !existsSync(dataDir)) return []
  if (!existsSync(dataDir)) return [ok(what, 'is not there yet: the first start makes it')]
  try {
    if (!statSync(dataDir).isDirectory()) throw new Error('It is not a folder: set DATA_DIR to one.')
    accessSync(dataDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    return [failed(what, error)]
  }
  return [
    ...checkAccess(what, dataDir),
    checkSpace(what, dataDir),
    ...(brokers === undefined ? [checkServer(dataDir)] : []),
  ]
}

function checkAccess(what: string, dataDir: string): Finding[] {
  if ((statSync(dataDir).mode & 0o077) === 0) return []
  return [{ what, state: 'warning', detail: 'Others can look into it: chmod 700 it.' }]
}

function checkSpace(what: string, dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(dataDir)
  const bytes = bavail * bsize
  const left = `${Math.floor(bytes / 1024 ** 2)} MiB are left`
  if (bytes >= spaceWarnBytes) return ok(what, `can be written to; ${left}`)
  return { what, state: bytes < spaceLeastBytes ? 'failed' : 'warning', detail: `Only ${left}: free some space.` }
}

function checkServer(dataDir: string): Finding {
  const file = join(dataDir, 'server.lock')
  const isRunning = existsSync(file) && isLocked(file)
  return ok('server', isRunning ? 'is running on this folder' : 'is not running on this folder')
}

function isLocked(file: string): boolean {
  using lock = lockFile(file, 0)
  return lock === undefined
}

function checkKeys({ service: { name } }: Definition, { apiKeysFile, apiKeys }: Config): Finding {
  const what = 'API keys'
  try {
    const issued = readKeys(apiKeysFile)
    const problem = issued && whyUnreadable(apiKeysFile)
    if (problem !== undefined) return { what, state: 'warning', detail: problem }
    const time = timeOfDay().getTime()
    const count = (issued ?? []).filter((key) => expiryOf(key) > time).length + apiKeys.length
    const detail = `None is valid: issue one with npm run ${name} -- keys issue --name NAME.`
    return count > 0 ? ok(what, `${count}`) : { what, state: 'warning', detail }
  } catch (error) {
    return failed(what, error)
  }
}

async function checkStorage(definition: Definition, config: Config): Promise<Finding[]> {
  const { brokers, dataDir } = config
  if (brokers !== undefined) {
    const { checkBrokers } = await loadBrokers()
    return await checkBrokers(brokers, logger)
  }
  const file = join(dataDir, 'event-log.db')
  if (!existsSync(file))
    return [ok('event log', `is not there yet: the first start makes it in ${dirname(resolve(file))}`)]
  try {
    const storage = await openStorage(definition, config, logger, { beside: true })
    const [end] = await storage.log.endOffsets().finally(() => storage.close())
    return [ok('event log', `has ${end} events`)]
  } catch (error) {
    return [failed('event log', error)]
  }
}
