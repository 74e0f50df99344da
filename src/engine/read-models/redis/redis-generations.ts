import type { Redis } from 'ioredis'
import type { Listeners } from '../listeners.ts'
import type { Generations, StoredGeneration, StoredVersion } from '../ports/generations.ts'
import { answer, orNothing, type Replies, run } from './redis-calls.ts'
import { type RedisKeys, redisKeys, type StoreName, versionsKey } from './redis-keys.ts'
import { redisLook } from './redis-look.ts'
import { progressMessage } from './redis-progress.ts'
import { checkpointsIn, pairs, timeIn, typeOf } from './stored.ts'

/** `connectionTo` also answers for keys of other slots. */
export function redisGenerations(
  connectionTo: (key: string) => Redis,
  store: StoreName,
  listeners: Listeners,
): Generations {
  const own = redisKeys(store)
  const redis = connectionTo(own.active)
  const versionsOfAll = versionsKey(store.prefix)

  function names({ active, building, replaced }: RedisKeys): Promise<Replies['generations']> {
    return run(connectionTo(active), 'generations', [active, building, replaced])
  }

  /** `graceMs`: how long ago it must have been replaced, or last been requested. */
  async function remove(keys: RedisKeys, name: string, graceMs: number, evenActive = false): Promise<boolean> {
    const { active, building, replaced } = keys
    const { checkpoints, pattern } = keys.generation(name)
    const connection = connectionTo(active)
    const args = [name, evenActive ? 'active' : '', graceMs]
    const outcome = await run(connection, 'remove-generation', [active, building, replaced, checkpoints], args)
    if (outcome === 'kept') return false
    await removeKeys(connection, pattern)
    await answer(connection.zrem(replaced, name)) // last, so that leftovers of a crash are found again
    return outcome === 'removed'
  }

  async function removeAll(keys: RedisKeys, graceMs: number, evenActive: boolean): Promise<string[]> {
    const [[active], [building], replaced] = await names(keys)
    const removed: string[] = []
    for (const name of [building, ...pairs(replaced).map(([name]) => name), active]) {
      if (name && (await remove(keys, name, graceMs, evenActive))) removed.push(name)
    }
    return removed
  }

  const versionsAt = () => connectionTo(versionsOfAll)

  async function versions(): Promise<readonly StoredVersion[]> {
    const found = await orNothing(answer(versionsAt().zrange(versionsOfAll, '0', '-1', 'WITHSCORES')), [])
    return pairs(found).map(([version, renewed]) => ({ version, renewed: timeIn(renewed) }))
  }

  return {
    look: redisLook(redis, own),

    async active() {
      const { name, epoch, continues } = await orNothing(answer(redis.hgetall(own.active)), {})
      if (!name || !epoch) return undefined
      return { name, logId: epoch, continues: continues || undefined }
    },

    async checkpoints(generation) {
      const fields = await answer(redis.hgetall(own.generation(generation).checkpoints))
      return checkpointsIn(Object.entries(fields).flat())
    },

    listen: (listener) => listeners.add(listener),

    async start({ name, logId }, instead) {
      const { checkpoints, sizes } = own.generation(name)
      const keys = [own.active, own.replaced, checkpoints, sizes]
      const args = [name, logId, instead ?? '', own.progress, progressMessage(name)]
      return Number(await run(redis, 'start-generation', keys, args)) === 1
    },

    async all() {
      const [active, building, replaced] = await names(own)
      const kept = await Promise.all(
        pairs(replaced).map(async ([name, since]): Promise<StoredGeneration[]> => {
          const logId = await orNothing(answer(redis.hget(own.generation(name).checkpoints, 'epoch')), '')
          return logId === null ? [] : [{ name, logId, state: 'replaced', since: timeIn(since) }] // null: being removed
        }),
      )
      return [...named(active, 'active'), ...named(building, 'building'), ...kept.flat()]
    },

    async build({ name, logId }) {
      for (;;) {
        const { checkpoints, sizes } = own.generation(name)
        const keys = [own.building, checkpoints, sizes]
        const [built, builtLogId] = await run(redis, 'build-generation', keys, [name, logId])
        if (builtLogId === logId) return { name: built, logId }
        await remove(own, built, 0)
      }
    },

    async activate(name) {
      const { checkpoints, sizes, set } = own.generation(name)
      for (;;) {
        const sets = await orNothing(answer(redis.hkeys(sizes)), [])
        const [[before, logId]] = await names(own)
        const active = (logId && before) || ''
        const outcome = await run(
          redis,
          'activate-generation',
          [
            ...[own.active, own.building, own.replaced, own.generation(active).checkpoints, checkpoints, sizes],
            ...sets.map(set),
          ],
          [name, active, own.progress, progressMessage(name), ...sets.flatMap((each) => [each, typeOf(each)])],
        )
        if (outcome !== 'other_keys') return outcome
      }
    },

    remove: (name) => remove(own, name, 0),

    async renew() {
      await run(versionsAt(), 'renew-version', [versionsOfAll], [store.version])
    },

    versions,

    async removeVersion({ version, renewed }, logId) {
      const keys = redisKeys({ ...store, version })
      const [[, activeLog], [, buildingLog]] = await names(keys)
      const isForeign = [activeLog, buildingLog].some((found) => found && found !== logId)
      const score = await answer(versionsAt().zscore(versionsOfAll, version))
      const isListed = score !== null && timeIn(score) === renewed
      if (version === store.version || isForeign || !isListed) return false
      await removeAll(keys, 0, true)
      // Last, so that leftovers of a crash are found again; and only if the version was not used again meanwhile.
      await run(versionsAt(), 'forget-version', [versionsOfAll], [version, score])
      return true
    },

    prune: (graceMs) => removeAll(own, graceMs, false),
  }
}

function named([name, logId, since]: Replies['generations'][0], state: 'active' | 'building'): StoredGeneration[] {
  return !name || !logId ? [] : [{ name, logId, state, since: timeIn(since ?? '') }]
}

/** Nothing writes to these keys any more. Another release may have written keys that this one does not know. */
async function removeKeys(redis: Redis, pattern: string): Promise<void> {
  let cursor = '0'
  do {
    const [next, found] = await answer(redis.scan(cursor, 'MATCH', pattern, 'COUNT', 1000))
    if (found.length > 0) await answer(redis.unlink(found))
    cursor = next
  } while (cursor !== '0')
}
