import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { ServiceError } from '../../lib/errors.ts'
import type { TextSet } from '../document.ts'
import type { Checkpoints, StoredGeneration } from '../store.ts'
import { decodeCheckpoint, homeIdOf, type StreamId } from '../stored-texts.ts'
import { openFile } from './sqlite-tables.ts'

export interface SqliteReadModelsOptions {
  readonly file: string
  readonly version: string
  /** The collection whose documents show streams, and store their rows. */
  readonly home: string
  /**
   * Whether this is the single process that serves the read models: only it applies to the active generation, and drops
   * tables of a release with another layout.
   */
  readonly isOwner?: boolean
}

/** A row of the table. */
export interface GenerationRow extends StoredGeneration {
  readonly key: number
  readonly continues: string | null
  readonly paused: number
}

type DocumentRow = readonly [json: string, behind: string]
export type DocumentSet = ReturnType<typeof prepareDocumentSet>

/** One connection to the file, for one version of the read models, shared by the parts of the store. */
export class SqliteDatabase {
  readonly db: DatabaseSync
  readonly options: SqliteReadModelsOptions
  /** Changes whenever something may have been written; writes of other processes count once they are noticed. */
  changes = 0
  /** The time of the last look, by performance.now(). */
  lookedAt = Number.NEGATIVE_INFINITY
  #dataVersion: unknown
  readonly #statements = new Map<TemplateStringsArray, StatementSync>()
  readonly #documentSets = new Map<number, DocumentSet>()

  constructor(options: SqliteReadModelsOptions) {
    this.db = openFile(options.file, options.isOwner === true)
    this.options = options
  }

  get(sql: TemplateStringsArray, ...values: SQLInputValue[]) {
    return this.#prepared(sql).get(...values)
  }

  all(sql: TemplateStringsArray, ...values: SQLInputValue[]) {
    return this.#prepared(sql).all(...values)
  }

  run(sql: TemplateStringsArray, ...values: SQLInputValue[]) {
    return this.#prepared(sql).run(...values)
  }

  /** The generations, the active one first. */
  generations(version = this.options.version): readonly GenerationRow[] {
    const rows = this.all`
      SELECT key, name, log_id AS logId, state, since, continues, paused FROM generation
      WHERE version = ${version} AND state <> 'removed' ORDER BY state, since`
    return rows as unknown as GenerationRow[]
  }

  generation(name: string): GenerationRow | undefined {
    return this.generations().find((each) => each.name === name)
  }

  inState(state: 'active' | 'building'): GenerationRow | undefined {
    return this.generations().find((each) => each.state === state)
  }

  checkpoints(key: number): Checkpoints {
    const rows = this.all`SELECT partition, checkpoint FROM checkpoint WHERE generation = ${key}`
    return new Map(rows.map(({ partition, checkpoint }) => [Number(partition), decodeCheckpoint(String(checkpoint))]))
  }

  /** The sets of documents of a generation, with their recorded sizes. */
  collections(key: number): readonly { readonly name: string; readonly key: number; readonly size: number }[] {
    const rows = this.all`SELECT name, key, size FROM collection WHERE generation = ${key}`
    return rows as unknown as ReturnType<SqliteDatabase['collections']>
  }

  /** Undefined if it never had an entry. */
  documentSet(generation: number, name: string): DocumentSet | undefined {
    const found = this.get`SELECT key FROM collection WHERE generation = ${generation} AND name = ${name}`
    return found && this.documents(Number(found.key))
  }

  /** The documents of a key of `collections`. */
  documents(key: number): DocumentSet {
    const set = this.#documentSets.get(key) ?? prepareDocumentSet(this.db, key)
    this.#documentSets.set(key, set)
    return set
  }

  /** Removes at most `max` documents; once none are left, the set itself. */
  removeDocuments(key: number, max: number): void {
    const table = tableOf(key)
    const { changes } = this.db.prepare(`DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} LIMIT ?)`).run(max)
    if (changes === max) return
    this.#dropDocuments(key)
    this.run`DELETE FROM collection WHERE key = ${key}`
  }

  createDocuments(key: number): DocumentSet {
    this.#dropDocuments(key)
    this.db.exec(`CREATE TABLE ${tableOf(key)} (id INTEGER PRIMARY KEY, json TEXT NOT NULL, behind TEXT) STRICT`)
    return this.documents(key)
  }

  #dropDocuments(key: number): void {
    this.#documentSets.delete(key)
    this.db.exec(`DROP TABLE IF EXISTS ${tableOf(key)}`)
  }

  /** The text of a row, and the document of the home collection that it is behind, if there is one. */
  row(key: number, homeSet: DocumentSet | undefined, stream: StreamId): { json?: string; row?: string | undefined } {
    const id = homeIdOf(stream)
    const shown = id === undefined ? undefined : homeSet?.find(id)
    return shown === undefined ? { row: this.text(key, 'rows', stream) } : { json: shown[0], row: shown[1] }
  }

  text(key: number, set: TextSet, id: string): string | undefined {
    const found = this.get`SELECT text FROM text WHERE generation = ${key} AND name = ${set} AND id = ${id}`
    return found?.text as string | undefined
  }

  /** Reads in one atomic step, and notices writes of other processes. Throws ServiceError read_model_unavailable. */
  read<T>(work: () => T): T {
    return this.#transaction('DEFERRED', () => {
      const found = this.get`PRAGMA data_version`?.data_version
      if (found !== this.#dataVersion) this.changes++
      this.#dataVersion = found
      this.lookedAt = performance.now()
      return work()
    })
  }

  /** As `read`, for one generation; undefined if it does not exist. */
  readGeneration<T>(name: string, work: (key: number) => T): T | undefined {
    return this.read(() => {
      const key = this.generation(name)?.key
      return key === undefined ? undefined : work(key)
    })
  }

  /** Writes all or nothing; nothing if `isKept` rejects the result. Throws ServiceError read_model_unavailable. */
  write<T>(work: () => T, isKept?: (result: T) => boolean): T {
    this.changes++
    return this.#transaction('IMMEDIATE', work, isKept)
  }

  answer<T>(ask: () => T): T {
    if (!this.db.isOpen) throw new ServiceError('read_model_unavailable', 'The read models are closed.')
    try {
      return ask()
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ERR_SQLITE_ERROR') throw cause
      throw new ServiceError('read_model_unavailable', 'The read models could not be read.', { cause })
    }
  }

  /** Each statement is prepared once. With node:sqlite's own SQLTagStore applying an event took a quarter longer. */
  #prepared(sql: TemplateStringsArray): StatementSync {
    const statement = this.#statements.get(sql) ?? this.db.prepare(sql.join('?'))
    this.#statements.set(sql, statement)
    return statement
  }

  #transaction<T>(kind: 'DEFERRED' | 'IMMEDIATE', work: () => T, isKept: (result: T) => boolean = () => true): T {
    return this.answer(() => {
      this.db.exec(`BEGIN ${kind}`)
      try {
        const result = work()
        if (isKept(result)) this.db.exec('COMMIT')
        return result
      } finally {
        if (this.db.isTransaction) this.db.exec('ROLLBACK')
      }
    })
  }
}

/** One set of documents, with its statements. Results for requests are arrays, which cost less than objects. */
function prepareDocumentSet(db: DatabaseSync, key: number) {
  const table = tableOf(key)
  const values = `INTO ${table} (id, json, behind) VALUES (?, ?, ?)`
  const find = db.prepare(`SELECT json, behind FROM ${table} WHERE id = ?`)
  const page = db.prepare(`SELECT json FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`)
  find.setReturnArrays(true)
  page.setReturnArrays(true)
  return {
    key,
    find: (id: number) => find.get(id) as unknown as DocumentRow | undefined,
    page: (after: number, limit: number) => page.all(after, limit) as unknown as [json: string][],
    insert: db.prepare(`INSERT ${values} ON CONFLICT DO NOTHING`),
    put: db.prepare(`REPLACE ${values}`),
    remove: db.prepare(`DELETE FROM ${table} WHERE id = ?`),
  }
}

export function tableOf(key: number): string {
  return `collection_${key}`
}
