import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { type Environment, embedded, startProcess, withBrokers } from '../systems/service.ts'
import { recordBytes } from './records.ts'

/** A running form of the service, and what can be seen of it from outside. */
export interface SoakForm {
  readonly title: string
  readonly url: string
  readonly processes: readonly { readonly name: string; readonly pid: number }[]
  /** Bytes of what grows with every event, by name. */
  sizes(): Promise<Readonly<Record<string, number>>>
  /** Bytes of an event in storage whose size cannot be seen, by name. */
  eventBytes(): Promise<Readonly<Record<string, number>>>
}

export const forms = { embedded: startEmbedded, brokers: startOnBrokers } as const

async function startEmbedded(stack: AsyncDisposableStack): Promise<SoakForm> {
  const environment = await embedded.prepare(stack)
  const { url, pid } = await startProcess(stack, environment)
  const { DATA_DIR = '' } = environment
  return {
    title: embedded.title,
    url,
    processes: [{ name: 'service', pid }],
    sizes: async () => ({ log: bytesOf(DATA_DIR, 'event-log'), 'read models': bytesOf(DATA_DIR, 'read-models') }),
    eventBytes: async () => ({}),
  }
}

async function startOnBrokers(stack: AsyncDisposableStack): Promise<SoakForm> {
  const environment: Environment = await withBrokers(stack)
  const projector = await startProcess(stack, { ...environment, ROLE: 'projector' })
  const api = await startProcess(stack, { ...environment, ROLE: 'api' })
  const { REDIS_URL = '', KAFKA_BROKERS = '', KAFKA_TOPIC = '' } = environment
  const redis = new Redis(REDIS_URL)
  stack.defer(() => redis.disconnect())
  return {
    title: 'Kafka + Redis',
    url: api.url,
    processes: [
      { name: 'api', pid: api.pid },
      { name: 'projector', pid: projector.pid },
    ],
    sizes: async () => ({ Redis: await usedMemory(redis) }),
    eventBytes: async () => ({ 'Kafka, records': await recordBytes(KAFKA_BROKERS.split(','), KAFKA_TOPIC) }),
  }
}

/** Bytes of the files in a folder whose names begin with `prefix`. */
function bytesOf(folder: string, prefix: string): number {
  const files = readdirSync(folder).filter((name) => name.startsWith(prefix))
  return files.reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0)
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1])
}
