import type { Checkpoint } from '../checkpoint.ts'
import { decodeDecision, type KeyDecision } from '../key-decision.ts'
import { Listeners } from '../listeners.ts'
import type {
  ActiveGeneration,
  ApplyResult,
  Batch,
  Moment,
  PartitionState,
  RangeAnswer,
  RangeQuery,
  ReadModels,
  ReadModelsListener,
} from '../read-models.ts'
import { applyBatch, storedCheckpoint } from './sqlite-apply.ts'
import { type CollectionRow, SqliteDatabase } from './sqlite-database.ts'
import { collectionName } from './sqlite-tables.ts'
import { SqliteUpkeep } from './sqlite-upkeep.ts'

export interface SqliteReadModelsOptions {
  readonly file: string
  readonly version: string
  /** Whether what a release with another layout has left is dropped: what serves such a release must not have it open. */
  readonly isOwner?: boolean
}

/**
 * Read models in a file of SQLite. Several processes may open it at once; progress is told within one store only.
 * Throws OutOfReachError when the file has another layout, unless it is the owner who opens it.
 */
export function openSqliteReadModels({ file, version, isOwner = false }: SqliteReadModelsOptions): ReadModels {
  return new SqliteReadModels(new SqliteDatabase(file, version, isOwner))
}

/** What goes with every answer from a generation, as long as nothing is written. */
interface State {
  readonly generation: string
  readonly writes: string
  readonly moment: Moment
  /** By name; none when the generation is not there. */
  readonly collections: ReadonlyMap<string, CollectionRow>
}

const nothing = { documents: '', count: 0, last: undefined, held: 0, added: 0 }

class SqliteReadModels extends SqliteUpkeep implements ReadModels {
  readonly #listeners = new Listeners({ connected: true })
  #lastState: State | undefined

  protected started(generation: string): void {
    this.#listeners.progress(generation)
  }

  async active(): Promise<ActiveGeneration | undefined> {
    const active = this.database.answer(() => this.database.inState('active'))
    return active && { name: active.name, epoch: active.epoch, continues: active.continues ?? undefined }
  }

  async checkpoints(generation: string): Promise<ReadonlyMap<number, Checkpoint> | undefined> {
    return this.database.read(() => {
      const key = this.database.key(generation)
      return key === undefined ? undefined : this.database.checkpoints(key)
    })
  }

  async partitionStates(
    generation: string,
    partitions: readonly number[],
  ): Promise<Map<number, PartitionState> | undefined> {
    return this.database.read(() => {
      const key = this.database.key(generation)
      if (key === undefined) return undefined
      return new Map(partitions.map((partition) => [partition, this.#partitionState(key, partition)]))
    })
  }

  async apply(generation: string, batch: Batch): Promise<ApplyResult> {
    let isActive = false
    const result = this.database.write(
      (): ApplyResult => {
        const found = this.database.generation(generation)
        if (found === undefined || found.state === 'replaced') return { outcome: 'generation_gone' }
        isActive = found.state === 'active'
        return applyBatch(this.database, found.key, batch)
      },
      ({ outcome }) => outcome === 'applied',
    )
    if (result.outcome === 'applied' && isActive) {
      const parked = batch.parked.map(({ offset }) => offset)
      this.#listeners.progress(generation, { partition: batch.partition, next: batch.checkpoint.next, parked })
    }
    return result
  }

  async range(generation: string, query: RangeQuery): Promise<RangeAnswer> {
    return this.database.answer(() => {
      for (;;) {
        const writes = this.#writes()
        const { moment, collections } = this.#state(generation, writes)
        const collection = collections.get(collectionName(query.index))
        if (collection === undefined) return { ...nothing, moment }
        const found = this.#range(collection.key, query)
        if (this.#writes() !== writes) continue // another process wrote in between
        const { added } = collection
        // Unlike Redis, SQLite drops nothing by itself: counting a large table would only cost time.
        return { ...found, moment, held: added, added }
      }
    })
  }

  async decision(generation: string, key: string): Promise<KeyDecision | undefined> {
    return this.database.read(() => {
      const found = this.database.key(generation)
      if (found === undefined) return undefined
      const text = this.database.statements.decision.get(found, key)?.decision as string | undefined
      return text === undefined ? undefined : decodeDecision(key, text)
    })
  }

  listen(listener: ReadModelsListener): () => void {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    if (!this.database.db.isOpen) return
    this.database.db.close()
    this.#listeners.disconnected()
  }

  /** Another text whenever anybody may have written: the first number counts what other connections did. */
  #writes(): string {
    return `${this.database.statements.dataVersion.get()?.data_version} ${this.database.writes}`
  }

  /** Read once, and again after anything was written. */
  #state(generation: string, writes: string): State {
    if (this.#lastState?.generation === generation && this.#lastState.writes === writes) return this.#lastState
    const key = this.database.key(generation)
    const active = this.database.inState('active')?.name
    const moment = key === undefined ? { active, checkpoints: new Map() } : this.database.moment(key)
    const rows = key === undefined ? [] : this.database.collectionsOf(key)
    this.#lastState = { generation, writes, moment, collections: new Map(rows.map((row) => [row.name, row])) }
    return this.#lastState
  }

  #partitionState(key: number, partition: number): PartitionState {
    const parked = this.database.statements.parkedSubjects.all(key, partition) as { subject: string }[]
    return {
      checkpoint: storedCheckpoint(this.database, key, partition),
      parkedSubjects: new Set(parked.map(({ subject }) => subject)),
    }
  }

  #range(collection: number, { from, to, limit }: RangeQuery): Pick<RangeAnswer, 'documents' | 'count' | 'last'> {
    const found = this.database.collections.table(collection).range.all(from, to ?? Number.MAX_SAFE_INTEGER, limit + 1)
    const shown = found.slice(0, limit)
    const last = found.length > limit ? Number(shown.at(-1)?.id) : undefined
    return { documents: shown.map(({ document }) => document).join(','), count: shown.length, last }
  }
}
