import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { KafkaAccess } from './ready.ts'
import { jarsFetched } from './settings.ts'

/** A broker under a test's control. Data and address survive kill, stop and start. */
export interface Controllable {
  /** SIGKILL; resolves once the process is gone. */
  kill(): Promise<void>
  /** Graceful stop; resolves once the process is gone. */
  stop(): Promise<void>
  /** Starts it again on the same address with the same data; resolves once it answers. */
  start(): Promise<void>
  /** SIGSTOP: connections stay open and nothing answers; resolves once every thread has stopped. */
  pause(): Promise<void>
  /** SIGCONT */
  resume(): Promise<void>
  /** Ends it for good and removes its data. */
  remove(): Promise<void>
}

export interface KafkaBroker extends Controllable {
  /** host:port */
  readonly brokers: string
}

export interface RedisServer extends Controllable {
  readonly url: string
}

export interface KafkaOptions {
  /** Broker properties by their Kafka names, `log.retention.ms` say. */
  config?: Record<string, string>
  /** How the broker is spoken to, where it asks for more than words. */
  access?: KafkaAccess
}

export interface RedisOptions {
  /** Arguments of redis-server, behind the defaults, so that they win. */
  args?: readonly string[]
}

/** Where a test's own brokers come from, for faults that a shared one must not suffer. */
export type OwnBrokerSource = 'containers' | 'processes' | 'none'
export type BrokerSource = 'given' | OwnBrokerSource

export const howToGetBrokers =
  'set KAFKA_BROKERS and REDIS_URL, or start Docker, or install redis-server, Java 17 and Maven'

/** Where brokers come from on this machine: given, else as for a test's own. */
export async function brokerSource(): Promise<BrokerSource> {
  const { KAFKA_BROKERS, REDIS_URL } = process.env
  if (KAFKA_BROKERS && REDIS_URL) return 'given'
  if (KAFKA_BROKERS || REDIS_URL) throw new Error('KAFKA_BROKERS and REDIS_URL go together: set both or neither')
  return await ownBrokerSource()
}

let own: Promise<OwnBrokerSource> | undefined

/** TEST_BROKERS where it is set, else containers where Docker answers and has the images, else local processes. */
export function ownBrokerSource(): Promise<OwnBrokerSource> {
  own ??= findOwnBrokerSource()
  return own
}

async function findOwnBrokerSource(): Promise<OwnBrokerSource> {
  const forced = process.env.TEST_BROKERS
  if (forced === 'containers' || forced === 'processes' || forced === 'none') return forced
  if (forced) throw new Error(`TEST_BROKERS=${forced}: must be containers, processes or none`)
  const { containersUsable } = await import('./containers.ts')
  if (await containersUsable()) return 'containers'
  return canRunProcesses() ? 'processes' : 'none'
}

/** Whether brokers can be local processes, wherever those of `ownBrokerSource` come from. */
export async function localBrokersUsable(): Promise<boolean> {
  return (await ownBrokerSource()) !== 'none' && canRunProcesses()
}

function canRunProcesses(): boolean {
  return ['redis-server', 'java', ...(jarsFetched() ? [] : ['mvn'])].every(onPath)
}

/** A broker of the test's own. Throws where there is no source for one. */
export async function startKafka(options: KafkaOptions = {}): Promise<KafkaBroker> {
  return await (await implementation()).startKafka(options)
}

/** A Redis of the test's own: every write is on disk before it is acknowledged, unless `args` say otherwise. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  return await (await implementation()).startRedis(options)
}

async function implementation() {
  const source = await ownBrokerSource()
  if (source === 'containers') return await import('./containers.ts')
  if (source === 'processes') return await import('./processes.ts')
  throw new Error(`No brokers: ${howToGetBrokers}`)
}

function onPath(command: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
