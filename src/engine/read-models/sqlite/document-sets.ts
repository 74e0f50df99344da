import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { beginningOf, type IndexKey } from '../document.ts'
import { tableOf } from './sqlite-tables.ts'

type DocumentRow = readonly [json: string, behind: string | null]

/** The documents of a set, or those under some index keys of it, by id. */
export interface Documents {
  find(id: number): DocumentRow | readonly [json: string] | undefined
  page(after: number, limit: number): readonly (readonly [json: string])[]
}

/** A set of documents by id. */
export type DocumentSet = ReturnType<typeof prepareDocumentSet>
/** A set of documents by index key and id. */
export type KeyedSet = ReturnType<typeof prepareKeyedSet>

/** Where an index has a document, as the statements of its set take it. */
export function placeOf(indexKey: IndexKey, id: number): readonly (string | number)[] {
  const beginning = beginningOf(indexKey)
  return beginning === undefined ? [id] : [beginning, id]
}

/** The statements of a set. Results for requests are arrays, which cost less than objects. */
export function prepareDocumentSet(db: DatabaseSync, key: number) {
  const table = tableOf(key)
  const values = `INTO ${table} (id, json, behind) VALUES (?, ?, ?)`
  const find = prepareArrays(db, `SELECT json, behind FROM ${table} WHERE id = ?`)
  const page = prepareArrays(db, `SELECT json FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`)
  return {
    key,
    find: (id: number) => find.get(id) as unknown as DocumentRow | undefined,
    page: (after: number, limit: number) => page.all(after, limit) as unknown as [json: string][],
    insert: db.prepare(`INSERT ${values} ON CONFLICT DO NOTHING`),
    put: db.prepare(`REPLACE ${values}`),
    putCopy: db.prepare(`REPLACE INTO ${table} (id, json) VALUES (?, ?)`),
    remove: db.prepare(`DELETE FROM ${table} WHERE id = ?`),
  }
}

export function prepareKeyedSet(db: DatabaseSync, key: number) {
  const table = tableOf(key)
  const find = prepareArrays(db, `SELECT json FROM ${table} WHERE key = ? AND id = ?`)
  const count = db.prepare(`SELECT count(*) AS count FROM ${table} WHERE key = ?`)
  const pages = new Map<number, StatementSync>()
  /** SQLite merges the ranges by id, and reads no more of them than the page has. */
  const pageOf = (ranges: number) => {
    const range = `SELECT json, id FROM ${table} WHERE key = ? AND id > ?`
    const page =
      pages.get(ranges) ?? prepareArrays(db, `${Array(ranges).fill(range).join(' UNION ALL ')} ORDER BY id LIMIT ?`)
    pages.set(ranges, page)
    return page
  }
  return {
    key,
    /** The documents under any of the keys. */
    under(indexKeys: readonly IndexKey[]): Documents {
      const beginnings = indexKeys.map((indexKey) => beginningOf(indexKey) ?? '')
      return {
        find(id) {
          for (const beginning of beginnings) {
            const found = find.get(beginning, id) as unknown as readonly [json: string] | undefined
            if (found !== undefined) return found
          }
          return undefined
        },
        page(after, limit) {
          const ranges = beginnings.flatMap((beginning) => [beginning, after])
          return pageOf(beginnings.length).all(...ranges, limit) as unknown as [json: string][]
        },
      }
    },
    /** Visits each row under the key. */
    count: (indexKey: IndexKey) => Number(count.get(beginningOf(indexKey) ?? '')?.count),
    putCopy: db.prepare(`REPLACE INTO ${table} (key, id, json) VALUES (?, ?, ?)`),
    remove: db.prepare(`DELETE FROM ${table} WHERE key = ? AND id = ?`),
  }
}

function prepareArrays(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement
}
