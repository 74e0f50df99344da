import type {
  ActiveGeneration,
  Checkpoints,
  Generation,
  Generations,
  ProgressListener,
  StoredGeneration,
  StoredVersion,
} from '../generations.ts'
import type { Listeners } from '../listeners.ts'
import { progressMessage } from './progress-message.ts'
import type { RedisCalls } from './redis-calls.ts'
import { isHash, type RedisKeys, redisKeys, type StoreName, versionsKey } from './redis-keys.ts'
import type { Replies } from './redis-scripts.ts'
import { decodeSnapshot, pairs } from './stored-snapshot.ts'

interface RemovalLimits {
  /** Removes it even if it is the active one. */
  readonly evenActive?: boolean
  /** For how long it must have been replaced, or not have been asked for. */
  readonly graceMs?: number
}

export class RedisGenerations implements Generations {
  readonly #calls: RedisCalls
  readonly #callsAt: (key: string) => RedisCalls
  readonly #name: StoreName
  readonly #keys: RedisKeys
  readonly #versions: string
  readonly #listeners: Listeners

  /** `callsAt` answers for keys of other slots. */
  constructor(calls: RedisCalls, callsAt: (key: string) => RedisCalls, name: StoreName, listeners: Listeners) {
    this.#calls = calls
    this.#callsAt = callsAt
    this.#name = name
    this.#keys = redisKeys(name)
    this.#versions = versionsKey(name.prefix)
    this.#listeners = listeners
  }

  async active(): Promise<ActiveGeneration | undefined> {
    const { name, epoch, continues } = await this.#calls.answer((redis) => redis.hgetall(this.#keys.active))
    if (name === undefined || epoch === undefined) return undefined
    return { name, logId: epoch, continues: continues || undefined }
  }

  async checkpoints(generation: string): Promise<Checkpoints | undefined> {
    const { checkpoints } = this.#keys.generation(generation)
    const fields = await this.#calls.answer((redis) => redis.hgetall(checkpoints))
    return fields.epoch === undefined ? undefined : decodeSnapshot('', Object.entries(fields).flat()).checkpoints
  }

  listen(listener: ProgressListener): () => void {
    return this.#listeners.add(listener)
  }

  async start({ name, logId }: Generation, instead: string | undefined): Promise<void> {
    const { active, replaced, progress } = this.#keys
    const { checkpoints } = this.#keys.generation(name)
    const args = [name, logId, instead ?? '', progress, progressMessage(name)]
    await this.#calls.run('startGeneration', [active, replaced, checkpoints], args)
  }

  async all(): Promise<readonly StoredGeneration[]> {
    const [active, building, replaced] = await this.#names(this.#keys)
    const kept = await Promise.all(
      pairs(replaced).map(async ([name, since]): Promise<StoredGeneration[]> => {
        const { checkpoints } = this.#keys.generation(name)
        const logId = await this.#calls.answer((redis) => redis.hget(checkpoints, 'epoch'))
        return logId === null ? [] : [{ name, logId, state: 'replaced', since: Number(since) }] // null: being removed
      }),
    )
    return [...named(active, 'active'), ...named(building, 'building'), ...kept.flat()]
  }

  async build({ name, logId }: Generation): Promise<Generation> {
    const { checkpoints } = this.#keys.generation(name)
    for (;;) {
      const keys = [this.#keys.building, checkpoints]
      const [built, builtLogId] = await this.#calls.run('buildGeneration', keys, [name, logId])
      if (builtLogId === logId) return { name: built, logId }
      await this.remove(built)
    }
  }

  async activate(name: string): Promise<'activated' | 'behind' | 'incomplete' | 'not_building'> {
    const { active, building, replaced, progress } = this.#keys
    const keys = this.#keys.generation(name)
    for (;;) {
      const fields = await this.#calls.sizedFields(keys)
      const before = (await this.#calls.answer((redis) => redis.hget(active, 'name'))) ?? ''
      const beforeCheckpoints = this.#keys.generation(before).checkpoints
      const outcome = await this.#calls.run(
        'activateGeneration',
        [active, building, replaced, beforeCheckpoints, keys.checkpoints, keys.sizes, ...fields.map(keys.sized)],
        [name, before, progress, progressMessage(name), ...fields.map((field) => (isHash(field) ? 'h' : 'z') + field)],
      )
      if (outcome !== 'other_keys') return outcome
    }
  }

  remove(name: string): Promise<boolean> {
    return this.#remove(this.#keys, name)
  }

  async renew(): Promise<void> {
    await this.#atVersions().run('renewVersion', [this.#versions], [this.#name.version])
  }

  async versions(): Promise<readonly StoredVersion[]> {
    const found = await this.#atVersions().answer((redis) => redis.zrange(this.#versions, '0', '-1', 'WITHSCORES'))
    return pairs(found).map(([version, renewed]) => ({ version, renewed: Number(renewed) }))
  }

  async prune(graceMs: number): Promise<readonly string[]> {
    const removed: string[] = []
    for (;;) {
      const version = await this.#oldVersion(graceMs)
      if (version === undefined) break
      await this.#removeVersion(version)
      // Last, so that what a crash leaves behind is found again; and unless it came into use meanwhile.
      await this.#atVersions().run('forgetVersion', [this.#versions], [version, graceMs])
      removed.push(version)
    }
    const [, [building], replaced] = await this.#names(this.#keys)
    for (const name of [building, ...pairs(replaced).map(([name]) => name)]) {
      if (name !== null && (await this.#remove(this.#keys, name, { graceMs }))) {
        removed.push(`${this.#name.version}/${name}`)
      }
    }
    return removed
  }

  /** Another version than this one. */
  async #oldVersion(graceMs: number): Promise<string | undefined> {
    const versions = await this.#atVersions().run('oldVersions', [this.#versions], [graceMs])
    return versions.find((version) => version !== this.#name.version)
  }

  async #removeVersion(version: string): Promise<void> {
    const keys = redisKeys({ ...this.#name, version })
    const [[active], [building], replaced] = await this.#names(keys)
    for (const name of [building, ...pairs(replaced).map(([name]) => name), active]) {
      if (name !== null) await this.#remove(keys, name, { evenActive: true })
    }
  }

  /** Its keys are found by their names alone: another release may have written others than this one knows. */
  async #remove(
    { active, building, replaced, generation }: RedisKeys,
    name: string,
    { evenActive = false, graceMs = 0 }: RemovalLimits = {},
  ): Promise<boolean> {
    const { checkpoints, pattern } = generation(name)
    const calls = this.#callsAt(active)
    const keys = [active, building, replaced, checkpoints]
    const outcome = await calls.run('removeGeneration', keys, [name, evenActive ? 'active' : '', graceMs])
    if (outcome === 'kept') return false
    await calls.removeKeys(pattern)
    await calls.answer((redis) => redis.zrem(replaced, name)) // last, so that what a crash leaves behind is found again
    return outcome === 'removed'
  }

  #names({ active, building, replaced }: RedisKeys): Promise<Replies['generations']> {
    return this.#callsAt(active).run('generations', [active, building, replaced])
  }

  #atVersions(): RedisCalls {
    return this.#callsAt(this.#versions)
  }
}

function named([name, logId, since]: Replies['generations'][0], state: 'active' | 'building'): StoredGeneration[] {
  return name === null || logId === null ? [] : [{ name, logId, state, since: Number(since) }]
}
