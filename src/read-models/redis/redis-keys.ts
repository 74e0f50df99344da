import type { Offset } from '../../event-log/event-log.ts'

/**
 * Every key and channel that the read models use in Redis. All of one store have the hash tag `{prefix:version}`, so
 * that they share a slot of a Redis Cluster and one script can touch them together. Written by the scripts beside
 * this file only.
 */
export interface RedisKeys {
  /** Hash: `name` and `epoch` of the active generation. Lives as long as the store. */
  readonly active: string
  /** Channel: a `progressMessage` for each batch applied and each generation started. */
  readonly progress: string
  generation(name: string): GenerationKeys
}

/** The keys of one generation. They live as long as it. */
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
  /** Hash: `<partition>/<offset>` -> JSON of subject, reason and value. */
  readonly parked: string
  /** Sorted set read by member, all scores 0: `<partition>/<subject>` of every parked event. */
  readonly parkedSubjects: string
  /** Hash: idempotency key -> the decision as `encodeDecision` writes it. */
  readonly decisions: string
}

export function redisKeys({ prefix, version }: { prefix: string; version: string }): RedisKeys {
  const store = `{${prefix}:${version}}`
  return {
    active: `${store}:active`,
    progress: `${store}:progress`,
    generation: (name) => ({
      checkpoints: `${store}:${name}:checkpoints`,
      documents: `${store}:${name}:documents`,
      index: (index) => `${store}:${name}:index:${index}`,
      parked: `${store}:${name}:parked`,
      parkedSubjects: `${store}:${name}:parked-subjects`,
      decisions: `${store}:${name}:decisions`,
    }),
  }
}

/** The field of the checkpoints hash that counts what was added to an index, or to the documents. */
export function addedField(index: string | undefined): string {
  return index === undefined ? 'added' : `added:${index}`
}

/** `<generation>` for a started one, `<generation> <partition> <next>` for an applied batch. */
export function progressMessage(generation: string, at?: Progress['at']): string {
  return at === undefined ? generation : `${generation} ${at.partition} ${at.next}`
}

export interface Progress {
  readonly generation: string
  readonly at: { readonly partition: number; readonly next: Offset } | undefined
}

/** Undefined for what is no progress message: anyone can publish. */
export function parseProgressMessage(message: string): Progress | undefined {
  const [, generation, partition, next] = /^(\S+)(?: (\d+) (\d+))?$/.exec(message) ?? []
  if (generation === undefined) return undefined
  return { generation, at: partition === undefined ? undefined : { partition: Number(partition), next: Number(next) } }
}
