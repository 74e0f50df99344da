import { execFile } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Controllable, KafkaBroker, KafkaOptions, RedisOptions, RedisServer } from './brokers.ts'
import { type Program, runProgram } from './program.ts'
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
  let program = await started(definition)
  const gone = async (signal: 'SIGTERM' | 'SIGKILL') => {
    program.signal('SIGCONT')
    await program.end(signal)
  }
  return {
    kill: () => gone('SIGKILL'),
    stop: () => gone('SIGTERM'),
    start: async () => {
      program = await started(definition)
    },
    pause: async () => {
      program.signal('SIGSTOP')
      if (process.platform !== 'linux') return // nothing tells of threads
      await untilStopped(async () => (await promisify(execFile)('sh', ['-c', threadsOf(program.pid)])).stdout)
    },
    resume: async () => void program.signal('SIGCONT'),
    remove: async () => {
      await gone('SIGKILL')
      rmSync(definition.folder, { recursive: true, force: true })
    },
  }
}

/** A clean environment: KAFKA_* variables meant for the service would become properties of the broker. */
async function started({ command, args, env, folder, answers }: Definition): Promise<Program> {
  mkdirSync(folder, { recursive: true })
  const logFile = join(folder, 'log')
  const log = openSync(logFile, 'w')
  const { HOME = '', JAVA_HOME } = process.env
  const environment = { HOME, ...(JAVA_HOME && { JAVA_HOME }), ...env }
  const options = { detached: true, isAwaited: false, folder, output: log, errors: log }
  const program = runProgram([command, ...args], environment, options)
  closeSync(log)
  await until(`${command} answers`, startMs, async () => {
    if (program.running()) return await answers()
    await program.ended
    throw new Error(`${command} ended: ${readFileSync(logFile, 'utf8').slice(-4000)}`)
  })
  return program
}
