import { ServiceError } from '../../src/errors.ts'
import { type Checkpoint, encodeCheckpoint, startOfPartition } from '../../src/read-models/checkpoint.ts'
import type { KeyDecision } from '../../src/read-models/key-decision.ts'
import { Listeners } from '../../src/read-models/listeners.ts'
import type {
  ApplyResult,
  Batch,
  Generation,
  Insert,
  PartitionState,
  RangeAnswer,
  RangeQuery,
  ReadModels,
  ReadModelsListener,
} from '../../src/read-models/read-models.ts'

interface GenerationData {
  readonly generation: Generation
  readonly checkpoints: Map<number, Checkpoint>
  readonly parkedSubjects: Map<number, Set<string>>
  readonly inserts: Insert[]
  readonly decisions: Map<string, KeyDecision>
}

/** What stores share that are opened on the same data. */
export class MemoryData {
  readonly generations = new Map<string, GenerationData>()
  active: Generation | undefined
}

/** The port, implemented as simply as can be: what the adapters are compared with. */
export class MemoryReadModels implements ReadModels {
  readonly #data: MemoryData
  readonly #listeners = new Listeners({ connected: true })
  #closed = false

  constructor(data: MemoryData) {
    this.#data = data
  }

  async active(): Promise<Generation | undefined> {
    return this.#open().active
  }

  async start(generation: Generation, instead: string | undefined): Promise<void> {
    const data = this.#open()
    if (data.active?.name !== instead) return
    data.active = generation
    const empty = { checkpoints: new Map(), parkedSubjects: new Map(), inserts: [], decisions: new Map() }
    data.generations.set(generation.name, { generation, ...empty })
    this.#listeners.progress(generation.name)
  }

  async checkpoints(name: string): Promise<ReadonlyMap<number, Checkpoint> | undefined> {
    const generation = this.#open().generations.get(name)
    return generation && new Map(generation.checkpoints)
  }

  async partitionStates(name: string, partitions: readonly number[]): Promise<Map<number, PartitionState> | undefined> {
    const generation = this.#open().generations.get(name)
    if (generation === undefined) return undefined
    const stateOf = (partition: number) => ({
      checkpoint: generation.checkpoints.get(partition) ?? startOfPartition,
      parkedSubjects: new Set(generation.parkedSubjects.get(partition)),
    })
    return new Map(partitions.map((partition) => [partition, stateOf(partition)]))
  }

  async apply(
    name: string,
    { partition, expected, checkpoint, inserts, parked, decisions }: Batch,
  ): Promise<ApplyResult> {
    const generation = this.#open().generations.get(name)
    if (generation === undefined) return { outcome: 'generation_gone' }
    const stored = generation.checkpoints.get(partition) ?? startOfPartition
    if (encodeCheckpoint(stored) !== encodeCheckpoint(expected)) return { outcome: 'checkpoint_mismatch' }
    const keys = decisions.map(({ key }) => key).filter((key) => generation.decisions.has(key))
    if (keys.length > 0) return { outcome: 'keys_decided', keys }
    const taken = generation.inserts.filter((held) => inserts.some(({ id }) => id === held.id))
    if (taken.length > 0) return { outcome: 'ids_taken', tags: new Map(taken.map(({ id, tag }) => [id, tag])) }
    generation.inserts.push(...inserts)
    for (const decision of decisions) generation.decisions.set(decision.key, decision)
    const subjects = [...(generation.parkedSubjects.get(partition) ?? []), ...parked.map(({ subject }) => subject)]
    generation.parkedSubjects.set(partition, new Set(subjects))
    generation.checkpoints.set(partition, checkpoint)
    this.#listeners.progress(name, { partition, next: checkpoint.next })
    return { outcome: 'applied' }
  }

  async range(name: string, { index, from, to = Infinity, limit }: RangeQuery): Promise<RangeAnswer> {
    const { active, generations } = this.#open()
    const generation = generations.get(name)
    const all = (generation?.inserts ?? []).filter(({ indexes }) => index === undefined || indexes.includes(index))
    const inRange = all.filter(({ id }) => id >= from && id <= to).sort((a, b) => a.id - b.id)
    const shown = inRange.slice(0, limit)
    return {
      documents: shown.map(({ document }) => document).join(','),
      count: shown.length,
      last: inRange.length > limit ? shown.at(-1)?.id : undefined,
      moment: { active: active?.name, checkpoints: new Map(generation?.checkpoints) },
      held: all.length,
      added: all.length,
    }
  }

  async decision(name: string, key: string): Promise<KeyDecision | undefined> {
    return this.#open().generations.get(name)?.decisions.get(key)
  }

  listen(listener: ReadModelsListener): () => void {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#listeners.disconnected()
  }

  #open(): MemoryData {
    if (this.#closed) throw new ServiceError('read_model_unavailable', 'The read model is closed')
    return this.#data
  }
}
