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
import type { SqliteDatabase } from './sqlite-database.ts'

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
      const rows = this.#database.documentSet(key, set)?.entries.all(from, limit) ?? []
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
      const found = this.#database.statements.rowsFrom.all(key, from, limit) as { stream: string; row: string }[]
      const items = found.map(({ stream, row }) => [stream, row] as const)
      return { items, next: found.length < limit ? undefined : `${found.at(-1)?.stream}\0` }
    })
  }

  async keys(generation: string, from: string, limit: number): Promise<InspectedPage<IdempotencyRecord> | undefined> {
    const [, partition = -1, behind = ''] = /^(\d+) (.*)$/s.exec(from) ?? []
    return this.#read(generation, (ofGeneration) => {
      const found = this.#database.statements.keysBehind.all(ofGeneration, behind, partition, limit)
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
      const rows = this.#database.statements.parkedBehind.iterate(key, partition as number, offset as number, limit)
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
      return { event: this.#database.statements.parkedAt.get(key, partition, offset) as ParkedEvent | undefined }
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
    return this.#read(generation, (key) => ({
      row: this.#database.statements.row.get(key, stream)?.row as string | undefined,
    }))
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
  const { statements, documentSets } = database
  const counts = { rows: statements.countRows, keys: statements.countKeys, parked: statements.countParked }
  const others = statements.otherSets.all(key) as { name: keyof typeof counts; size: number }[]
  return new Map([
    ...database.collections(key).map(({ name, key: collection, size: recorded }): [string, Size] => {
      return [name, { actual: Number(documentSets.get(collection).count.get()?.count), recorded }]
    }),
    ...others.map(({ name, size: recorded }): [string, Size] => {
      return [name, { actual: Number(counts[name].get(key)?.count), recorded }]
    }),
  ])
}
