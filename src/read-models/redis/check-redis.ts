import { type Finding, failed, ok } from '../../lib/finding.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import { evictionWarning } from './eviction.ts'
import { address, ifTold } from './redis-calls.ts'
import { connect, type RedisAccess, untilReady } from './redis-connection.ts'

const limitMs = 5000
const oldestVersion = '6.2'
/** Beyond that, times of events would be worth little. */
const skewMaxMs = 5000

/** Looks at Redis: whether it answers, its version, what it does when memory runs short, its clock. Changes nothing. */
export async function checkRedis(access: RedisAccess, now: () => Date): Promise<Finding[]> {
  const redis = connect(access, {})
  const what = `Redis at ${address(redis)}`
  try {
    await untilReady(redis, limitMs)
    const info = (await ifTold(redis.info('server'))) ?? ''
    const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown'
    const isCluster = /^redis_mode:cluster/m.test(info)
    const eviction = await withTimeout(limitMs, evictionWarning(redis))
    const [seconds = '0', micros = '0'] = ((await ifTold(redis.time())) ?? []).map(String)
    const skewMs = now().getTime() - (Number(seconds) * 1000 + Number(micros) / 1000)
    return [
      version.localeCompare(oldestVersion, undefined, { numeric: true }) < 0
        ? failed(what, `It is version ${version}: use ${oldestVersion} or later.`)
        : ok(what, `answers; version ${version}${isCluster ? ', a cluster' : ''}`),
      ...(eviction === undefined ? [] : [{ what, state: stateOf(eviction.code), detail: eviction.message }]),
      ...(Number(seconds) > 0 ? [clockFinding(skewMs)] : []),
    ]
  } catch (error) {
    return [failed(what, error)]
  } finally {
    redis.disconnect()
  }
}

function stateOf(code: string): Finding['state'] {
  return code === 'keys_can_be_evicted' ? 'failed' : 'warning'
}

function clockFinding(skewMs: number): Finding {
  const seconds = Math.round(skewMs / 1000)
  if (Math.abs(skewMs) <= skewMaxMs) return ok('clock', 'agrees with that of Redis')
  const detail = `This machine is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} Redis: set both by NTP.`
  return { what: 'clock', state: 'warning', detail }
}
