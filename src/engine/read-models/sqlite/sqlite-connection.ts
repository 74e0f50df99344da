import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { openFile, tableOf } from './sqlite-tables.ts'

type DocumentRow = readonly [json: string, behind: string | null]
export type DocumentSet = ReturnType<typeof prepareDocumentSet>

/** An open file of read models, with its prepared statements. */
export class SqliteConnection {
  readonly db: DatabaseSync
  readonly #statements = new Map<TemplateStringsArray, StatementSync>()
  readonly #begin: { readonly read: StatementSync; readonly write: StatementSync }
  readonly #commit: StatementSync
  readonly #documentSets = new Map<number, DocumentSet>()

  /** Throws as `openFile` does. */
  constructor(file: string, isOwner: boolean) {
    this.db = openFile(file, isOwner)
    this.#begin = { read: this.db.prepare('BEGIN DEFERRED'), write: this.db.prepare('BEGIN IMMEDIATE') }
    this.#commit = this.db.prepare('COMMIT')
  }

  /** Each statement is prepared once. With node:sqlite's own SQLTagStore applying an event took a quarter longer. */
  prepared(sql: TemplateStringsArray): StatementSync {
    const statement = this.#statements.get(sql) ?? this.db.prepare(sql.join('?'))
    this.#statements.set(sql, statement)
    return statement
  }

  /** Its statements are prepared: by `exec` they take ten times as long. */
  transaction<T>(kind: 'read' | 'write', work: () => T, isKept: (result: T) => boolean): T {
    this.#begin[kind].run()
    try {
      const result = work()
      if (isKept(result)) this.#commit.run()
      return result
    } finally {
      if (this.db.isTransaction) this.db.exec('ROLLBACK')
    }
  }

  /** The documents of a key of `collections`. */
  documents(key: number): DocumentSet {
    const set = this.#documentSets.get(key) ?? prepareDocumentSet(this.db, key)
    this.#documentSets.set(key, set)
    return set
  }

  createDocuments(key: number): DocumentSet {
    this.dropDocuments(key)
    this.db.exec(`CREATE TABLE ${tableOf(key)} (id INTEGER PRIMARY KEY, json TEXT NOT NULL, behind TEXT) STRICT`)
    return this.documents(key)
  }

  dropDocuments(key: number): void {
    this.#documentSets.delete(key)
    this.db.exec(`DROP TABLE IF EXISTS ${tableOf(key)}`)
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
