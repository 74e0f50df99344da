import slotOf from 'cluster-key-slot'
import { shardNamed } from '../shards.ts'

/** Prefix of all keys of one store. Another version of the read models has a store of its own. */
export interface StoreName {
  readonly prefix: string
  readonly version: string
}

/**
 * Every key and channel that the read models use in Redis. All keys of one store have the hash tag `{prefix:version}`,
 * so that they share a slot of a Redis Cluster and one script can access them together. Only the scripts beside this
 * file write them. Earlier releases also had `active`, `building`, `replaced` and `checkpoints` with these fields, so
 * this release can list and prune their versions.
 */
export interface RedisKeys {
  /**
   * Hash: `name` and `epoch` (the log id) of the active generation; `since`, when it became active (milliseconds, by
   * Redis); the generation that it `continues`, or ''; and when `apply` to it was last `paused`. Exists as long as the
   * store.
   */
  readonly active: string
  /**
   * Hash: `name` and `epoch` of the generation being built; `since`, when it was last requested. Exists while it is
   * built.
   */
  readonly building: string
  /**
   * Sorted set: the generations that are no longer active and those being removed, until their last key is gone; score
   * = since when, in milliseconds.
   */
  readonly replaced: string
  /**
   * Channel: a `progressMessage` for each batch applied to the active generation, and for each generation that becomes
   * active.
   */
  readonly progress: string
  generation(name: string): GenerationKeys
}

/** The keys of one generation. They exist as long as the generation, and are removed together. */
export interface GenerationKeys {
  /**
   * Hash. `epoch`: the log id, present from the start, so that the key exists as long as its generation.
   * `<partition>`: the checkpoint as `encodeCheckpoint` writes it.
   */
  readonly checkpoints: string
  /**
   * Hash: name of each set -> number of entries that `apply-batch.lua` has added, less those that it removed. It exists
   * from the start: without it, sets that are gone as well would look as if nothing had been added.
   */
  readonly sizes: string
  /**
   * The key of each set, by its name:
   * - a collection. Sorted set, score = id: JSON and what is behind it, separated by NUL
   * - an index with a set for each value, `<collection>:<filter>:<value>`. Sorted set, score = id: JSON alone
   * - an index that is keyed, `<collection>:<filter>=`. Sorted set, all scores 0, ordered by bytes: the beginning that the index
   *   key gives, the id in 16 digits, JSON
   * - each of `textSets`. Hash: id -> text
   */
  set(name: string): string
  /** For SCAN: matches every key of the generation, whichever release wrote it. */
  readonly pattern: string
}

export function redisKeys({ prefix, version }: StoreName): RedisKeys {
  const store = `{${hashTag(prefix, version)}}`
  return {
    active: `${store}:active`,
    building: `${store}:building`,
    replaced: `${store}:replaced`,
    progress: `${store}:progress`,
    generation: (name) => {
      const generation = `${store}:${name}`
      return {
        checkpoints: `${generation}:checkpoints`,
        sizes: `${generation}:sizes`,
        set: (set) => `${generation}:set:${set}`,
        pattern: `${generation.replace(/[\\*?[\]]/g, '\\$&')}:*`,
      }
    },
  }
}

/**
 * The tag of a shard ends in a number that spreads the shards evenly over the slots, and so over the masters of a
 * cluster with evenly distributed slots. With random slots, two shards would often share a master.
 */
function hashTag(prefix: string, version: string): string {
  const tag = `${prefix}:${version}`
  const { shard, shards } = shardNamed(version)
  if (shards === 1) return tag
  for (let n = 0; ; n++) {
    const place = (slotOf(`${tag}.${n}`) / 16_384) * shards - shard
    if (place >= 0.25 && place < 0.75) return `${tag}.${n}` // well within its range: masters may differ by some slots
  }
}

/**
 * Sorted set: every version in use; score = when it was renewed, in milliseconds by Redis. It covers all stores under
 * the prefix, so it shares no slot with them, and a script that accesses it accesses nothing else.
 */
export function versionsKey(prefix: string): string {
  return `${prefix}:versions`
}
