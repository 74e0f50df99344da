import { setTimeout as delay } from 'node:timers/promises'
import slotOf from 'cluster-key-slot'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { OutOfReachError } from '../../lib/errors/errors.ts'
import { tlsProblem } from '../../lib/errors/tls-errors.ts'
import type { Warning } from '../../lib/operating/warning.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import { evictionWarning, watchEviction } from './eviction.ts'
import { address, ifTold } from './redis-calls.ts'
import { connect, type Extra, type RedisAccess } from './redis-client.ts'
import { isRefusal, whyNotServed } from './redis-errors.ts'

export type ConnectionLogger = Pick<Logger, 'info' | 'warn' | 'error'>

/** The connections of one store: to one server, or to the cluster's master of the store's slot. */
export interface RedisConnections {
  readonly commands: Redis
  readonly subscriber: Redis
  /** Problems of the server, as of the last check. */
  warnings(): readonly Warning[]
  /** A connection to the server of a key that may be in another slot. */
  to(key: string): Redis
  close(): Promise<void>
}

const askAgainMs = 50

/** Connects to the server of the key. Waits for servers and throws as `openRedisReadModels` does. */
export async function openConnections(
  access: RedisAccess,
  key: string,
  logger: ConnectionLogger,
  openTimeoutMs: number,
): Promise<RedisConnections> {
  const opened: Redis[] = []
  async function open(extra: Extra): Promise<Redis> {
    const redis = connect(access, extra)
    opened.push(redis)
    await untilReady(redis, openTimeoutMs)
    return redis
  }
  try {
    const first = await open({})
    const slots = await untilAnswered(first, openTimeoutMs, () => ifTold(first.cluster('SLOTS')))
    const slot = slots === undefined ? undefined : slotOf(key)
    const commands = slot === undefined ? first : await open({ slot })
    const subscriber = await open({ slot, autoResubscribe: false, socketTimeout: 1000 })
    const eviction = await untilAnswered(commands, openTimeoutMs, () => evictionWarning(commands))
    const warnings = watchEviction(commands, logger, eviction)
    logStateChanges(commands, logger)
    // The next server may have less than this one had, and after the loss of a master messages may have been missed. So
    // everything seen is in doubt once the subscriber has reconnected.
    commands.on('close', () => {
      if (subscriber.status === 'ready') subscriber.disconnect(true)
    })
    if (commands !== first) first.disconnect()
    const others = new Map<number, Redis>()
    let closed = false
    function to(key: string): Redis {
      const other = slotOf(key)
      if (slot === undefined || slot === other || closed) return commands
      // For retention, which is not urgent: the first command waits until it is connected.
      const redis = others.get(other) ?? connect(access, { slot: other, enableOfflineQueue: true })
      others.set(other, redis)
      return redis
    }
    async function close(): Promise<void> {
      closed = true
      await Promise.all([commands, ...others.values()].map(end))
    }
    return { commands, subscriber, warnings, to, close }
  } catch (error) {
    for (const redis of opened) redis.disconnect()
    throw error
  }
}

async function end(redis: Redis): Promise<void> {
  await redis.quit().catch(() => {}) // waits for outstanding answers, if the server still answers
  redis.disconnect()
}

/** Resolves once the server answers. Throws if it refuses this client; OutOfReachError if it does not serve it in time. */
export async function untilReady(redis: Redis, limitMs: number): Promise<void> {
  let lastError: Error | undefined
  const ready = new Promise<void>((resolve, reject) => {
    redis.once('ready', resolve)
    redis.on('error', (cause) => {
      lastError = cause
      const problem = tlsProblem(cause)
      const message =
        problem === undefined
          ? `Redis at ${address(redis)} refuses the connection (${cause.message}): check user, password and database in its URL`
          : `No TLS connection to Redis at ${address(redis)} (${problem}): check REDIS_URL (rediss:// uses TLS) and the REDIS_TLS variables`
      if (problem !== undefined || isRefusal(cause)) reject(new Error(message, { cause }))
    })
  })
  const late = new Error()
  await withTimeout(limitMs, ready, () => late).catch(async (error) => {
    throw error === late ? await outOfReach(redis, limitMs, lastError) : error
  })
}

/** A server may stop answering as soon as it is connected. `ask` throws if, and only if, there was no answer. */
async function untilAnswered<T>(redis: Redis, limitMs: number, ask: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + limitMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (performance.now() >= deadline) throw await outOfReach(redis, limitMs, error as Error)
      await delay(askAgainMs)
    }
  }
}

async function outOfReach(redis: Redis, limitMs: number, cause: Error | undefined): Promise<OutOfReachError> {
  const why = await whyNotServed(redis, cause)
  const reason = cause?.message ? ` (${cause.message})` : ''
  const silent = `did not answer for ${Math.round(limitMs / 1000)} s: start it, or correct its URL${reason}`
  return new OutOfReachError(`Redis at ${address(redis)} ${why ?? silent}`, { cause })
}

/** How often a lost connection is tried again, which takes a second or two, before the server is asked why. */
const askWhyAfter = 5

/** Logs when the connection is lost, why the server refuses another one, and when it is back, but not each attempt. */
function logStateChanges(redis: Redis, logger: ConnectionLogger): void {
  let attempts = 0
  let lastError: Error | undefined
  redis.on('error', (error) => {
    lastError = error
  })
  redis.on('reconnecting', async () => {
    attempts++
    if (attempts === 1) logger.warn({ err: lastError }, `Redis at ${address(redis)}: connection lost, reconnecting`)
    if (attempts !== askWhyAfter) return
    const why = await whyNotServed(redis, lastError)
    if (why !== undefined) logger.warn(`Redis at ${address(redis)} ${why}`)
  })
  redis.on('ready', () => {
    if (attempts > 0) logger.info(`Redis at ${address(redis)}: connected again`)
    attempts = 0
    lastError = undefined
  })
}
