import type { StatementSync } from 'node:sqlite'
import { DamagedError, numberIn, quoted } from '../damaged.ts'
import { entryId, isKeyed, isTextSet, namedBy, textSets } from '../document.ts'
import type { Snapshot } from '../ports/generations.ts'
import { type Inspection, type Item, type Size, scannedCharactersMax } from '../ports/inspection.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { tableOf } from './sqlite-tables.ts'

type Row = readonly [id: string | number, text: string, behind: string | null, key?: string]
type Place = readonly (string | number)[]

/** How to read a set, in SQL. */
interface Source {
  /** The query up to the point where conditions can be added. */
  readonly from: string
  /** What rows are ordered by. */
  readonly order: string
  /** Before all others. */
  readonly first: Place
  /** Undefined if nothing can be there. */
  placeOf(item: string): Place | undefined
}

export function sqliteInspection(database: SqliteDatabase): Inspection {
  async function read<T extends object>(
    generation: string,
    work: (key: number) => T,
  ): Promise<(T & { snapshot: Snapshot }) | undefined> {
    return database.readGeneration(generation, (key) => {
      const active = database.inState('active')?.name
      return { snapshot: { active, checkpoints: database.checkpoints(key) }, ...work(key) }
    })
  }

  function select({ from, order, first }: Source, comparison: string, limit: number): StatementSync {
    const place = first.map(() => '?').join()
    const statement = database.db.prepare(
      `${from} AND (${order}) ${comparison} (${place}) ORDER BY ${order} LIMIT ${limit}`,
    )
    statement.setReturnArrays(true)
    return statement
  }

  return {
    contents: (generation) => read(generation, (key) => ({ sizes: sizesOf(database, key) })),

    recorded: (generation) =>
      read(generation, (key) => {
        const sizes = recordedSizes(database, key)
        for (const [set, size] of sizes)
          if (Number.isNaN(size)) throw new DamagedError(`the recorded size of ${quoted(set)} is not a number`)
        return { sizes }
      }),

    scan: (generation, set, from, limit) =>
      read(generation, (key) => {
        const source = sourceOf(database, key, set)
        const items: Item[] = []
        if (source === undefined) return { items, next: undefined }
        let characters = 0
        const start = from === undefined ? source.first : source.placeOf(from)
        if (start === undefined) throw new DamagedError(`${quoted(set)} has an entry of no document`)
        const rows = select(source, '>=', limit + 1).iterate(...start)
        for (const row of rows as unknown as Iterable<Row>) {
          const id = idOf(row)
          if (items.length === limit || characters >= scannedCharactersMax) return { items, next: id }
          const text = textOf(row)
          items.push([id, text])
          characters += text.length
        }
        return { items, next: undefined }
      }),

    find: (generation, set, ids) =>
      read(generation, (key) => {
        const source = sourceOf(database, key, set)
        const one = source && select(source, '=', 1)
        const rows = ids.map((id) => {
          const place = source?.placeOf(id)
          return place && (one?.get(...place) as unknown as Row | undefined)
        })
        return { texts: rows.map((row) => row && textOf(row)) }
      }),
  }
}

/** Undefined if the set never had an entry. */
function sourceOf(database: SqliteDatabase, generation: number, set: string): Source | undefined {
  const byId = { order: 'id', placeOf: (item: string) => [item] }
  if (isTextSet(set)) {
    const from = `SELECT id, text, NULL FROM text WHERE generation = ${generation} AND name = '${set}'`
    return { ...byId, from, first: [''] }
  }
  const key = database.setKey(generation, set)
  if (key === undefined) return undefined
  if (isKeyed(set)) {
    const from = `SELECT id, json, NULL, key FROM ${tableOf(key)} WHERE true`
    return { from, order: 'key, id', first: ['', 0], placeOf: namedBy }
  }
  // Ids may be given as text, since SQLite compares them by the column's type.
  return { ...byId, from: `SELECT id, json, behind FROM ${tableOf(key)} WHERE true`, first: ['0'] }
}

function idOf([id, , , key]: Row): string {
  return key === undefined ? String(id) : entryId(key, Number(id))
}

function textOf([, text, behind]: Row): string {
  return behind === null ? text : `${text}\0${behind}`
}

/** NaN if it is damaged. */
function recordedSizes(database: SqliteDatabase, key: number): ReadonlyMap<string, number> {
  // As text: node:sqlite throws where a number is beyond 2^53.
  const found = database.all`
    SELECT name, CAST(size AS TEXT) AS size FROM text_set WHERE generation = ${key}
    UNION ALL SELECT name, CAST(size AS TEXT) FROM collection WHERE generation = ${key}`
  const recorded = new Map<string, number>(textSets.map((set) => [set, 0])) // a set without entries may have no row
  for (const { name, size } of found) recorded.set(String(name), numberIn(String(size)) ?? Number.NaN)
  return recorded
}

/** The size of every set of a generation. */
export function sizesOf(database: SqliteDatabase, key: number): ReadonlyMap<string, Size> {
  const count = (set: string) =>
    database.db.prepare(`SELECT count(*) AS count FROM (${sourceOf(database, key, set)?.from})`).get()?.count
  const recorded = [...recordedSizes(database, key)]
  return new Map(recorded.map(([set, size]) => [set, { actual: Number(count(set)), recorded: size }]))
}
