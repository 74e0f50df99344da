import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Controllable, KafkaBroker, KafkaOptions, RedisOptions, RedisServer } from './brokers.ts'
import { freePort, kafkaAnswers, redisAnswers, startMs, threadsOf, until, untilStopped } from './ready.ts'
import { jarsFolder, kafkaEnvironment, kafkaImageFolder, redisTestArgs } from './settings.ts'

/** Where a broker listens and keeps its data, where that is not left to chance. */
export interface Place {
  port?: number
  folder?: string
}

export async function startKafka({ config, access }: KafkaOptions, place: Place = {}): Promise<KafkaBroker> {
  const client = place.port ?? (await freePort())
  const folder = place.folder ?? temporaryFolder('kafka')
  await promisify(execFile)(join(kafkaImageFolder, 'jars.sh'), [jarsFolder])
  const env = kafkaEnvironment({ client, controller: await freePort() }, config)
  const brokers = `127.0.0.1:${client}`
  const controls = await run({
    command: join(kafkaImageFolder, 'entrypoint.sh'),
    args: [jarsFolder],
    env: { ...env, KAFKA_LOG_DIRS: join(folder, 'data') },
    folder,
    answers: () => kafkaAnswers(brokers, access),
  })
  return { brokers, ...controls }
}

export async function startRedis({ args = [] }: RedisOptions, place: Place = {}): Promise<RedisServer> {
  const port = place.port ?? (await freePort())
  const folder = place.folder ?? temporaryFolder('redis')
  const url = `redis://127.0.0.1:${port}`
  const controls = await run({
    command: 'redis-server',
    args: ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, ...redisTestArgs, ...args],
    env: {},
    folder,
    answers: () => redisAnswers(url),
  })
  return { url, ...controls }
}

function temporaryFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `petstore-${name}-`))
}

interface Definition {
  command: string
  args: readonly string[]
  env: Record<string, string>
  folder: string
  answers: () => Promise<boolean>
}

async function run(definition: Definition): Promise<Controllable> {
  let child = await started(definition)
  const gone = async (signal: NodeJS.Signals) => {
    child.ref() // or this process may end before the folder is removed
    send(child, 'SIGCONT')
    send(child, signal)
    if (!ended(child)) await once(child, 'exit')
  }
  return {
    kill: () => gone('SIGKILL'),
    stop: () => gone('SIGTERM'),
    start: async () => {
      child = await started(definition)
    },
    pause: async () => {
      send(child, 'SIGSTOP')
      if (process.platform !== 'linux') return // nothing tells of threads
      await untilStopped(async () => (await promisify(execFile)('sh', ['-c', threadsOf(child.pid)])).stdout)
    },
    resume: async () => send(child, 'SIGCONT'),
    remove: async () => {
      await gone('SIGKILL')
      rmSync(definition.folder, { recursive: true, force: true })
    },
  }
}

async function started({ command, args, env, folder, answers }: Definition): Promise<ChildProcess> {
  mkdirSync(folder, { recursive: true })
  const logFile = join(folder, 'log')
  const log = openSync(logFile, 'w')
  // A clean environment: KAFKA_* variables meant for the service would become properties of the broker.
  // A group of its own: Ctrl-C in the terminal reaches the test alone, which then ends its brokers in order.
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, JAVA_HOME: process.env.JAVA_HOME, ...env },
    cwd: folder,
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  let failure: Error | undefined
  child.once('error', (error) => {
    failure = error
  })
  child.unref()
  endWithThisProcess(child)
  await until(`${command} answers`, startMs, async () => {
    if (failure) throw failure
    if (ended(child)) throw new Error(`${command} ended: ${readFileSync(logFile, 'utf8').slice(-4000)}`)
    return await answers()
  })
  return child
}

/**
 * Ends the child however this process ends, kill -9 included: the guard's standard input closes with this process. The
 * child is a group of its own, unless something else ends it.
 */
export function endWithThisProcess(child: ChildProcess, end = `kill -9 -${child.pid}`): void {
  if (child.pid === undefined) return
  const guard = spawn('sh', ['-c', `read _; ${end}`], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.unref()
  child.once('exit', () => guard.kill('SIGKILL'))
}

function send(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined && !ended(child)) process.kill(-child.pid, signal)
}

function ended(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
