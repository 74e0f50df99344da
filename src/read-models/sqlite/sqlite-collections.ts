import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** A table of documents by id. */
export interface Table {
  readonly insert: StatementSync
  readonly tag: StatementSync
  readonly range: StatementSync
  readonly entries: StatementSync
  readonly count: StatementSync
}

/** The tables `collection_<key>`, with their statements. Several connections may have them open. */
export class Collections {
  readonly #db: DatabaseSync
  readonly #tables = new Map<number, Table>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** To be called in the transaction that makes the key. */
  create(key: number): void {
    this.drop(key)
    this.#db.exec(`CREATE TABLE ${nameOf(key)} (id INTEGER PRIMARY KEY, document TEXT NOT NULL, tag TEXT) STRICT`)
  }

  drop(key: number): void {
    this.#tables.delete(key)
    this.#db.exec(`DROP TABLE IF EXISTS ${nameOf(key)}`)
  }

  /** Of a key that was created. */
  table(key: number): Table {
    const known = this.#tables.get(key)
    if (known !== undefined) return known
    const name = nameOf(key)
    const table = {
      insert: this.#db.prepare(`INSERT INTO ${name} (id, document, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`),
      tag: this.#db.prepare(`SELECT tag FROM ${name} WHERE id = ?`),
      range: this.#db.prepare(`SELECT id, document FROM ${name} WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?`),
      entries: this.#db.prepare(
        `SELECT id, document || coalesce(tag, '') AS text FROM ${name} WHERE id >= ? ORDER BY id LIMIT ?`,
      ),
      count: this.#db.prepare(`SELECT count(*) AS count FROM ${name}`),
    }
    this.#tables.set(key, table)
    return table
  }
}

function nameOf(key: number): string {
  return `collection_${key}`
}
