import type { Generation } from '../read-models.ts'
import type { StoredGeneration, StoredVersion, Upkeep } from '../upkeep.ts'
import { progressMessage } from './progress-message.ts'
import type { RedisCalls } from './redis-calls.ts'
import { type GenerationKeys, type RedisKeys, redisKeys, type StoreName, versionsKey } from './redis-keys.ts'
import type { StoredNames } from './redis-scripts.ts'
import { pairs } from './stored-state.ts'

interface RemovalLimits {
  /** Removes it even if it is the active one. */
  readonly evenActive?: boolean
  /** For how long it must have been replaced, or not have been asked for. */
  readonly graceMs?: number
}

export class RedisUpkeep implements Upkeep {
  readonly #calls: RedisCalls
  readonly #callsAt: (key: string) => RedisCalls
  readonly #name: StoreName
  readonly #keys: RedisKeys
  readonly #versions: string

  /** `callsAt` answers for keys of other slots. */
  constructor(calls: RedisCalls, callsAt: (key: string) => RedisCalls, name: StoreName) {
    this.#calls = calls
    this.#callsAt = callsAt
    this.#name = name
    this.#keys = redisKeys(name)
    this.#versions = versionsKey(name.prefix)
  }

  async generations(): Promise<readonly StoredGeneration[]> {
    const [active, building, replaced] = await this.#names(this.#keys)
    const kept = await Promise.all(
      pairs(replaced).map(async ([name, since]): Promise<StoredGeneration[]> => {
        const { checkpoints } = this.#keys.generation(name)
        const epoch = await this.#calls.answer((redis) => redis.hget(checkpoints, 'epoch'))
        return epoch === null ? [] : [{ name, epoch, state: 'replaced', since: Number(since) }] // null: removed meanwhile
      }),
    )
    return [...named(active, 'active'), ...named(building, 'building'), ...kept.flat()]
  }

  async build({ name, epoch }: Generation): Promise<Generation> {
    const { checkpoints } = this.#keys.generation(name)
    for (;;) {
      const [built, builtEpoch] = await this.#calls.answer((redis) =>
        redis.buildGeneration(this.#keys.building, checkpoints, name, epoch),
      )
      if (builtEpoch === epoch) return { name: built, epoch }
      await this.remove(built)
    }
  }

  async activate(name: string): Promise<'activated' | 'behind' | 'incomplete' | 'not_building'> {
    const { active, building, replaced, progress } = this.#keys
    const keys = this.#keys.generation(name)
    for (;;) {
      const indexes = await this.#calls.indexesOf(keys)
      const before = (await this.#calls.answer((redis) => redis.hget(active, 'name'))) ?? ''
      const all = [active, building, replaced, this.#keys.generation(before).checkpoints, keys.checkpoints]
      all.push(keys.documents, ...indexes.map((index) => keys.index(index)))
      const args = [name, before, progress, progressMessage(name), ...indexes]
      const outcome = await this.#calls.answer((redis) => redis.activateGeneration(all.length, all, args))
      if (outcome !== 'other_keys') return outcome
    }
  }

  remove(name: string): Promise<boolean> {
    return this.#remove(this.#keys, name)
  }

  async renew(): Promise<void> {
    await this.#atVersions().answer((redis) => redis.renewVersion(this.#versions, this.#name.version))
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
      await this.#atVersions().answer((redis) => redis.forgetVersion(this.#versions, version, String(graceMs)))
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

  /** Of another version than this one. */
  async #oldVersion(graceMs: number): Promise<string | undefined> {
    const versions = await this.#atVersions().answer((redis) => redis.oldVersions(this.#versions, String(graceMs)))
    return versions.find((version) => version !== this.#name.version)
  }

  async #removeVersion(version: string): Promise<void> {
    const keys = redisKeys({ ...this.#name, version })
    const [[active], [building], replaced] = await this.#names(keys)
    for (const name of [building, ...pairs(replaced).map(([name]) => name), active]) {
      if (name !== null) await this.#remove(keys, name, { evenActive: true })
    }
  }

  async #remove(
    keys: RedisKeys,
    name: string,
    { evenActive = false, graceMs = 0 }: RemovalLimits = {},
  ): Promise<boolean> {
    const generation = keys.generation(name)
    const calls = this.#callsAt(keys.active)
    for (;;) {
      const indexes = await calls.indexesOf(generation)
      const all = [keys.active, keys.building, keys.replaced, ...allKeys(generation, indexes)]
      const args = [name, String(indexes.length), evenActive ? 'active' : '', String(graceMs)]
      const outcome = await calls.answer((redis) => redis.removeGeneration(all.length, all, args))
      if (outcome !== 'other_keys') return outcome === 'removed'
    }
  }

  #names({ active, building, replaced }: RedisKeys): Promise<StoredNames> {
    return this.#callsAt(active).answer((redis) => redis.generations(active, building, replaced))
  }

  #atVersions(): RedisCalls {
    return this.#callsAt(this.#versions)
  }
}

/** The checkpoints first. */
function allKeys(keys: GenerationKeys, indexes: readonly string[]): string[] {
  const { checkpoints, documents, counters, parked, parkedOffsets, parkedSubjects, decisions } = keys
  const ofAll = [checkpoints, documents, counters, parked, parkedOffsets, parkedSubjects, decisions]
  return [...ofAll, ...indexes.map((index) => keys.index(index))]
}

function named([name, epoch, since]: StoredNames[0], state: 'active' | 'building'): StoredGeneration[] {
  return name === null || epoch === null ? [] : [{ name, epoch, state, since: Number(since) }]
}
