import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Admin, Kafka, type KafkaConfig, logLevel } from 'kafkajs'
import { tuneProcess } from '../../src/engine/log/kafka/process-tuning.ts'

// Whoever starts brokers asks them by kafkajs, which would print a warning about its timers.
tuneProcess({ consumes: false })

/** How long a broker may take to start. A machine with two cores that does much else takes more than a minute at times. */
export const startMs = 180_000

export type KafkaAccess = Pick<KafkaConfig, 'sasl' | 'ssl'>

/** Asks again until the answer is yes; throws after `timeoutMs`, naming what did not happen. */
export async function until(what: string, timeoutMs: number, holds: () => Promise<boolean>): Promise<void> {
  if (!(await within(timeoutMs, holds))) throw new Error(`${what}: not within ${timeoutMs} ms`)
}

/** Asks again until the answer is yes; resolves to false after `timeoutMs`. */
export async function within(timeoutMs: number, holds: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (!(await holds())) {
    if (performance.now() > deadline) return false
    await delay(50)
  }
  return true
}

/** A broker that has started but not joined its cluster yet answers with an empty list of brokers. */
export async function kafkaAnswers(brokers: string, access: KafkaAccess = {}): Promise<boolean> {
  return (await kafkaBrokersAnswering(brokers, access)) > 0
}

/** How many brokers the cluster has now, as one of these tells; 0 when none answers. */
export async function kafkaBrokersAnswering(brokers: string, access: KafkaAccess = {}): Promise<number> {
  const kafka = kafkaClient(brokers, { ...access, requestTimeout: 2000, retry: { retries: 0 } })
  return await askKafka(kafka, async (admin) => (await admin.describeCluster()).brokers.length).catch(() => 0)
}

/** A plain client, as any program that reads the events would make one. */
export function kafkaClient(brokers: string, config: Partial<KafkaConfig>): Kafka {
  return new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING, connectionTimeout: 1000, ...config })
}

/** Uses connections of its own, made as this client makes them. */
export async function askKafka<T>(kafka: Kafka, question: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    return await question(admin)
  } finally {
    await admin.disconnect()
  }
}

/** A server that is still loading its data refuses even PING. */
export async function redisAnswers(url: string): Promise<boolean> {
  return await askRedis(url, async (redis) => (await redis.ping()) === 'PONG').catch(() => false)
}

/** Uses a connection of its own, and does not retry. */
export async function askRedis<T>(url: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 1000 })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return await question(redis)
  } finally {
    redis.disconnect()
  }
}

/** A shell command that prints what Linux says of the threads of a process, a line each. */
export function threadsOf(pid: number | undefined): string {
  return `cat /proc/${pid}/task/*/stat || true` // one may end meanwhile
}

/**
 * A stop signal stops one thread after the other, after it was sent: until the last one, the process may still answer.
 * @param threads what `threadsOf` printed
 */
export async function untilStopped(threads: () => Promise<string>): Promise<void> {
  await until('every thread of the broker has stopped', 10_000, async () => {
    const lines = (await threads()).trimEnd().split('\n')
    return lines.every((line) => /^\d+ \(.*\) T /.test(line))
  })
}

/** Blocks of ports below the ephemeral range. */
const blocks = { first: 20_000, size: 100, count: 120 }
/** Those that this process may still give out. */
let left: number[] = []
let given: Promise<unknown> = Promise.resolve()

/**
 * A port that no other process of these tests is given, and below the ephemeral range. From that range a client which
 * retries while the server is down could be given the port itself, or even connect to itself.
 */
export function freePort(): Promise<number> {
  const port = given.then(nextPort)
  given = port.catch(() => {})
  return port
}

async function nextPort(): Promise<number> {
  for (;;) {
    if (left.length === 0) left = await claimBlock()
    const port = left.shift()
    if (port !== undefined && (await isFree(port))) return port
  }
}

/** A block belongs to the process that listens on its first port, for as long as that lives. Resolves to the others. */
async function claimBlock(): Promise<number[]> {
  const start = Math.floor(Math.random() * blocks.count)
  for (let n = 0; n < blocks.count; n++) {
    const first = blocks.first + blocks.size * ((start + n) % blocks.count)
    const claim = createServer().unref()
    const isOwn = await new Promise<boolean>((resolve) => {
      claim.once('error', () => resolve(false))
      claim.listen(first, '0.0.0.0', () => resolve(true))
    })
    if (isOwn) return Array.from({ length: blocks.size - 1 }, (_, other) => first + 1 + other)
  }
  throw new Error('every block of ports is taken')
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '0.0.0.0', () => probe.close(() => resolve(true)))
  })
}
