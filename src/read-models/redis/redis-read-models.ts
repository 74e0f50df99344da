import type { Redis } from 'ioredis'
import { ServiceError } from '../../errors.ts'
import { type Checkpoint, decodeCheckpoint, startOfPartition } from '../checkpoint.ts'
import { decodeDecision, type KeyDecision } from '../key-decision.ts'
import { Listeners } from '../listeners.ts'
import type {
  ApplyResult,
  Batch,
  Generation,
  PartitionState,
  RangeAnswer,
  RangeQuery,
  ReadModels,
  ReadModelsListener,
} from '../read-models.ts'
import { applyBatchArguments } from './apply-batch-arguments.ts'
import { RangeReader } from './range-reader.ts'
import { type ConnectionLogger, connect, logStateChanges, refuseEviction, untilReady } from './redis-connection.ts'
import { progressMessage, type RedisKeys, redisKeys } from './redis-keys.ts'
import { RedisProgress } from './redis-progress.ts'
import { defineScripts } from './redis-scripts.ts'

export interface RedisReadModelsOptions {
  /** redis:// or rediss:// */
  readonly url: string
  /** What all keys begin with. */
  readonly prefix: string
  /** The version of the read models: another one has keys of its own. */
  readonly version: string
  readonly logger: ConnectionLogger
}

/**
 * Read models in Redis 6.2 or later. Resolves once the server answers, waiting up to 30 seconds for it; throws when
 * it does not, when it refuses this client, or when it may evict keys.
 */
export async function openRedisReadModels({
  url,
  prefix,
  version,
  logger,
}: RedisReadModelsOptions): Promise<ReadModels> {
  const commands = connect(url, {})
  const subscriber = connect(url, { autoResubscribe: false, socketTimeout: 1000 })
  try {
    await Promise.all([untilReady(commands), untilReady(subscriber)])
    await refuseEviction(commands, logger)
  } catch (error) {
    commands.disconnect()
    subscriber.disconnect()
    throw error
  }
  logStateChanges(commands, logger)
  defineScripts(commands)
  return new RedisReadModels(commands, subscriber, redisKeys({ prefix, version }))
}

class RedisReadModels implements ReadModels {
  readonly #redis: Redis
  readonly #keys: RedisKeys
  readonly #listeners = new Listeners({ connected: false })
  readonly #progress: RedisProgress
  readonly #ranges: RangeReader

  constructor(redis: Redis, subscriber: Redis, keys: RedisKeys) {
    this.#redis = redis
    this.#keys = keys
    this.#progress = new RedisProgress(subscriber, keys.progress, this.#listeners)
    this.#ranges = new RangeReader(keys, (names, args) =>
      this.#answer(() => redis.readRanges(names.length, names, args)),
    )
  }

  async active(): Promise<Generation | undefined> {
    const { name, epoch } = await this.#answer(() => this.#redis.hgetall(this.#keys.active))
    return name === undefined || epoch === undefined ? undefined : { name, epoch }
  }

  async start({ name, epoch }: Generation, instead: string | undefined): Promise<void> {
    const { active, progress } = this.#keys
    const { checkpoints } = this.#keys.generation(name)
    await this.#answer(() =>
      this.#redis.startGeneration(active, checkpoints, name, epoch, instead ?? '', progress, progressMessage(name)),
    )
  }

  async checkpoints(generation: string): Promise<ReadonlyMap<number, Checkpoint> | undefined> {
    const fields = await this.#answer(() => this.#redis.hgetall(this.#keys.generation(generation).checkpoints))
    return fields.epoch === undefined ? undefined : checkpointsIn(Object.entries(fields))
  }

  async partitionStates(
    generation: string,
    partitions: readonly number[],
  ): Promise<Map<number, PartitionState> | undefined> {
    const { checkpoints, parkedSubjects } = this.#keys.generation(generation)
    const states = await this.#answer(() =>
      this.#redis.partitionStates(checkpoints, parkedSubjects, ...partitions.map(String)),
    )
    if (states === null) return undefined
    return new Map(partitions.map((partition, i) => [partition, partitionState(states[i] ?? ['', []])]))
  }

  async apply(generation: string, batch: Batch): Promise<ApplyResult> {
    const { keys, args } = applyBatchArguments(this.#keys, generation, batch)
    const [outcome, ...rest] = await this.#answer(() => this.#redis.applyBatch(keys.length, keys, args))
    if (outcome === 'ids_taken') return { outcome, tags: new Map(pairs(rest).map(([id, tag]) => [Number(id), tag])) }
    if (outcome === 'keys_decided') return { outcome, keys: rest }
    if (outcome === 'applied' || outcome === 'checkpoint_mismatch' || outcome === 'generation_gone') return { outcome }
    throw new Error(`apply-batch.lua returned ${outcome}`)
  }

  range(generation: string, query: RangeQuery): Promise<RangeAnswer> {
    return this.#ranges.read(generation, query)
  }

  async decision(generation: string, key: string): Promise<KeyDecision | undefined> {
    const text = await this.#answer(() => this.#redis.hget(this.#keys.generation(generation).decisions, key))
    return text === null ? undefined : decodeDecision(key, text)
  }

  listen(listener: ReadModelsListener): () => void {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    this.#progress.close()
    await this.#redis.quit().catch(() => {}) // lets what was sent be answered, where the server still answers
    this.#redis.disconnect()
  }

  async #answer<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (cause) {
      throw new ServiceError('read_model_unavailable', 'The read models do not answer.', { cause })
    }
  }
}

function checkpointsIn(fields: [field: string, value: string][]): ReadonlyMap<number, Checkpoint> {
  const partitions = fields.filter(([field]) => /^\d/.test(field))
  return new Map(partitions.map(([partition, text]) => [Number(partition), decodeCheckpoint(text)]))
}

function partitionState([checkpoint, parked]: [checkpoint: string, parkedSubjects: string[]]): PartitionState {
  return {
    checkpoint: checkpoint === '' ? startOfPartition : decodeCheckpoint(checkpoint),
    parkedSubjects: new Set(parked.map((member) => member.slice(member.indexOf('/') + 1))),
  }
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((first, i) => (i % 2 === 0 ? [[first, flat[i + 1] ?? ''] as [string, string]] : []))
}
