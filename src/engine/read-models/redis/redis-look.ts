import type { Redis } from 'ioredis'
import type { Look } from '../store.ts'
import { type Replies, run } from './redis-calls.ts'
import type { RedisKeys } from './redis-keys.ts'
import { checkpointsIn, pairs } from './stored.ts'

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
      const reply = await run(redis, 'look', keysFor(keys, asked))
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
  return { active: active ?? '', building: building ?? '', sets: pairs(sizes).map(([set]) => set) }
}

function isAbout(asked: Names, found: Names): boolean {
  const isSame = asked.active === found.active && asked.building === found.building
  return isSame && found.sets.every((set) => asked.sets.includes(set))
}

function decodeLook(reply: Replies['look'], sets: readonly string[]): Look {
  const [[name, logId, continues], [builtName, builtLogId], activeFields, sizes, builtFields, actual] = reply
  const recorded = new Map(pairs(sizes))
  const areSizesRight = sets.every((set, i) => Number(actual[i]) === Number(recorded.get(set) ?? 0))
  const checkpoints = checkpointsIn(activeFields)
  const built = checkpointsIn(builtFields)
  const isBuilding = builtName !== null && builtLogId !== null && built !== undefined
  return {
    active: name === null || logId === null ? undefined : { name, logId, continues: continues || undefined },
    checkpoints,
    isComplete: checkpoints === undefined || (recorded.size > 0 && areSizesRight),
    building: isBuilding ? { name: builtName, logId: builtLogId, checkpoints: built } : undefined,
  }
}
