import { type Checkpoint, decodeCheckpoint, startOfPartition } from '../checkpoint.ts'
import type { Contents, DecidedKeys, Entries, ParkedEvents, ParkedThere, Place } from '../inspection.ts'
import { decodeDecision, type KeyDecision } from '../key-decision.ts'
import { Listeners } from '../listeners.ts'
import type {
  ActiveGeneration,
  ApplyResult,
  Batch,
  Generation,
  ParkedEvent,
  PartitionState,
  RangeAnswer,
  RangeQuery,
  ReadModels,
  ReadModelsListener,
} from '../read-models.ts'
import type { StoredGeneration, StoredVersion } from '../upkeep.ts'
import { applyBatchArguments } from './apply-batch-arguments.ts'
import { progressMessage } from './progress-message.ts'
import { RangeReader } from './range-reader.ts'
import { RedisCalls } from './redis-calls.ts'
import type { ConnectionLogger } from './redis-connection.ts'
import { openConnections, type RedisConnections } from './redis-connections.ts'
import { RedisInspection } from './redis-inspection.ts'
import { type RedisKeys, redisKeys, type StoreName } from './redis-keys.ts'
import { RedisProgress } from './redis-progress.ts'
import { RedisUpkeep } from './redis-upkeep.ts'
import { decodeParkedEvent } from './stored-parked-event.ts'
import { pairs, storedState } from './stored-state.ts'

export interface RedisReadModelsOptions extends StoreName {
  /** redis:// or rediss:// */
  readonly url: string
  readonly logger: ConnectionLogger
  /** How long to wait for a server that does not answer yet; 30 s when omitted. */
  readonly openTimeoutMs?: number | undefined
}

const defaultOpenTimeoutMs = 30_000

/**
 * Read models in Redis 6.2 or later, or on one master of a Redis Cluster. Resolves once the server answers; throws
 * OutOfReachError when it does not in time, and an Error that says what to do when it refuses this client or may evict keys.
 */
export async function openRedisReadModels({
  url,
  prefix,
  version,
  logger,
  openTimeoutMs = defaultOpenTimeoutMs,
}: RedisReadModelsOptions): Promise<ReadModels> {
  const name = { prefix, version }
  return new RedisReadModels(await openConnections(url, redisKeys(name).active, logger, openTimeoutMs), name)
}

class RedisReadModels implements ReadModels {
  readonly #connections: RedisConnections
  readonly #calls: RedisCalls
  readonly #keys: RedisKeys
  readonly #listeners = new Listeners({ connected: false })
  readonly #progress: RedisProgress
  readonly #ranges: RangeReader
  readonly #inspection: RedisInspection
  readonly #upkeep: RedisUpkeep

  constructor(connections: RedisConnections, name: StoreName) {
    this.#connections = connections
    this.#calls = new RedisCalls(connections.commands)
    this.#keys = redisKeys(name)
    this.#progress = new RedisProgress(connections.subscriber, this.#keys.progress, this.#listeners)
    this.#ranges = new RangeReader(this.#keys, (names, args) =>
      this.#calls.answer((redis) => redis.readRanges(names.length, names, args)),
    )
    this.#inspection = new RedisInspection(this.#calls, this.#keys)
    this.#upkeep = new RedisUpkeep(this.#calls, (key) => new RedisCalls(connections.to(key)), name)
  }

  async active(): Promise<ActiveGeneration | undefined> {
    const { name, epoch, continues } = await this.#calls.answer((redis) => redis.hgetall(this.#keys.active))
    return name === undefined || epoch === undefined ? undefined : { name, epoch, continues: continues || undefined }
  }

  async start({ name, epoch }: Generation, instead: string | undefined): Promise<void> {
    const { active, replaced, progress } = this.#keys
    const { checkpoints } = this.#keys.generation(name)
    const args = [name, epoch, instead ?? '', progress, progressMessage(name)]
    await this.#calls.answer((redis) => redis.startGeneration(active, replaced, checkpoints, ...args))
  }

  async checkpoints(generation: string): Promise<ReadonlyMap<number, Checkpoint> | undefined> {
    const { checkpoints } = this.#keys.generation(generation)
    const fields = await this.#calls.answer((redis) => redis.hgetall(checkpoints))
    return fields.epoch === undefined ? undefined : storedState('', Object.entries(fields).flat()).moment.checkpoints
  }

  async partitionStates(
    generation: string,
    partitions: readonly number[],
  ): Promise<Map<number, PartitionState> | undefined> {
    const { checkpoints, parkedSubjects } = this.#keys.generation(generation)
    const states = await this.#calls.answer((redis) =>
      redis.partitionStates(checkpoints, parkedSubjects, ...partitions.map(String)),
    )
    if (states === null) return undefined
    return new Map(partitions.map((partition, i) => [partition, partitionState(states[i] ?? ['', []])]))
  }

  async parkedUnder(generation: string, partition: number, subject: string): Promise<readonly ParkedEvent[]> {
    const { parked, parkedOffsets } = this.#keys.generation(generation)
    const found = await this.#calls.answer((redis) =>
      redis.parkedUnder(parked, parkedOffsets, String(partition), subject),
    )
    const events = pairs(found).map(([offset, text]) => decodeParkedEvent(Number(offset), text))
    return events.sort((a, b) => a.offset - b.offset)
  }

  async apply(generation: string, batch: Batch): Promise<ApplyResult> {
    const { keys, args } = applyBatchArguments(this.#keys, generation, batch)
    const [outcome, ...rest] = await this.#calls.answer((redis) => redis.applyBatch(keys.length, keys, args))
    if (outcome === 'ids_taken') return { outcome, tags: new Map(pairs(rest).map(([id, tag]) => [Number(id), tag])) }
    if (outcome === 'keys_decided') return { outcome, keys: rest }
    if (outcome === 'applied' || outcome === 'checkpoint_mismatch' || outcome === 'generation_gone') return { outcome }
    throw new Error(`apply-batch.lua returned ${outcome}`)
  }

  range(generation: string, query: RangeQuery): Promise<RangeAnswer> {
    return this.#ranges.read(generation, query)
  }

  async decision(generation: string, key: string): Promise<KeyDecision | undefined> {
    const { decisions } = this.#keys.generation(generation)
    const text = await this.#calls.answer((redis) => redis.hget(decisions, key))
    return text === null ? undefined : decodeDecision(key, text)
  }

  contents(generation: string): Promise<Contents | undefined> {
    return this.#inspection.contents(generation)
  }

  entries(generation: string, query: Pick<RangeQuery, 'index' | 'from' | 'limit'>): Promise<Entries | undefined> {
    return this.#inspection.entries(generation, query)
  }

  decisions(generation: string, from: string, limit: number): Promise<DecidedKeys | undefined> {
    return this.#inspection.decisions(generation, from, limit)
  }

  parked(generation: string, from: string, limit: number): Promise<ParkedEvents | undefined> {
    return this.#inspection.parked(generation, from, limit)
  }

  parkedAt(generation: string, place: Place): Promise<ParkedThere | undefined> {
    return this.#inspection.parkedAt(generation, place)
  }

  generations(): Promise<readonly StoredGeneration[]> {
    return this.#upkeep.generations()
  }

  build(generation: Generation): Promise<Generation> {
    return this.#upkeep.build(generation)
  }

  activate(name: string): Promise<'activated' | 'behind' | 'incomplete' | 'not_building'> {
    return this.#upkeep.activate(name)
  }

  remove(name: string): Promise<boolean> {
    return this.#upkeep.remove(name)
  }

  renew(): Promise<void> {
    return this.#upkeep.renew()
  }

  versions(): Promise<readonly StoredVersion[]> {
    return this.#upkeep.versions()
  }

  prune(graceMs: number): Promise<readonly string[]> {
    return this.#upkeep.prune(graceMs)
  }

  listen(listener: ReadModelsListener): () => void {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    this.#progress.close()
    await this.#connections.close()
  }
}

function partitionState([checkpoint, parked]: [checkpoint: string, parkedSubjects: string[]]): PartitionState {
  return {
    checkpoint: checkpoint === '' ? startOfPartition : decodeCheckpoint(checkpoint),
    parkedSubjects: new Set(parked.map((member) => member.slice(member.indexOf('/') + 1))),
  }
}
