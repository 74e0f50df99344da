import type { Redis } from 'ioredis'
import { DamagedError, numberIn, quoted } from '../damaged.ts'
import type { Checkpoints, Look } from '../ports/generations.ts'
import { type Replies, run } from './redis-calls.ts'
import type { RedisKeys } from './redis-keys.ts'
import { checkpointsIn, pairs, typeOf } from './stored.ts'

/** What the keys of a look depend on. */
interface Names {
  /** '' if there is none. */
  readonly active: string
  readonly building: string
  /** Sets of the active generation. */
  readonly sets: readonly string[]
}

/**
 * Each look is a single script, with the keys that the look before it found. If another generation or set has appeared
 * since then, the script runs again.
 */
export function redisLook(redis: Redis, keys: RedisKeys): () => Promise<Look> {
  let last: Names = { active: '', building: '', sets: [] }
  return async () => {
    for (;;) {
      const asked = last
      const reply = await run(redis, 'look', keysFor(keys, asked), asked.sets.map(typeOf))
      last = namesIn(reply)
      if (isAbout(asked, last)) return decodeLook(reply, asked.sets)
    }
  }
}

function keysFor({ active, building, generation }: RedisKeys, names: Names): string[] {
  const { checkpoints, sizes, set } = generation(names.active)
  return [active, building, checkpoints, sizes, generation(names.building).checkpoints, ...names.sets.map(set)]
}

function namesIn([[active], [building], , sizes]: Replies['look']): Names {
  return { active: active ?? '', building: building ?? '', sets: pairs(sizes ?? []).map(([set]) => set) }
}

function isAbout(asked: Names, found: Names): boolean {
  const isSame = asked.active === found.active && asked.building === found.building
  return isSame && new Set(found.sets).isSubsetOf(new Set(asked.sets))
}

function decodeLook(reply: Replies['look'], sets: readonly string[]): Look {
  const [[name, logId, continues], [builtName, builtLogId], activeFields, sizes, builtFields, actual] = reply
  const { checkpoints, damage = damageIn(sets, sizes, actual) } = checkpointsOf(activeFields)
  const recorded = new Map(pairs(sizes ?? []))
  const areSizesRight = sets.every((set, i) => String(actual[i]) === (recorded.get(set) ?? '0'))
  const built = checkpointsOf(builtFields).checkpoints
  const isBuilding = builtName && builtLogId && built !== undefined
  return {
    active: name && logId ? { name, logId, continues: continues || undefined } : undefined,
    checkpoints,
    isComplete: damage === undefined && (checkpoints === undefined || (recorded.size > 0 && areSizesRight)),
    damage,
    building: isBuilding ? { name: builtName, logId: builtLogId, checkpoints: built } : undefined,
  }
}

function checkpointsOf(fields: string[] | null): { checkpoints?: Checkpoints | undefined; damage?: string } {
  if (fields === null) return { damage: 'the checkpoints are of another type' }
  try {
    return { checkpoints: checkpointsIn(fields) }
  } catch (error) {
    if (error instanceof DamagedError) return { damage: error.damage }
    throw error
  }
}

function damageIn(
  sets: readonly string[],
  sizes: string[] | null,
  actual: readonly (string | number)[],
): string | undefined {
  if (sizes === null) return 'the recorded sizes are of another type'
  const [noSize] = pairs(sizes).find(([, size]) => numberIn(size) === undefined) ?? []
  if (noSize !== undefined) return `the recorded size of ${quoted(noSize)} is not a number`
  const set = sets.find((_, i) => Number(actual[i]) < 0)
  return set === undefined ? undefined : `the set ${quoted(set)} is of another type`
}
