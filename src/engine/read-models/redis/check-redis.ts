import type { Redis } from 'ioredis'
import { timeOfDay } from '../../lib/clock.ts'
import { type Finding, failed, ok, warning } from '../../lib/operating/finding.ts'
import { evictionWarning, evicts } from './eviction.ts'
import { address, ifTold } from './redis-calls.ts'
import { connect, type RedisAccess } from './redis-client.ts'
import { untilReady } from './redis-connection.ts'
import { isReply, remedyOf } from './redis-errors.ts'
import { type StoreName, versionsKey } from './redis-keys.ts'

const limitMs = 5000
const oldestVersion = '6.2'
/** Beyond that, times of events would be worth little. */
const skewMaxMs = 5000

/**
 * Looks at Redis: whether it answers, its version, whether it takes writes, what it does when memory runs short, its
 * clock. Changes nothing.
 */
export async function checkRedis({ prefix, ...access }: RedisAccess & Pick<StoreName, 'prefix'>): Promise<Finding[]> {
  const redis = connect(access, {})
  const what = `Redis at ${address(redis)}`
  try {
    await untilReady(redis, limitMs)
    const info = (await ifTold(redis.info('server'))) ?? ''
    const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown'
    const isCluster = /^redis_mode:cluster/m.test(info)
    const refusal = await whyNoWrites(redis, prefix)
    const eviction = await evictionWarning(redis)
    const [seconds = '0', micros = '0'] = ((await ifTold(redis.time())) ?? []).map(String)
    const skewMs = timeOfDay().getTime() - (Number(seconds) * 1000 + Number(micros) / 1000)
    return [
      version.localeCompare(oldestVersion, undefined, { numeric: true }) < 0
        ? failed(what, `It is version ${version}: use ${oldestVersion} or later.`)
        : ok(what, `answers; version ${version}${isCluster ? ', a cluster' : ''}`),
      ...(refusal === undefined ? [] : [failed(what, refusal)]),
      ...(eviction === undefined ? [] : [(eviction.code === evicts ? failed : warning)(what, eviction.message)]),
      ...(Number(seconds) > 0 ? [clockFinding(skewMs)] : []),
    ]
  } catch (error) {
    return [failed(what, error)]
  } finally {
    redis.disconnect()
  }
}

/** Sends a write that changes nothing, whether there is such a key or not: Redis refuses it as it refuses any other. */
async function whyNoWrites(redis: Redis, prefix: string): Promise<string | undefined> {
  try {
    await redis.setrange(versionsKey(prefix), 0, '')
  } catch (error) {
    if (!isReply(error)) throw error
    const remedy = remedyOf(error.message)
    // Anything else is about this key: it is another kind of value, or in another slot of a cluster.
    if (remedy !== undefined) return `It refuses writes (${error.message}): ${remedy}.`
  }
  return undefined
}

function clockFinding(skewMs: number): Finding {
  const seconds = Math.round(skewMs / 1000)
  if (Math.abs(skewMs) <= skewMaxMs) return ok('clock', 'agrees with that of Redis')
  const where = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} Redis`
  return warning('clock', `This machine is ${where}: set both by NTP.`)
}
