import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { pino } from 'pino'
import { expiryOf, readKeys, whyUnreadable } from '../api-keys/key-file.ts'
import { type Config, readConfig } from '../app/config.ts'
import { eventLogFile } from '../app/storage/files.ts'
import { checkStorage, prepareProcess } from '../app/storage/storage.ts'
import type { Definition } from '../definition/definition.ts'
import { clockProblem, timeOfDay } from '../lib/clock.ts'
import { lockFile } from '../lib/file-lock.ts'
import { type Finding, failed, ok, warning } from '../lib/operating/finding.ts'
import { ownCommand } from '../lib/operating/own-command.ts'
import { addAction, type CommandResult, exitCodes, type Options, table } from './output.ts'
import { type Progress, showProgress } from './progress.ts'

const spaceWarnBytes = 1024 ** 3
const spaceLeastBytes = 64 * 1024 ** 2
const logger = pino({ level: 'silent' })

export function addCommands(program: Command, definition: Definition): void {
  const description = 'Check settings, folder, brokers, topics, keys and clock, and say what to do. It changes nothing'
  addAction(program.command('doctor'), description, (options: Options) => examine(definition, options))
}

async function examine(definition: Definition, { json = false }: Options): Promise<CommandResult> {
  const progress = showProgress(json)
  const findings = await checkUp(definition, process.env, progress.update).finally(() => progress.end())
  if (findings.some(({ state }) => state === 'failed')) process.exitCode = exitCodes.notAsItShouldBe
  const rows = findings.map(({ what, state, detail }) => [state, what, detail])
  return { json: findings, text: table(['STATE', 'WHAT', 'DETAIL'], rows) }
}

/** Looks at all that the service needs, and changes nothing. Nothing else is looked at if the settings cannot be read, or the folder cannot be used. */
export async function checkUp(
  definition: Definition,
  environment: NodeJS.ProcessEnv,
  update: Progress['update'] = () => {},
): Promise<Finding[]> {
  const node = ok('Node', process.versions.node)
  try {
    const config = readConfig(definition, environment)
    await prepareProcess(config)
    const settings = ok(
      'settings',
      config.brokers === undefined ? 'can be read; embedded' : 'can be read; Kafka and Redis',
    )
    const folder = checkFolder(config)
    if (folder.some(({ state }) => state === 'failed')) return [node, settings, checkClock(), ...folder]
    const [keys, storage] = [checkKeys(config), await checkStorage(definition, config, logger, update)]
    return [node, settings, checkClock(), ...folder, keys, ...storage]
  } catch (error) {
    return [node, failed('settings', error)]
  }
}

function checkClock(): Finding {
  const now = timeOfDay()
  const problem = clockProblem(now)
  return problem === undefined ? ok('clock', `says ${now.toISOString()}`) : failed('clock', problem)
}

function checkFolder({ dataDir, brokers }: Config): Finding[] {
  const what = `folder ${resolve(dataDir)}`
  if (!existsSync(dataDir)) return brokers === undefined ? [ok(what, 'is not there yet: the first start makes it')] : []
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
  return [warning(what, 'Others can look into it: chmod 700 it.')]
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

function checkKeys({ apiKeysFile, apiKeys, dataDir }: Config): Finding {
  const what = 'API keys'
  try {
    const issued = readKeys(apiKeysFile)
    const problem = issued && whyUnreadable(apiKeysFile)
    if (problem !== undefined) return warning(what, problem)
    const time = timeOfDay().getTime()
    const count = (issued ?? []).filter((key) => expiryOf(key) > time).length + apiKeys.length
    if (count > 0) return ok(what, `${count}`)
    if (issued === undefined && existsSync(eventLogFile({ dataDir }))) {
      const detail = `There is no ${apiKeysFile}: restore it from a backup. The next start issues a new key otherwise.`
      return warning(what, detail)
    }
    return warning(what, `None is valid: issue one with ${ownCommand()} keys issue --name NAME.`)
  } catch (error) {
    return failed(what, error)
  }
}
