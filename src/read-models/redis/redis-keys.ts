import { shardNamed } from '../shards.ts'
import { hashSlot, slots } from './hash-slot.ts'

/** What all keys of one store begin with; another version of the read models has a store of its own. */
export interface StoreName {
  readonly prefix: string
  readonly version: string
}

/**
 * Every key and channel that the read models use in Redis. All of one store have one hash tag, `{prefix:version}`, so
 * that they share a slot of a Redis Cluster and one script can touch them together. Written by the scripts beside
 * this file only.
 */
export interface RedisKeys {
  /**
   * Hash: `name` and `epoch` of the active generation, `since` when it is (milliseconds, by Redis), and which one it
   * `continues`, or ''. Lives as long as the store.
   */
  readonly active: string
  /** Hash: `name` and `epoch` of the generation being built, `since` when it was last asked for. Lives as long as it is built. */
  readonly building: string
  /** Sorted set: the generations that were active once and are not removed yet; score = since when, in milliseconds. */
  readonly replaced: string
  /** Channel: a `progressMessage` for each batch applied to the active generation, and for each that becomes active. */
  readonly progress: string
  generation(name: string): GenerationKeys
}

/** The keys of one generation. They live as long as it, and are removed together. */
export interface GenerationKeys {
  /**
   * Hash. `epoch`: of the log; present from the start, so that the key exists as long as its generation.
   * `<partition>`: the checkpoint as `encodeCheckpoint` writes it. `added` and `added:<index>`: how many members were
   * ever added to the documents and to each index.
   */
  readonly checkpoints: string
  /** Sorted set: score = id, member = document followed by its tag of `eventTagLength` characters. */
  readonly documents: string
  /** Sorted set: score = id, member = document. */
  index(name: string): string
  /** Hash: name -> number. Not among the checkpoints, as they are read with every range. */
  readonly counters: string
  /** Hash: `<partition>/<offset>` -> JSON of subject, reason and value. */
  readonly parked: string
  /** Sorted set read by member, all scores 0: `<partition>/<subject>/<offset>` of every parked event. */
  readonly parkedOffsets: string
  /** Sorted set read by member, all scores 0: `<partition>/<subject>` of every subject with parked events. */
  readonly parkedSubjects: string
  /** Hash: idempotency key -> the decision as `encodeDecision` writes it. */
  readonly decisions: string
}

export function redisKeys({ prefix, version }: StoreName): RedisKeys {
  const store = `{${hashTag(prefix, version)}}`
  return {
    active: `${store}:active`,
    building: `${store}:building`,
    replaced: `${store}:replaced`,
    progress: `${store}:progress`,
    generation: (name) => ({
      checkpoints: `${store}:${name}:checkpoints`,
      documents: `${store}:${name}:documents`,
      index: (index) => `${store}:${name}:index:${index}`,
      counters: `${store}:${name}:counters`,
      parked: `${store}:${name}:parked`,
      parkedOffsets: `${store}:${name}:parked-offsets`,
      parkedSubjects: `${store}:${name}:parked-subjects`,
      decisions: `${store}:${name}:decisions`,
    }),
  }
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
    const place = (hashSlot(`${tag}.${n}`) / slots) * shards - shard
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

/** The field of the checkpoints hash that counts what was added to an index, or to the documents. */
export function addedField(index: string | undefined): string {
  return index === undefined ? 'added' : `added:${index}`
}

/** The index that a field of the checkpoints hash counts; undefined for any other field. */
export function indexOfField(field: string): string | undefined {
  return field.startsWith('added:') ? field.slice('added:'.length) : undefined
}
