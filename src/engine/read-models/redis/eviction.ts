import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { Warning } from '../../lib/operating/warning.ts'
import { address, ifTold } from './redis-calls.ts'

export const evicts = 'keys_can_be_evicted'

const defaultLookMs = 10_000

/**
 * A server that may evict keys would drop whole read models when memory runs short, so a start is refused there: throws
 * if `found` says so. From then on each newly connected server is checked, and again every 10 s, since anybody may
 * change its settings. A running service continues: recorded sizes reveal evicted entries, so no wrong answer is given.
 * Returns what tells the warnings as of the last check.
 */
export function watchEviction(
  redis: Redis,
  logger: Pick<Logger, 'error' | 'warn'>,
  found: Warning | undefined,
  lookMs = defaultLookMs,
): () => readonly Warning[] {
  if (found?.code === evicts) throw new Error(found.message)
  let current: readonly Warning[] = []

  function note(found: Warning | undefined): void {
    const isNew = found?.code !== current[0]?.code
    current = found === undefined ? [] : [found]
    if (found !== undefined && isNew)
      logger[found.code === evicts ? 'error' : 'warn']({ code: found.code }, found.message)
  }

  note(found)
  redis.on('ready', () => {
    evictionWarning(redis).then(note, (error) => {
      // If the connection was lost again, the next server is checked as well.
      logger.warn({ err: error }, `Redis at ${address(redis)}: maxmemory-policy could not be checked`)
    })
  })
  const timer = setInterval(() => {
    if (redis.status === 'ready') evictionWarning(redis).then(note, () => {}) // the last warning stays: nothing contradicts it
  }, lookMs).unref()
  redis.once('end', () => clearInterval(timer))
  return () => current
}

export async function evictionWarning(redis: Redis): Promise<Warning | undefined> {
  const policy = await policyOf(redis)
  const where = `Redis at ${address(redis)}`
  if (policy === 'noeviction') return undefined
  if (policy === undefined) {
    const message = `${where}: maxmemory-policy cannot be read; make sure that it is noeviction`
    return { code: 'eviction_policy_unknown', message }
  }
  const message =
    `${where} has maxmemory-policy ${policy}, which drops read models when memory runs short. ` +
    'Set it to noeviction (CONFIG SET maxmemory-policy noeviction, and in redis.conf), or use another Redis.'
  return { code: evicts, message }
}

/** Undefined if this user may not ask. Hosted Redis often forbids CONFIG, and some forbids INFO. */
async function policyOf(redis: Redis): Promise<string | undefined> {
  const info = await ifTold(redis.info('memory'))
  const found = /^maxmemory_policy:(\S+)/m.exec(info ?? '')?.[1]
  return found ?? ((await ifTold(redis.config('GET', 'maxmemory-policy'))) as string[] | undefined)?.[1]
}
