import type { DatabaseSync, StatementSync } from 'node:sqlite'

/** `row` is null where the document shows no stream. */
export type DocumentRow = readonly [json: string, version: number, row: string | null]

/** One set of documents. What requests read comes as arrays, which cost less than objects. */
export interface DocumentSet {
  readonly key: number
  find(id: number): DocumentRow | undefined
  page(after: number, limit: number): readonly (readonly [json: string])[]
  readonly insert: StatementSync
  readonly put: StatementSync
  readonly remove: StatementSync
}

/** The tables `collection_<key>`, with their statements. Several connections may have them open. */
export class DocumentSets {
  readonly #db: DatabaseSync
  readonly #sets = new Map<number, DocumentSet>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** To be called in the transaction that makes the key. */
  create(key: number): void {
    this.drop(key)
    this.#db.exec(
      `CREATE TABLE ${tableOf(key)} (id INTEGER PRIMARY KEY, json TEXT NOT NULL, version INTEGER, row TEXT) STRICT`,
    )
  }

  drop(key: number): void {
    this.#sets.delete(key)
    this.#db.exec(`DROP TABLE IF EXISTS ${tableOf(key)}`)
  }

  /** The key must have been created. */
  get(key: number): DocumentSet {
    const known = this.#sets.get(key)
    if (known !== undefined) return known
    const set = this.#prepare(key)
    this.#sets.set(key, set)
    return set
  }

  #prepare(key: number): DocumentSet {
    const name = tableOf(key)
    const values = `INTO ${name} (id, json, version, row) VALUES (?, ?, ?, ?)`
    const find = this.#db.prepare(`SELECT json, version, row FROM ${name} WHERE id = ?`)
    const page = this.#db.prepare(`SELECT json FROM ${name} WHERE id > ? ORDER BY id LIMIT ?`)
    find.setReturnArrays(true)
    page.setReturnArrays(true)
    return {
      key,
      find: (id) => find.get(id) as unknown as DocumentRow | undefined,
      page: (after, limit) => page.all(after, limit) as unknown as [string][],
      insert: this.#db.prepare(`INSERT ${values} ON CONFLICT DO NOTHING`),
      put: this.#db.prepare(`REPLACE ${values}`),
      remove: this.#db.prepare(`DELETE FROM ${name} WHERE id = ?`),
    }
  }
}

export function tableOf(key: number): string {
  return `collection_${key}`
}
