import { DatabaseSync } from 'node:sqlite'
import { OutOfReachError, ServiceError } from '../../lib/errors.ts'
import { type Checkpoint, decodeCheckpoint } from '../checkpoint.ts'
import type { Generation, Moment } from '../read-models.ts'
import type { StoredGeneration } from '../upkeep.ts'
import { Collections } from './sqlite-collections.ts'
import { layout, layoutVersion, prepare, type Statements } from './sqlite-tables.ts'

/** Rows of the tables, as the statements give them. */
export interface GenerationRow extends Generation {
  readonly key: number
  readonly since: number
  readonly continues: string | null
}
export interface CollectionRow {
  readonly name: string
  readonly key: number
  readonly added: number
}

/** One connection to the file, for one version of the read models: what its parts have in common. */
export class SqliteDatabase {
  readonly db: DatabaseSync
  readonly version: string
  readonly statements: Statements
  readonly collections: Collections
  /** Another number whenever this connection may have written. */
  writes = 0

  /** Throws when the file cannot be used, or has another layout and `isOwner` is false. */
  constructor(file: string, version: string, isOwner: boolean) {
    this.db = open(file, isOwner)
    this.version = version
    this.statements = prepare(this.db)
    this.collections = new Collections(this.db)
  }

  inState(state: 'active' | 'building'): GenerationRow | undefined {
    return this.statements.inState.get(this.version, state) as GenerationRow | undefined
  }

  generation(name: string): { readonly key: number; readonly state: StoredGeneration['state'] } | undefined {
    return this.statements.generation.get(this.version, name) as ReturnType<SqliteDatabase['generation']>
  }

  key(generation: string): number | undefined {
    return this.generation(generation)?.key
  }

  checkpoints(key: number): ReadonlyMap<number, Checkpoint> {
    const rows = this.statements.checkpoints.all(key) as { partition: number; checkpoint: string }[]
    return new Map(rows.map(({ partition, checkpoint }) => [partition, decodeCheckpoint(checkpoint)]))
  }

  moment(key: number): Moment {
    return { active: this.inState('active')?.name, checkpoints: this.checkpoints(key) }
  }

  collectionsOf(key: number): readonly CollectionRow[] {
    return this.statements.collections.all(key) as unknown as CollectionRow[]
  }

  /** Reads at one moment. Throws ServiceError read_model_unavailable. */
  read<T>(work: () => T): T {
    return this.answer(() => this.#transaction('DEFERRED', work, () => true))
  }

  /** Writes all or nothing: nothing where `isKept` says no of the result. Throws ServiceError read_model_unavailable. */
  write<T>(work: () => T, isKept: (result: T) => boolean = () => true): T {
    this.writes++
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

  #transaction<T>(kind: 'DEFERRED' | 'IMMEDIATE', work: () => T, isKept: (result: T) => boolean): T {
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
