import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { isKeyed } from '../document.ts'
import { type DocumentSet, type KeyedSet, prepareDocumentSet, prepareKeyedSet } from './document-sets.ts'
import { documentColumns, keyedColumns, openFile, tableOf } from './sqlite-tables.ts'

/** An open file of read models, with its prepared statements. */
export class SqliteConnection {
  readonly db: DatabaseSync
  readonly #statements = new Map<TemplateStringsArray, StatementSync>()
  readonly #begin: { readonly read: StatementSync; readonly write: StatementSync }
  readonly #commit: StatementSync
  readonly #documentSets = new Map<number, DocumentSet>()
  readonly #keyedSets = new Map<number, KeyedSet>()

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

  /** A set of a key of `collections` that is not keyed. */
  documents(key: number): DocumentSet {
    return kept(this.#documentSets, key, () => prepareDocumentSet(this.db, key))
  }

  /** A keyed one. */
  keyed(key: number): KeyedSet {
    return kept(this.#keyedSets, key, () => prepareKeyedSet(this.db, key))
  }

  createSet(key: number, name: string): void {
    this.dropSet(key)
    this.db.exec(`CREATE TABLE ${tableOf(key)} ${isKeyed(name) ? keyedColumns : documentColumns}`)
  }

  dropSet(key: number): void {
    this.#documentSets.delete(key)
    this.#keyedSets.delete(key)
    this.db.exec(`DROP TABLE IF EXISTS ${tableOf(key)}`)
  }
}

function kept<Value>(all: Map<number, Value>, key: number, make: () => Value): Value {
  const value = all.get(key) ?? make()
  all.set(key, value)
  return value
}
