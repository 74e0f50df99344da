import type { StatementSync } from 'node:sqlite'
import { otherSets } from '../document.ts'
import { type Inspection, type Item, type Size, type Snapshot, scannedCharactersMax } from '../inspection.ts'
import { encodeParkedEvent } from '../parked-event.ts'
import { type SqliteDatabase, tableOf } from './sqlite-database.ts'

type Row = readonly [id: string | number, ...fields: (string | number | null)[]]

/** How to read a set, in SQL. */
interface Source {
  /** The columns of the id and of the text. */
  readonly items: string
  /** The query up to the point where conditions can be added. */
  readonly from: string
  /** The columns that locate and order the entries. */
  readonly place: readonly string[]
  /** An id before all others. */
  readonly first: string
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

  function select({ items, from, place }: Source, comparison: string, limit: number): StatementSync {
    const where = `(${place}) ${comparison} (${place.map(() => '?')}) ORDER BY ${place} LIMIT ${limit}`
    const statement = database.db.prepare(`SELECT ${items} FROM ${from} AND ${where}`)
    statement.setReturnArrays(true)
    return statement
  }

  return {
    contents: (generation) => read(generation, (key) => ({ sizes: sizesOf(database, key) })),

    scan: (generation, set, from, limit) =>
      read(generation, (key) => {
        const source = sourceOf(database, key, set)
        const items: Item[] = []
        if (source === undefined) return { items, next: undefined }
        let characters = 0
        const rows = select(source, '>=', limit + 1).iterate(...placeOf(set, from ?? source.first))
        for (const row of rows as unknown as Iterable<Row>) {
          const id = String(row[0])
          if (items.length === limit || characters >= scannedCharactersMax) return { items, next: id }
          const text = textOf(set, row)
          items.push([id, text])
          characters += text.length
        }
        return { items, next: undefined }
      }),

    find: (generation, set, ids) =>
      read(generation, (key) => {
        const source = sourceOf(database, key, set)
        const one = source && select(source, '=', 1)
        const rows = ids.map((id) => one?.get(...placeOf(set, id)) as unknown as Row | undefined)
        return { texts: rows.map((row) => row && textOf(set, row)) }
      }),
  }
}

/** Undefined if the set never had an entry. */
function sourceOf(database: SqliteDatabase, generation: number, set: string): Source | undefined {
  const of = `WHERE generation = ${generation}`
  if (set === 'rows') return { items: 'stream, row', from: `stream_row ${of}`, place: ['stream'], first: '' }
  if (set === 'keys') {
    const items = `partition || '/' || key, record`
    return { items, from: `idempotency_key ${of}`, place: ['key', 'partition'], first: '0/' }
  }
  if (set === 'parked') {
    const items = `partition || '/' || record_offset, stream, reason, value`
    return { items, from: `parked ${of}`, place: ['partition', 'record_offset'], first: '0/0' }
  }
  const found = database.documentSet(generation, set)
  if (found === undefined) return undefined
  return { items: 'id, json, version, row', from: `${tableOf(found.key)} WHERE true`, place: ['id'], first: '0' }
}

/**
 * The values of the locating columns for an id. They may be texts of numbers, since SQLite compares them by the
 * column's type.
 */
function placeOf(set: string, id: string): string[] {
  if (set !== 'keys' && set !== 'parked') return [id]
  const slash = id.indexOf('/')
  const [partition, rest] = [id.slice(0, slash), id.slice(slash + 1)]
  return set === 'keys' ? [rest, partition] : [partition, rest]
}

function textOf(set: string, [, ...fields]: Row): string {
  if (set !== 'parked') return fields.filter((field) => field !== null).join('\0')
  const [stream, reason, value] = fields.map(String) as [string, string, string]
  return encodeParkedEvent({ stream, reason, value })
}

/** The size of every set of a generation. */
export function sizesOf(database: SqliteDatabase, key: number): ReadonlyMap<string, Size> {
  const others = database.all`SELECT name, size FROM other_set WHERE generation = ${key}`
  const recorded = new Map<string, number>(otherSets.map((set) => [set, 0])) // a set without entries may have no row
  for (const { name, size } of [...database.collections(key), ...others]) recorded.set(String(name), Number(size))
  const count = (set: string) =>
    database.db.prepare(`SELECT count(*) AS count FROM ${sourceOf(database, key, set)?.from}`).get()?.count
  return new Map([...recorded].map(([set, size]) => [set, { actual: Number(count(set)), recorded: size }]))
}
