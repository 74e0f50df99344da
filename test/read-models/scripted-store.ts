import { ServiceError } from '../../src/lib/errors.ts'
import { type Checkpoint, startOfPartition } from '../../src/read-models/checkpoint.ts'
import type { KeyDecision } from '../../src/read-models/key-decision.ts'
import type {
  ActiveGeneration,
  AppliedTo,
  RangeAnswer,
  RangeQuery,
  ReadModels,
  ReadModelsListener,
} from '../../src/read-models/read-models.ts'

/** The reading side of a store, in the hands of a test: it says what is stored, and when the connection breaks. */
export class ScriptedStore implements Pick<ReadModels, 'active' | 'checkpoints' | 'range' | 'decision' | 'listen'> {
  generation: ActiveGeneration | undefined = { name: 'first', epoch: 'epoch', continues: undefined }
  readonly next = new Map<number, number>()
  /** Ids of documents; each document is its id as text. */
  ids: number[] = []
  added = 0
  readonly decisions = new Map<string, KeyDecision>()
  away = false
  reads = { range: 0, checkpoints: 0 }
  #held: Promise<void> | undefined
  readonly #listeners = new Set<ReadModelsListener>()

  async active(): Promise<ActiveGeneration | undefined> {
    this.#answer()
    return this.generation
  }

  async checkpoints(generation: string): Promise<Map<number, Checkpoint> | undefined> {
    this.#answer()
    this.reads.checkpoints++
    const checkpoints = generation === this.generation?.name ? this.#checkpoints() : undefined
    await this.#held
    return checkpoints
  }

  async range(
    generation: string,
    { from, to = Number.MAX_SAFE_INTEGER, limit }: Omit<RangeQuery, 'index'>,
  ): Promise<RangeAnswer> {
    this.#answer()
    this.reads.range++
    const isThere = generation === this.generation?.name
    const ids = isThere ? this.ids : []
    const inRange = ids.filter((id) => id >= from && id <= to)
    const shown = inRange.slice(0, limit)
    const answer = {
      documents: shown.join(','),
      count: shown.length,
      last: inRange.length > limit ? shown.at(-1) : undefined,
      moment: {
        active: this.generation?.name,
        checkpoints: isThere ? this.#checkpoints() : new Map<number, Checkpoint>(),
      },
      held: ids.length,
      added: isThere ? this.added : 0,
    }
    await this.#held
    return answer
  }

  async decision(generation: string, key: string): Promise<KeyDecision | undefined> {
    this.#answer()
    return generation === this.generation?.name ? this.decisions.get(key) : undefined
  }

  /** From now on what is read is on its way, as it was when it was read, until what this returns is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held = promise
    return () => {
      this.#held = undefined
      resolve()
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
  apply(id: number, at: Partial<AppliedTo> & Pick<AppliedTo, 'partition' | 'next'>, announce = true): void {
    this.ids = [...this.ids, id].sort((a, b) => a - b)
    this.added++
    this.next.set(at.partition, at.next)
    if (!announce) return
    for (const listener of this.#listeners) listener.progress(this.generation?.name ?? '', { parked: [], ...at })
  }

  flush(): void {
    this.generation = undefined
    this.next.clear()
    this.ids = []
    this.added = 0
    this.decisions.clear()
  }

  start(name: string, epoch = 'epoch'): void {
    this.flush()
    this.generation = { name, epoch, continues: undefined }
    for (const listener of this.#listeners) listener.progress(name)
  }

  /** Another generation takes the place of the active one, with all that is in it. */
  takeOver(name: string, announce = true): void {
    this.generation = { name, epoch: 'epoch', continues: this.generation?.name }
    if (announce) for (const listener of this.#listeners) listener.progress(name)
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
