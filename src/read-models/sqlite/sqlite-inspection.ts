import {
  type Contents,
  type DecidedKeys,
  type Entries,
  type Inspection,
  type ParkedEvents,
  type ParkedThere,
  type Place,
  parkedCharactersMax,
  type Size,
} from '../inspection.ts'
import { decodeDecision } from '../key-decision.ts'
import type { ParkedAt, ParkedEvent, RangeQuery } from '../read-models.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { collectionName } from './sqlite-tables.ts'

interface ParkedRow extends Omit<ParkedEvent, 'offset'> {
  readonly record_offset: number
}
type ParkedAtRow = ParkedRow & Pick<ParkedAt, 'partition'>

const empty: Size = { held: 0, added: 0 }

export class SqliteInspection implements Inspection {
  protected readonly database: SqliteDatabase

  constructor(database: SqliteDatabase) {
    this.database = database
  }

  async contents(generation: string): Promise<Contents | undefined> {
    return this.#read(generation, (key) => {
      const { statements } = this.database
      const counters = statements.counters.all(key) as { name: string; count: number }[]
      return {
        moment: this.database.moment(key),
        ...this.#sizes(key),
        counters: new Map(counters.map(({ name, count }) => [name, count])),
        parked: Number(statements.countParked.get(key)?.count),
        decisions: Number(statements.countDecisions.get(key)?.count),
      }
    })
  }

  async entries(
    generation: string,
    { index, from, limit }: Pick<RangeQuery, 'index' | 'from' | 'limit'>,
  ): Promise<Entries | undefined> {
    return this.#read(generation, (key) => {
      const moment = this.database.moment(key)
      const collection = this.database.statements.collectionKey.get(key, collectionName(index))?.key
      if (collection === undefined) return { moment, entries: [] }
      const rows = this.database.collections.table(Number(collection)).entries.all(from, limit)
      return { moment, entries: rows.map(({ id, text }) => ({ id: Number(id), text: String(text) })) }
    })
  }

  async decisions(generation: string, from: string, limit: number): Promise<DecidedKeys | undefined> {
    return this.#read(generation, (key) => {
      const rows = this.database.statements.decisionsFrom.all(key, from, limit) as { key: string; decision: string }[]
      return {
        moment: this.database.moment(key),
        decisions: rows.map((row) => decodeDecision(row.key, row.decision)),
        next: rows.length < limit ? undefined : rows.at(-1)?.key,
      }
    })
  }

  async parked(generation: string, from: string, limit: number): Promise<ParkedEvents | undefined> {
    const [partition, offset] = from === '' ? [-1, -1] : from.split('/').map(Number)
    return this.#read(generation, (key) => {
      const rows = this.database.statements.parkedBehind.iterate(key, partition as number, offset as number, limit)
      const events: ParkedAt[] = []
      let characters = 0
      for (const row of rows as unknown as Iterable<ParkedAtRow>) {
        events.push(parkedAt(row))
        characters += row.value.length
        if (characters >= parkedCharactersMax) break
      }
      const isEnd = events.length < limit && characters < parkedCharactersMax
      const last = events.at(-1)
      return {
        moment: this.database.moment(key),
        events,
        next: isEnd || last === undefined ? undefined : `${last.partition}/${last.offset}`,
      }
    })
  }

  async parkedAt(generation: string, { partition, offset }: Place): Promise<ParkedThere | undefined> {
    return this.#read(generation, (key) => {
      const row = this.database.statements.parkedAt.get(key, partition, offset) as ParkedAtRow | undefined
      return { moment: this.database.moment(key), event: row && parkedAt(row) }
    })
  }

  /** In order of offset. */
  async parkedUnder(generation: string, partition: number, subject: string): Promise<readonly ParkedEvent[]> {
    const events = this.#read(generation, (key) => {
      const rows = this.database.statements.parkedUnder.all(key, partition, subject) as unknown as ParkedRow[]
      return rows.map(parkedEvent)
    })
    return events ?? []
  }

  #sizes(key: number): Pick<Contents, 'documents' | 'indexes'> {
    const sizes = this.database.collectionsOf(key).map(({ name, key: collection, added }): [string, Size] => {
      return [name, { held: Number(this.database.collections.table(collection).count.get()?.count), added }]
    })
    const documents = collectionName(undefined)
    const prefix = collectionName('')
    const indexes = sizes.filter(([name]) => name !== documents)
    return {
      documents: new Map(sizes).get(documents) ?? empty,
      indexes: new Map(indexes.map(([name, size]) => [name.slice(prefix.length), size])),
    }
  }

  #read<T>(generation: string, work: (key: number) => T): T | undefined {
    return this.database.read(() => {
      const key = this.database.key(generation)
      return key === undefined ? undefined : work(key)
    })
  }
}

function parkedEvent({ record_offset: offset, subject, reason, value }: ParkedRow): ParkedEvent {
  return { offset, subject, reason, value }
}

function parkedAt(row: ParkedAtRow): ParkedAt {
  return { partition: row.partition, ...parkedEvent(row) }
}
