import { ServiceError } from '../../src/errors.ts'
import { type Checkpoint, startOfPartition } from '../../src/read-models/checkpoint.ts'
import type {
  Generation,
  Proof,
  RangeQuery,
  ReadModels,
  ReadModelsListener,
} from '../../src/read-models/read-models.ts'

/** The reading side of a store, in the hands of a test: it says what is stored, and when the connection breaks. */
export class ScriptedStore implements Pick<ReadModels, 'active' | 'checkpoints' | 'range' | 'provenRange' | 'listen'> {
  generation: Generation | undefined = { name: 'first', epoch: 'epoch' }
  readonly next = new Map<number, number>()
  /** Ids of documents; each document is its id as text. */
  ids: number[] = []
  added = 0
  away = false
  reads = { range: 0, provenRange: 0, checkpoints: 0 }
  readonly #listeners = new Set<ReadModelsListener>()

  async active(): Promise<Generation | undefined> {
    this.#answer()
    return this.generation
  }

  async checkpoints(generation: string): Promise<Map<number, Checkpoint> | undefined> {
    this.#answer()
    this.reads.checkpoints++
    return generation === this.generation?.name ? this.#checkpoints() : undefined
  }

  async range(generation: string, { from, to = Number.MAX_SAFE_INTEGER, limit }: RangeQuery): Promise<string[]> {
    this.#answer()
    this.reads.range++
    if (generation !== this.generation?.name) return []
    return this.ids
      .filter((id) => id >= from && id <= to)
      .slice(0, limit)
      .map(String)
  }

  async provenRange(generation: string, query: RangeQuery): Promise<{ documents: string[]; proof: Proof }> {
    const documents = await this.range(generation, query)
    this.reads.provenRange++
    const held = generation === this.generation?.name ? this.ids.length : 0
    return {
      documents,
      proof: { active: this.generation?.name, checkpoints: this.#checkpoints(), held, added: this.added },
    }
  }

  listen(listener: ReadModelsListener): () => void {
    this.#listeners.add(listener)
    if (!this.away) listener.connected()
    return () => this.#listeners.delete(listener)
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /** Adds a document and moves the position, as an apply does. */
  apply(id: number, at: { partition: number; next: number }, announce = true): void {
    this.ids = [...this.ids, id].sort((a, b) => a - b)
    this.added++
    this.next.set(at.partition, at.next)
    if (announce) for (const listener of this.#listeners) listener.progress(this.generation?.name ?? '', at)
  }

  flush(): void {
    this.generation = undefined
    this.next.clear()
    this.ids = []
    this.added = 0
  }

  start(name: string, epoch = 'epoch'): void {
    this.flush()
    this.generation = { name, epoch }
    for (const listener of this.#listeners) listener.progress(name)
  }

  disconnect(): void {
    this.away = true
    for (const listener of this.#listeners) listener.disconnected()
  }

  connect(): void {
    this.away = false
    for (const listener of this.#listeners) listener.connected()
  }

  #checkpoints(): Map<number, Checkpoint> {
    return new Map([...this.next].map(([partition, next]) => [partition, { ...startOfPartition, next }]))
  }

  #answer(): void {
    if (this.away) throw new ServiceError('read_model_unavailable', 'away')
  }
}
