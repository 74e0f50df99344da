import { Redis, type RedisOptions, ReplyError } from 'ioredis'
import type { Logger } from 'pino'
import { OutOfReachError } from '../../lib/errors.ts'

export type ConnectionLogger = Pick<Logger, 'info' | 'warn'>

const options = {
  enableOfflineQueue: false,
  // A command in flight when the connection broke is answered with an error, not sent again behind the caller's back.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 1,
  commandTimeout: 500,
  connectTimeout: 1000,
  // A server that stopped answering is connected to anew: the old connection may lead nowhere.
  socketTimeout: 2000,
  disconnectTimeout: 200,
  maxLoadingRetryTime: 500,
  retryStrategy: (attempt: number) => Math.min(50 * 2 ** (attempt - 1), 1000),
  // The address may belong to another server since a failover, or the slot to another master of the cluster.
  reconnectOnError: (error: Error) => /^(READONLY|MOVED)/.test(error.message),
  stringNumbers: true, // ioredis 6 decodes RESP3 integers near 2^53 inexactly
} satisfies RedisOptions

type Extra = Pick<RedisOptions, 'autoResubscribe' | 'socketTimeout' | 'Connector' | 'enableOfflineQueue'>

/** A connection that comes back by itself for ever. Fails each command at once, or in half a second, while it is away. */
export function connect(url: string, extra: Extra): Redis {
  const redis = new Redis(url, { ...options, ...extra })
  redis.on('error', () => {}) // without a listener ioredis writes to the console
  return redis
}

/** Resolves once the server answers; throws when it refuses this client, and OutOfReachError when it stays silent. */
export function untilReady(redis: Redis, limitMs: number): Promise<void> {
  if (redis.status === 'ready') return Promise.resolve()
  return new Promise((resolve, reject) => {
    let lastError: Error | undefined
    const settle = (error?: Error) => {
      clearTimeout(timer)
      redis.off('ready', ready).off('error', failed).off('end', ended)
      if (error === undefined) resolve()
      else reject(error)
    }
    const ready = () => settle()
    const failed = (error: Error) => {
      lastError = error
      if (isRefusal(error)) settle(new Error(refused(redis, error), { cause: error }))
    }
    const ended = () =>
      settle(new OutOfReachError(`Redis at ${address(redis)}: closed before it answered`, { cause: lastError }))
    const silence = () => settle(new OutOfReachError(silent(redis, limitMs), { cause: lastError }))
    const timer = setTimeout(silence, limitMs)
    redis.on('ready', ready).on('error', failed).on('end', ended)
  })
}

/** Logs when the connection is lost and when it is back, not each attempt in between. */
export function logStateChanges(redis: Redis, logger: ConnectionLogger): void {
  let lost = false
  let lastError: Error | undefined
  redis.on('error', (error) => {
    lastError = error
  })
  redis.on('reconnecting', () => {
    if (!lost) logger.warn({ err: lastError }, `Redis at ${address(redis)}: connection lost, reconnecting`)
    lost = true
  })
  redis.on('ready', () => {
    if (lost) logger.info(`Redis at ${address(redis)}: connected again`)
    lost = false
    lastError = undefined
  })
}

/** Throws where the server may evict keys: it would drop whole read models without a word. */
export async function refuseEviction(redis: Redis, logger: ConnectionLogger): Promise<void> {
  const policy = await maxmemoryPolicy(redis)
  if (policy === undefined) {
    logger.warn(`Redis at ${address(redis)}: maxmemory-policy cannot be read; make sure that it is noeviction`)
  } else if (policy !== 'noeviction') {
    throw new Error(
      `Redis at ${address(redis)} has maxmemory-policy ${policy}, which drops read models when memory runs short. ` +
        'Set it to noeviction (CONFIG SET maxmemory-policy noeviction, and in redis.conf), or use another Redis.',
    )
  }
}

async function maxmemoryPolicy(redis: Redis): Promise<string | undefined> {
  try {
    const [, policy] = (await redis.config('GET', 'maxmemory-policy')) as string[]
    if (policy !== undefined) return policy
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error // hosted Redis often forbids CONFIG, which says nothing yet
  }
  try {
    return /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory'))?.[1]
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    return undefined
  }
}

function isRefusal(error: Error): boolean {
  return error instanceof ReplyError && /^(WRONGPASS|NOAUTH|NOPERM|ERR .*(AUTH|password|DB index))/i.test(error.message)
}

function refused(redis: Redis, error: Error): string {
  return `Redis at ${address(redis)} refuses the connection (${error.message}): check user, password and database in its URL`
}

function silent(redis: Redis, limitMs: number): string {
  return `Redis at ${address(redis)} did not answer for ${Math.round(limitMs / 1000)} s: start it, or correct its URL`
}

function address({ options: { path, host, port } }: Redis): string {
  return path ?? `${host}:${port}`
}
