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
import { collection, layout, layoutVersion, prepare } from './sqlite-tables.ts'

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
  /** Undefined when the generation is not there. */
  readonly key: number | undefined
  readonly moment: Moment
  readonly added: ReadonlyMap<string, number>
}

const nothing = { documents: '', count: 0, last: undefined, held: 0, added: 0 }

class SqliteReadModels implements ReadModels {
  readonly #db: DatabaseSync
  readonly #version: string
  readonly #statements: ReturnType<typeof prepare>
  readonly #listeners = new Listeners({ connected: true })
  #lastState: State | undefined

  constructor(db: DatabaseSync, version: string) {
    this.#db = db
    this.#version = version
    this.#statements = prepare(db)
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
    const result = this.#transaction('IMMEDIATE', (): ApplyResult => {
      const key = this.#key(generation)
      if (key === undefined) return { outcome: 'generation_gone' }
      const stored = this.#partitionCheckpoint(key, batch.partition)
      if (encodeCheckpoint(stored) !== encodeCheckpoint(batch.expected)) return { outcome: 'checkpoint_mismatch' }
      const keys = batch.decisions.map(({ key: decided }) => decided).filter((decided) => this.#decision(key, decided))
      if (keys.length > 0) return { outcome: 'keys_decided', keys }
      const tags = this.#takenTags(key, batch)
      if (tags.size > 0) return { outcome: 'ids_taken', tags }
      this.#write(key, batch)
      return { outcome: 'applied' }
    })
    if (result.outcome === 'applied') {
      this.#listeners.progress(generation, { partition: batch.partition, next: batch.checkpoint.next })
    }
    return result
  }

  async range(generation: string, query: RangeQuery): Promise<RangeAnswer> {
    return this.#answer(() => {
      for (;;) {
        const version = this.#dataVersion()
        const { key, moment, added } = this.#state(generation, version)
        if (key === undefined) return { ...nothing, moment }
        const found = this.#range(key, query)
        if (this.#dataVersion() !== version) continue // another process wrote in between
        const count = added.get(collection(query.index)) ?? 0
        // Unlike Redis, SQLite drops nothing by itself: counting a large table would only cost time.
        return { ...found, moment, held: count, added: count }
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
    const added = key === undefined ? new Map() : this.#addedIn(key)
    this.#lastState = { generation, version, key, moment: { active: this.#active()?.name, checkpoints }, added }
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

  #range(key: number, { index, from, to, limit }: RangeQuery): Pick<RangeAnswer, 'documents' | 'count' | 'last'> {
    const highest = to ?? Number.MAX_SAFE_INTEGER
    const found = this.#statements.range.all(key, collection(index), from, highest, limit + 1)
    const shown = found.slice(0, limit)
    const last = found.length > limit ? Number(shown.at(-1)?.id) : undefined
    return { documents: shown.map(({ document }) => document).join(','), count: shown.length, last }
  }

  #addedIn(key: number): ReadonlyMap<string, number> {
    const rows = this.#statements.added.all(key)
    return new Map(rows.map(({ collection, count }) => [String(collection), Number(count)]))
  }

  #takenTags(key: number, { inserts }: Batch): Map<number, string> {
    const tags = new Map<number, string>()
    for (const { id } of inserts) {
      const tag = this.#statements.tag.get(key, collection(undefined), id)?.tag as string | undefined
      if (tag !== undefined) tags.set(id, tag)
    }
    return tags
  }

  #write(key: number, { partition, checkpoint, inserts, parked, decisions }: Batch): void {
    const { insertDocument, addToCount, insertParked, insertDecision, setCheckpoint } = this.#statements
    const counts = new Map<string, number>()
    const insert = (into: string, id: number, document: string, tag: string | null) => {
      insertDocument.run(key, into, id, document, tag)
      counts.set(into, (counts.get(into) ?? 0) + 1)
    }
    for (const { id, document, tag, indexes } of inserts) {
      insert(collection(undefined), id, document, tag)
      for (const index of indexes) insert(collection(index), id, document, null)
    }
    for (const [into, count] of counts) addToCount.run(key, into, count)
    for (const { offset, subject, reason, value } of parked) {
      insertParked.run(key, partition, offset, subject, reason, value)
    }
    for (const decision of decisions) insertDecision.run(key, decision.key, encodeDecision(decision))
    setCheckpoint.run(key, partition, encodeCheckpoint(checkpoint))
  }

  #transaction<T>(kind: 'DEFERRED' | 'IMMEDIATE', work: () => T): T {
    return this.#answer(() => {
      if (kind === 'IMMEDIATE') this.#lastState = undefined
      this.#db.exec(`BEGIN ${kind}`)
      try {
        const result = work()
        this.#db.exec('COMMIT')
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
