import { DatabaseSync } from 'node:sqlite'
import { ServiceError } from '../../errors.ts'
import { type Checkpoint, decodeCheckpoint, encodeCheckpoint, startOfPartition } from '../checkpoint.ts'
import { decodeDecision, encodeDecision, type KeyDecision } from '../key-decision.ts'
import { Listeners } from '../listeners.ts'
import type {
  ApplyResult,
  Batch,
  Generation,
  Moment,
  PartitionState,
  RangeAnswer,
  RangeQuery,
  ReadModels,
  ReadModelsListener,
} from '../read-models.ts'
import { Collections, type Table } from './sqlite-collections.ts'
import { collectionName, layout, layoutVersion, prepare } from './sqlite-tables.ts'

/**
 * Read models in a file of SQLite. Several processes may open it at once; progress is told within one store only.
 * Throws when the file was written by a release with another layout.
 */
export function openSqliteReadModels({ file, version }: { file: string; version: string }): ReadModels {
  // Another process holds the write lock for the length of one batch; waiting for it stops this process.
  const db = new DatabaseSync(file, { timeout: 500 })
  // NORMAL: a power cut may take the last batches, which the projector then applies again from the log.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  const found = db.prepare('PRAGMA user_version').get()?.user_version
  if (found !== 0 && found !== layoutVersion) {
    db.close()
    throw new Error(
      `${file} has layout ${found} of the read models, not ${layoutVersion}: delete it, the log has it all`,
    )
  }
  if (found === 0) db.exec(layout)
  return new SqliteReadModels(db, version)
}

/** What goes with every answer from a generation, as long as nothing is written. */
interface State {
  readonly generation: string
  readonly version: number
  readonly moment: Moment
  /** By name; none when the generation is not there. */
  readonly collections: ReadonlyMap<string, Collection>
}

interface Collection {
  readonly key: number
  readonly added: number
}

/** A collection that a batch adds to. */
interface Filled {
  readonly key: number
  readonly table: Table
  added: number
}

const nothing = { documents: '', count: 0, last: undefined, held: 0, added: 0 }

class SqliteReadModels implements ReadModels {
  readonly #db: DatabaseSync
  readonly #version: string
  readonly #statements: ReturnType<typeof prepare>
  readonly #collections: Collections
  readonly #listeners = new Listeners({ connected: true })
  #lastState: State | undefined

  constructor(db: DatabaseSync, version: string) {
    this.#db = db
    this.#version = version
    this.#statements = prepare(db)
    this.#collections = new Collections(db)
  }

  async active(): Promise<Generation | undefined> {
    return this.#answer(() => this.#active())
  }

  async start({ name, epoch }: Generation, instead: string | undefined): Promise<void> {
    const started = this.#transaction('IMMEDIATE', () => {
      if (this.#active()?.name !== instead) return false
      const { lastInsertRowid: key } = this.#statements.insertGeneration.run(this.#version, name, epoch)
      this.#statements.setActive.run(this.#version, key)
      return true
    })
    if (started) this.#listeners.progress(name)
  }

  async checkpoints(generation: string): Promise<ReadonlyMap<number, Checkpoint> | undefined> {
    return this.#transaction('DEFERRED', () => {
      const key = this.#key(generation)
      return key === undefined ? undefined : this.#checkpoints(key)
    })
  }

  async partitionStates(
    generation: string,
    partitions: readonly number[],
  ): Promise<Map<number, PartitionState> | undefined> {
    return this.#transaction('DEFERRED', () => {
      const key = this.#key(generation)
      if (key === undefined) return undefined
      return new Map(partitions.map((partition) => [partition, this.#partitionState(key, partition)]))
    })
  }

  async apply(generation: string, batch: Batch): Promise<ApplyResult> {
    const result = this.#transaction(
      'IMMEDIATE',
      (): ApplyResult => {
        const key = this.#key(generation)
        if (key === undefined) return { outcome: 'generation_gone' }
        const stored = this.#partitionCheckpoint(key, batch.partition)
        if (encodeCheckpoint(stored) !== encodeCheckpoint(batch.expected)) return { outcome: 'checkpoint_mismatch' }
        const keys = batch.decisions
          .map(({ key: decided }) => decided)
          .filter((decided) => this.#decision(key, decided))
        if (keys.length > 0) return { outcome: 'keys_decided', keys }
        const tags = this.#insert(key, batch)
        if (tags.size > 0) return { outcome: 'ids_taken', tags }
        this.#write(key, batch)
        return { outcome: 'applied' }
      },
      ({ outcome }) => outcome === 'applied',
    )
    if (result.outcome === 'applied') {
      this.#listeners.progress(generation, { partition: batch.partition, next: batch.checkpoint.next })
    }
    return result
  }

  async range(generation: string, query: RangeQuery): Promise<RangeAnswer> {
    return this.#answer(() => {
      for (;;) {
        const version = this.#dataVersion()
        const { moment, collections } = this.#state(generation, version)
        const collection = collections.get(collectionName(query.index))
        if (collection === undefined) return { ...nothing, moment }
        const found = this.#range(collection.key, query)
        if (this.#dataVersion() !== version) continue // another process wrote in between
        const { added } = collection
        // Unlike Redis, SQLite drops nothing by itself: counting a large table would only cost time.
        return { ...found, moment, held: added, added }
      }
    })
  }

  async decision(generation: string, key: string): Promise<KeyDecision | undefined> {
    return this.#transaction('DEFERRED', () => {
      const found = this.#key(generation)
      const text = found === undefined ? undefined : this.#decision(found, key)
      return text === undefined ? undefined : decodeDecision(key, text)
    })
  }

  listen(listener: ReadModelsListener): () => void {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    if (!this.#db.isOpen) return
    this.#db.close()
    this.#listeners.disconnected()
  }

  /** Another number whenever a connection other than this one has committed something. */
  #dataVersion(): number {
    return Number(this.#statements.dataVersion.get()?.data_version)
  }

  /** Read once, and again after anything was written. */
  #state(generation: string, version: number): State {
    if (this.#lastState?.generation === generation && this.#lastState.version === version) return this.#lastState
    const key = this.#key(generation)
    const checkpoints = key === undefined ? new Map() : this.#checkpoints(key)
    const collections = key === undefined ? new Map() : this.#collectionsOf(key)
    this.#lastState = { generation, version, moment: { active: this.#active()?.name, checkpoints }, collections }
    return this.#lastState
  }

  #active(): Generation | undefined {
    return this.#statements.active.get(this.#version) as Generation | undefined
  }

  #key(generation: string): number | undefined {
    return this.#statements.generationKey.get(this.#version, generation)?.key as number | undefined
  }

  #checkpoints(key: number): ReadonlyMap<number, Checkpoint> {
    const rows = this.#statements.checkpoints.all(key) as { partition: number; checkpoint: string }[]
    return new Map(rows.map(({ partition, checkpoint }) => [partition, decodeCheckpoint(checkpoint)]))
  }

  #partitionCheckpoint(key: number, partition: number): Checkpoint {
    const text = this.#statements.checkpoint.get(key, partition)?.checkpoint as string | undefined
    return text === undefined ? startOfPartition : decodeCheckpoint(text)
  }

  #partitionState(key: number, partition: number): PartitionState {
    const parked = this.#statements.parkedSubjects.all(key, partition) as { subject: string }[]
    return {
      checkpoint: this.#partitionCheckpoint(key, partition),
      parkedSubjects: new Set(parked.map(({ subject }) => subject)),
    }
  }

  #decision(key: number, idempotencyKey: string): string | undefined {
    return this.#statements.decision.get(key, idempotencyKey)?.decision as string | undefined
  }

  #range(collection: number, { from, to, limit }: RangeQuery): Pick<RangeAnswer, 'documents' | 'count' | 'last'> {
    const highest = to ?? Number.MAX_SAFE_INTEGER
    const found = this.#collections.table(collection).range.all(from, highest, limit + 1)
    const shown = found.slice(0, limit)
    const last = found.length > limit ? Number(shown.at(-1)?.id) : undefined
    return { documents: shown.map(({ document }) => document).join(','), count: shown.length, last }
  }

  #collectionsOf(key: number): Map<string, Collection> {
    const rows = this.#statements.collections.all(key) as { name: string; key: number; added: number }[]
    return new Map(rows.map(({ name, ...collection }) => [name, collection]))
  }

  /** The tags of the documents that were there before: nothing of what was inserted may then be kept. */
  #insert(generation: number, { inserts }: Batch): Map<number, string> {
    const tags = new Map<number, string>()
    const filled = new Map<string, Filled>()
    const fill = (name: string, id: number, document: string, tag: string | null) => {
      const into = filled.get(name) ?? this.#toFill(generation, name)
      filled.set(name, into)
      if (into.table.insert.run(id, document, tag).changes === 1) into.added++
      else if (tag !== null) tags.set(id, String(into.table.tag.get(id)?.tag))
    }
    for (const { id, document, tag, indexes } of inserts) {
      fill(collectionName(undefined), id, document, tag)
      for (const index of indexes) fill(collectionName(index), id, document, null)
    }
    for (const { key, added } of filled.values()) this.#statements.addToCollection.run(added, key)
    return tags
  }

  #toFill(generation: number, name: string): Filled {
    let key = this.#statements.collectionKey.get(generation, name)?.key as number | undefined
    if (key === undefined) {
      key = Number(this.#statements.insertCollection.run(generation, name).lastInsertRowid)
      this.#collections.create(key)
    }
    return { key, table: this.#collections.table(key), added: 0 }
  }

  #write(key: number, { partition, checkpoint, parked, decisions }: Batch): void {
    const { insertParked, insertDecision, setCheckpoint } = this.#statements
    for (const { offset, subject, reason, value } of parked) {
      insertParked.run(key, partition, offset, subject, reason, value)
    }
    for (const decision of decisions) insertDecision.run(key, decision.key, encodeDecision(decision))
    setCheckpoint.run(key, partition, encodeCheckpoint(checkpoint))
  }

  /** Rolled back where `isKept` says no of the result. */
  #transaction<T>(kind: 'DEFERRED' | 'IMMEDIATE', work: () => T, isKept: (result: T) => boolean = () => true): T {
    return this.#answer(() => {
      if (kind === 'IMMEDIATE') this.#lastState = undefined
      this.#db.exec(`BEGIN ${kind}`)
      try {
        const result = work()
        if (isKept(result)) this.#db.exec('COMMIT')
        return result
      } finally {
        if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      }
    })
  }

  #answer<T>(ask: () => T): T {
    if (!this.#db.isOpen) throw new ServiceError('read_model_unavailable', 'The read models are closed.')
    try {
      return ask()
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ERR_SQLITE_ERROR') throw cause
      throw new ServiceError('read_model_unavailable', 'The read models do not answer.', { cause })
    }
  }
}
