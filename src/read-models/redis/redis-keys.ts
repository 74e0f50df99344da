import slotOf from 'cluster-key-slot'
import type { IdempotencyKey } from '../idempotency-record.ts'
import { shardNamed } from '../shards.ts'

/** What all keys of one store begin with; another version of the read models has a store of its own. */
export interface StoreName {
  readonly prefix: string
  readonly version: string
}

/**
 * Every key and channel that the read models use in Redis. All of one store have one hash tag, `{prefix:version}`, so
 * that they share a slot of a Redis Cluster and one script can touch them together. Written by the scripts beside
 * this file only. Releases before had `active`, `building`, `replaced` and `checkpoints` too, with these fields: their
 * versions are listed and pruned by this one.
 */
export interface RedisKeys {
  /**
   * Hash: `name` and `epoch` (the log id) of the active generation, `since` when it is (milliseconds, by Redis), which one
   * it `continues`, or '', and when `apply` to it was last `paused`. Lives as long as the store.
   */
  readonly active: string
  /** Hash: `name` and `epoch` of the generation being built, `since` when it was last asked for. Lives as long as it is built. */
  readonly building: string
  /**
   * Sorted set: the generations that were active once and those being removed, until their last key is gone; score =
   * since when, in milliseconds.
   */
  readonly replaced: string
  /** Channel: a `progressMessage` for each batch applied to the active generation, and for each that becomes active. */
  readonly progress: string
  generation(name: string): GenerationKeys
}

/** The keys of one generation. They live as long as it, and are removed together. */
export interface GenerationKeys {
  /**
   * Hash. `epoch`: the log id; present from the start, so that the key exists as long as its generation.
   * `<partition>`: the checkpoint as `encodeCheckpoint` writes it.
   */
  readonly checkpoints: string
  /** Hash: the name of each set -> how much `apply-batch.lua` has put into it, less what it took out. */
  readonly sizes: string
  /**
   * By name:
   * - a collection. Sorted set, score = id: JSON, version and row, with a NUL in between, or without row
   * - an index, `<collection>:<index>`. Sorted set, score = id: JSON alone
   * - `rows`. Hash: stream -> row as `encodeRow` writes it, of streams that no document shows
   * - `keys`. Hash: `<partition>/<idempotency key>` -> record as `encodeIdempotencyRecord` writes it
   * - `parked`. Hash: `<partition>/<offset>` -> what `encodeParkedEvent` gives
   * - `parked-queue`. Sorted set read by member, all scores 0: `queueMember` of each of these
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

export function keyField({ partition, key }: IdempotencyKey): string {
  return `${partition}/${key}`
}

/**
 * That of a shard has a number behind it, by which the shards are spread evenly over the slots, and with them over the
 * masters of a cluster that has the slots evenly: left to chance, two would often share one.
 */
function hashTag(prefix: string, version: string): string {
  const tag = `${prefix}:${version}`
  const { shard, shards } = shardNamed(version)
  if (shards === 1) return tag
  for (let n = 0; ; n++) {
    const place = (slotOf(`${tag}.${n}`) / 16_384) * shards - shard
    if (place >= 0.25 && place < 0.75) return `${tag}.${n}` // well within its part: masters may differ by some slots
  }
}

/**
 * Sorted set: every version in use, score = when it was renewed, in milliseconds by Redis. Of all stores under the
 * prefix, so it shares no slot with them: a script that touches it touches nothing else.
 */
export function versionsKey(prefix: string): string {
  return `${prefix}:versions`
}
