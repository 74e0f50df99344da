import { DatabaseSync } from 'node:sqlite'
import { OutOfReachError, ServiceError } from '../../lib/errors.ts'
import { decodeCheckpoint } from '../checkpoint.ts'
import type { Checkpoints, Generation, StoredGeneration } from '../generations.ts'
import { decodeIdempotencyRecord, type IdempotencyKey, type IdempotencyRecord } from '../idempotency-record.ts'
import { decodeRow, homeIdOf, type StreamId, type StreamRow } from '../stream-row.ts'
import { type DocumentSet, DocumentSets } from './sqlite-sets.ts'
import { layout, layoutVersion, prepare, type Statements } from './sqlite-tables.ts'

export interface SqliteReadModelsOptions {
  readonly file: string
  readonly version: string
  /** The collection whose documents show streams, and have their rows. */
  readonly home: string
  /**
   * Whether this is the one process that serves the read models: it alone applies to the active generation, and drops
   * what a release with another layout has left.
   */
  readonly isOwner?: boolean
}

/** Rows of the tables, as the statements give them. */
export interface GenerationRow extends Generation {
  readonly key: number
  readonly continues: string | null
  readonly paused: number
}
export interface CollectionRow {
  readonly name: string
  readonly key: number
  readonly size: number
}

/** One connection to the file, for one version of the read models: what its parts have in common. */
export class SqliteDatabase {
  readonly db: DatabaseSync
  readonly version: string
  readonly isOwner: boolean
  readonly statements: Statements
  readonly documentSets: DocumentSets
  readonly home: string
  /** Another number whenever something may have been written: by others, as far as was looked. */
  changes = 0
  /** When that was, by performance.now(). */
  lookedAt = Number.NEGATIVE_INFINITY
  #dataVersion: unknown

  /** Throws when the file cannot be used, or has another layout and `isOwner` is false. */
  constructor({ file, version, home, isOwner = false }: SqliteReadModelsOptions) {
    this.db = open(file, isOwner)
    this.version = version
    this.isOwner = isOwner
    this.statements = prepare(this.db)
    this.documentSets = new DocumentSets(this.db)
    this.home = home
  }

  inState(state: 'active' | 'building'): GenerationRow | undefined {
    return this.statements.inState.get(this.version, state) as GenerationRow | undefined
  }

  generation(name: string): { key: number; state: StoredGeneration['state']; paused: number } | undefined {
    return this.statements.generation.get(this.version, name) as ReturnType<SqliteDatabase['generation']>
  }

  checkpoints(key: number): Checkpoints {
    const rows = this.statements.checkpoints.all(key) as { partition: number; checkpoint: string }[]
    return new Map(rows.map(({ partition, checkpoint }) => [partition, decodeCheckpoint(checkpoint)]))
  }

  collections(key: number): readonly CollectionRow[] {
    return this.statements.collections.all(key) as unknown as CollectionRow[]
  }

  /** Undefined where nothing was ever put into it. */
  documentSet(key: number, name: string): DocumentSet | undefined {
    const found = this.statements.collection.get(key, name)
    return found && this.documentSets.get(Number(found.key))
  }

  row(key: number, homeSet: DocumentSet | undefined, stream: StreamId): StreamRow | undefined {
    const id = homeIdOf(stream)
    const [json = '', version = 0, row = null] = (id === undefined ? undefined : homeSet?.find(id)) ?? []
    if (row !== null) return decodeRow(stream, { json, version }, row)
    const found = this.statements.row.get(key, stream)
    return found && decodeRow(stream, undefined, String(found.row))
  }

  /** What was decided under an idempotency key. */
  record(key: number, idempotencyKey: IdempotencyKey): IdempotencyRecord | undefined {
    const found = this.statements.key.get(key, idempotencyKey.key, idempotencyKey.partition)
    return found && decodeIdempotencyRecord(idempotencyKey, String(found.record))
  }

  /** Reads in one atomic step, and notices what others wrote. Throws ServiceError read_model_unavailable. */
  read<T>(work: () => T): T {
    return this.answer(() => {
      return this.#transaction('DEFERRED', () => {
        this.#look()
        return work()
      })
    })
  }

  /** As `read`, of one generation; undefined when it is not there. */
  readGeneration<T>(name: string, work: (key: number) => T): T | undefined {
    return this.read(() => {
      const key = this.generation(name)?.key
      return key === undefined ? undefined : work(key)
    })
  }

  /** Writes all or nothing: nothing where `isKept` says no of the result. Throws ServiceError read_model_unavailable. */
  write<T>(work: () => T, isKept?: (result: T) => boolean): T {
    this.changes++
    return this.answer(() => this.#transaction('IMMEDIATE', work, isKept))
  }

  answer<T>(ask: () => T): T {
    if (!this.db.isOpen) throw new ServiceError('read_model_unavailable', 'The read models are closed.')
    try {
      return ask()
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ERR_SQLITE_ERROR') throw cause
      throw new ServiceError('read_model_unavailable', 'The read models do not answer.', { cause })
    }
  }

  #look(): void {
    const found = this.statements.dataVersion.get()?.data_version
    if (found !== this.#dataVersion) this.changes++
    this.#dataVersion = found
    this.lookedAt = performance.now()
  }

  #transaction<T>(kind: 'DEFERRED' | 'IMMEDIATE', work: () => T, isKept: (result: T) => boolean = () => true): T {
    this.db.exec(`BEGIN ${kind}`)
    try {
      const result = work()
      if (isKept(result)) this.db.exec('COMMIT')
      return result
    } finally {
      if (this.db.isTransaction) this.db.exec('ROLLBACK')
    }
  }
}

function open(file: string, isOwner: boolean): DatabaseSync {
  // Another process holds the write lock for the length of one batch; waiting for it stops this process.
  const db = new DatabaseSync(file, { timeout: 500 })
  try {
    // NORMAL: a power cut may take the last batches, which the projector then applies again from the log.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    if (layoutOf(db) !== layoutVersion) layOut(db, isOwner)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function layoutOf(db: DatabaseSync): unknown {
  return db.prepare('PRAGMA user_version').get()?.user_version
}

/** Makes the tables, in place of those of another layout. The file stays: another process may have it open. */
function layOut(db: DatabaseSync, isOwner: boolean): void {
  db.exec('BEGIN IMMEDIATE')
  const found = layoutOf(db)
  if (found !== layoutVersion) {
    if (found !== 0 && !isOwner) {
      throw new OutOfReachError(
        `The read models have layout ${found} of another release, not ${layoutVersion}: start the service of this release, which builds them anew.`,
      )
    }
    const tables = db.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite|_%' ESCAPE '|'",
    )
    for (const { name } of tables.all()) db.exec(`DROP TABLE "${name}"`)
    db.exec(layout)
  }
  db.exec('COMMIT')
}
