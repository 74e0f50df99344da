import type { Position } from '../../event-log/event-log.ts'
import { decodeIdempotencyRecord, type IdempotencyKey, type IdempotencyRecord } from '../idempotency-record.ts'
import {
  type Contents,
  type Entries,
  type InspectedPage,
  type Inspection,
  parkedCharactersMax,
  type Size,
  type Snapshot,
} from '../inspection.ts'
import type { ParkedEvent } from '../parked-event.ts'
import { type SqliteDatabase, tableOf } from './sqlite-database.ts'

export class SqliteInspection implements Inspection {
  readonly #database: SqliteDatabase

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  async contents(generation: string): Promise<Contents | undefined> {
    return this.#read(generation, (key) => ({ sizes: sizesOf(this.#database, key) }))
  }

  async entries(generation: string, set: string, from: number, limit: number): Promise<Entries | undefined> {
    return this.#read(generation, (key) => {
      const found = this.#database.documentSet(key, set)
      const select = `SELECT id, json, version, row FROM ${found && tableOf(found.key)} WHERE id >= ? ORDER BY id LIMIT ?`
      const rows = found === undefined ? [] : this.#database.db.prepare(select).all(from, limit)
      const textOf = (...fields: unknown[]) => fields.filter((field) => field !== null).join('\0')
      return {
        entries: rows.map(({ id, json, version, row }) => ({ id: Number(id), text: textOf(json, version, row) })),
      }
    })
  }

  async rows(
    generation: string,
    from: string,
    limit: number,
  ): Promise<InspectedPage<readonly [string, string]> | undefined> {
    return this.#read(generation, (key) => {
      const found = this.#database.all`
        SELECT stream, row FROM stream_row
        WHERE generation = ${key} AND stream >= ${from} ORDER BY stream LIMIT ${limit}` as {
        stream: string
        row: string
      }[]
      const items = found.map(({ stream, row }) => [stream, row] as const)
      return { items, next: found.length < limit ? undefined : `${found.at(-1)?.stream}\0` }
    })
  }

  async keys(generation: string, from: string, limit: number): Promise<InspectedPage<IdempotencyRecord> | undefined> {
    const [, partition = -1, behind = ''] = /^(\d+) (.*)$/s.exec(from) ?? []
    return this.#read(generation, (ofGeneration) => {
      const found = this.#database.all`
        SELECT key, partition, record FROM idempotency_key
        WHERE generation = ${ofGeneration} AND (key, partition) > (${behind}, ${partition})
        ORDER BY key, partition LIMIT ${limit}`
      const rows = found as unknown as (IdempotencyKey & { record: string })[]
      const last = rows.length < limit ? undefined : rows.at(-1)
      return {
        items: rows.map((row) => decodeIdempotencyRecord(row, row.record)),
        next: last && `${last.partition} ${last.key}`,
      }
    })
  }

  async parked(generation: string, from: string, limit: number): Promise<InspectedPage<ParkedEvent> | undefined> {
    const [partition, offset] = from === '' ? [-1, -1] : from.split('/').map(Number)
    return this.#read(generation, (key) => {
      const rows = this.#database.all`
        SELECT partition, record_offset AS "offset", stream, reason, value FROM parked
        WHERE generation = ${key} AND (partition, record_offset) > (${partition as number}, ${offset as number})
        ORDER BY partition, record_offset LIMIT ${limit}`
      const items: ParkedEvent[] = []
      let characters = 0
      for (const event of rows as unknown as Iterable<ParkedEvent>) {
        items.push(event)
        characters += event.value.length
        if (characters >= parkedCharactersMax) break
      }
      const isEnd = items.length < limit && characters < parkedCharactersMax
      const last = isEnd ? undefined : items.at(-1)
      return { items, next: last && `${last.partition}/${last.offset}` }
    })
  }

  async parkedAt(
    generation: string,
    { partition, offset }: Position,
  ): Promise<{ readonly snapshot: Snapshot; readonly event: ParkedEvent | undefined } | undefined> {
    return this.#read(generation, (key) => {
      const found = this.#database.get`
        SELECT partition, record_offset AS "offset", stream, reason, value FROM parked
        WHERE generation = ${key} AND partition = ${partition} AND record_offset = ${offset}`
      return { event: found as ParkedEvent | undefined }
    })
  }

  async key(
    generation: string,
    key: IdempotencyKey,
  ): Promise<{ readonly snapshot: Snapshot; readonly record: IdempotencyRecord | undefined } | undefined> {
    return this.#read(generation, (ofGeneration) => ({ record: this.#database.record(ofGeneration, key) }))
  }

  async row(
    generation: string,
    stream: string,
  ): Promise<{ readonly snapshot: Snapshot; readonly row: string | undefined } | undefined> {
    return this.#read(generation, (key) => ({ row: this.#database.hiddenRow(key, stream) }))
  }

  #read<T extends object>(generation: string, work: (key: number) => T): (T & { snapshot: Snapshot }) | undefined {
    return this.#database.readGeneration(generation, (key) => {
      const active = this.#database.inState('active')?.name
      return { snapshot: { active, checkpoints: this.#database.checkpoints(key) }, ...work(key) }
    })
  }
}

/** The size of every set of a generation. */
export function sizesOf(database: SqliteDatabase, key: number): ReadonlyMap<string, Size> {
  const tables: Record<string, string> = { rows: 'stream_row', keys: 'idempotency_key', parked: 'parked' }
  const countIn = (from: string) => Number(database.db.prepare(`SELECT count(*) AS count FROM ${from}`).get()?.count)
  const others = database.all`SELECT name, size FROM other_set WHERE generation = ${key}`
  return new Map([
    ...database.collections(key).map(({ name, key: collection, size: recorded }): [string, Size] => {
      return [name, { actual: countIn(tableOf(collection)), recorded }]
    }),
    ...others.map(({ name, size }): [string, Size] => {
      const actual = countIn(`${tables[String(name)]} WHERE generation = ${key}`)
      return [String(name), { actual, recorded: Number(size) }]
    }),
  ])
}
