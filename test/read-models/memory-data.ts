import { type Checkpoint, encodeCheckpoint, startOfPartition } from '../../src/read-models/checkpoint.ts'
import type { Contents, Size } from '../../src/read-models/inspection.ts'
import type { KeyDecision } from '../../src/read-models/key-decision.ts'
import type { ApplyResult, Batch, Insert, ParkedAt } from '../../src/read-models/read-models.ts'
import type { StoredGeneration, StoredVersion } from '../../src/read-models/upkeep.ts'

/** What stores share that are opened on the same data: the versions by name. */
export class MemoryData {
  readonly versions = new Map<string, VersionData>()

  version(name: string): VersionData {
    const version = this.versions.get(name) ?? new VersionData()
    this.versions.set(name, version)
    return version
  }

  renewed(): StoredVersion[] {
    return [...this.versions].flatMap(([version, { renewed }]) => (renewed === undefined ? [] : { version, renewed }))
  }
}

export class VersionData {
  renewed: number | undefined
  readonly generations = new Map<string, GenerationData>()

  /** The generation that is active, or the one that is being built. */
  inState(state: 'active' | 'building'): GenerationData | undefined {
    return [...this.generations.values()].find((generation) => generation.state === state)
  }

  /** The active one first. */
  stored(): StoredGeneration[] {
    const shown = ({ name, epoch, state, since }: StoredGeneration) => ({ name, epoch, state, since })
    const isActive = ({ state }: StoredGeneration) => Number(state === 'active')
    return [...this.generations.values()].map(shown).sort((a, b) => isActive(b) - isActive(a))
  }
}

/** The whole collection or one index. `added` is kept apart from the documents, so that their loss shows. */
export interface Collection {
  readonly inserts: Map<number, Insert>
  added: number
}

export class GenerationData {
  readonly name: string
  readonly epoch: string
  state: StoredGeneration['state']
  since = Date.now()
  continues: string | undefined
  readonly checkpoints = new Map<number, Checkpoint>()
  /** By partition and offset. */
  readonly parked = new Map<string, ParkedAt>()
  readonly parkedSubjects = new Map<number, Set<string>>()
  readonly documents: Collection = { inserts: new Map(), added: 0 }
  readonly indexes = new Map<string, Collection>()
  readonly counters = new Map<string, number>()
  readonly decisions = new Map<string, KeyDecision>()

  constructor({ name, epoch }: { name: string; epoch: string }, state: StoredGeneration['state']) {
    this.name = name
    this.epoch = epoch
    this.state = state
  }

  become(state: StoredGeneration['state']): void {
    this.state = state
    this.since = Date.now()
  }

  apply(batch: Batch): ApplyResult {
    const stored = this.checkpoints.get(batch.partition) ?? startOfPartition
    if (encodeCheckpoint(stored) !== encodeCheckpoint(batch.expected)) return { outcome: 'checkpoint_mismatch' }
    const keys = batch.decisions.map(({ key }) => key).filter((key) => this.decisions.has(key))
    if (keys.length > 0) return { outcome: 'keys_decided', keys }
    const taken = batch.inserts.flatMap(({ id }) => this.documents.inserts.get(id) ?? [])
    if (taken.length > 0) return { outcome: 'ids_taken', tags: new Map(taken.map(({ id, tag }) => [id, tag])) }
    for (const insert of batch.inserts) this.#insert(insert)
    this.count(batch)
    for (const decision of batch.decisions) this.decisions.set(decision.key, decision)
    this.#park(batch)
    this.checkpoints.set(batch.partition, batch.checkpoint)
    return { outcome: 'applied' }
  }

  count({ counters }: Pick<Batch, 'counters'>): void {
    for (const [name, added] of counters) this.counters.set(name, (this.counters.get(name) ?? 0) + added)
  }

  /** In order of id. */
  inserts(index: string | undefined): Insert[] {
    const { inserts } = this.collection(index)
    return [...inserts.values()].sort((a, b) => a.id - b.id)
  }

  size(index: string | undefined): Size {
    const { inserts, added } = this.collection(index)
    return { held: inserts.size, added }
  }

  contents(): Omit<Contents, 'moment'> {
    return {
      documents: this.size(undefined),
      indexes: new Map([...this.indexes.keys()].map((index) => [index, this.size(index)])),
      counters: new Map(this.counters),
      parked: this.parked.size,
      decisions: this.decisions.size,
    }
  }

  parkedInOrder(): ParkedAt[] {
    return [...this.parked.values()].sort((a, b) => a.partition - b.partition || a.offset - b.offset)
  }

  isComplete(): boolean {
    return [undefined, ...this.indexes.keys()]
      .map((index) => this.size(index))
      .every(({ held, added }) => held === added)
  }

  collection(index: string | undefined): Collection {
    if (index === undefined) return this.documents
    return this.indexes.get(index) ?? { inserts: new Map(), added: 0 }
  }

  #insert(insert: Insert): void {
    for (const index of [undefined, ...insert.indexes]) {
      const collection = this.collection(index)
      if (index !== undefined) this.indexes.set(index, collection)
      collection.inserts.set(insert.id, insert)
      collection.added++
    }
  }

  #park({ partition, parked, unparked, freed }: Batch): void {
    const subjects = this.parkedSubjects.get(partition) ?? new Set()
    this.parkedSubjects.set(partition, subjects)
    for (const offset of unparked) this.parked.delete(`${partition}/${offset}`)
    for (const subject of freed) subjects.delete(subject)
    for (const event of parked) {
      this.parked.set(`${partition}/${event.offset}`, { ...event, partition })
      subjects.add(event.subject)
    }
  }
}
