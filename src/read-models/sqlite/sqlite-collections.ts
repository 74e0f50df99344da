import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** A table of documents by id. Several connections may have it open. */
export interface Table {
  readonly insert: StatementSync
  readonly tag: StatementSync
  readonly range: StatementSync
}

/** The tables `collection_<key>`, with their statements. */
export class Collections {
  readonly #db: DatabaseSync
  readonly #tables = new Map<number, Table>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** To be called in the transaction that makes the key. */
  create(key: number): void {
    this.#db.exec(`
      DROP TABLE IF EXISTS collection_${key};
      CREATE TABLE collection_${key} (id INTEGER PRIMARY KEY, document TEXT NOT NULL, tag TEXT) STRICT`)
  }

  /** Of a key that was created. */
  table(key: number): Table {
    const known = this.#tables.get(key)
    if (known !== undefined) return known
    const name = `collection_${key}`
    const table = {
      insert: this.#db.prepare(`INSERT INTO ${name} (id, document, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`),
      tag: this.#db.prepare(`SELECT tag FROM ${name} WHERE id = ?`),
      range: this.#db.prepare(`SELECT id, document FROM ${name} WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?`),
    }
    this.#tables.set(key, table)
    return table
  }
}
