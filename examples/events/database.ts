import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { type Effect, type Memory, type Order, type Pet, type TopicRecord, takeRecord } from './rule.ts'

const tables = `
  PRAGMA journal_mode = WAL;
  -- After a power cut the last commits may be missing: the positions with them, so that their records are read again.
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS positions (partition INTEGER PRIMARY KEY, next INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS streams (key TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS idempotency_keys (partition INTEGER, key TEXT, PRIMARY KEY (partition, key)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS pets (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, category_id INTEGER NOT NULL, status TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS removed_pets (id INTEGER PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS descriptions (id INTEGER PRIMARY KEY, description TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS orders (
    id INTEGER PRIMARY KEY, pet_id INTEGER NOT NULL, status TEXT NOT NULL, placed_at TEXT NOT NULL, updated_at TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS orders_of_pets ON orders (pet_id);
`

/** For other processes that share the file. */
const busyTimeoutMs = 10_000

export interface Batch {
  readonly partition: number
  /** In order of offset. */
  readonly records: readonly (TopicRecord & { readonly offset: number })[]
}

/** What a consumer remembers, in one SQLite file. To have it rebuilt from the topic, stop the consumer and delete the file. */
export class Database implements Memory {
  readonly sql: DatabaseSync

  constructor(file: string) {
    this.sql = new DatabaseSync(file, { timeout: busyTimeoutMs })
    this.sql.exec(tables)
  }

  /** The offset to go on at. */
  next(partition: number): number {
    return Number(this.row('SELECT next FROM positions WHERE partition = ?', partition)?.next ?? 0)
  }

  /**
   * Takes a batch and moves the position in one transaction. Records before the position are skipped: another process had
   * the partition meanwhile, and took them. `handle` runs within the transaction.
   */
  take(
    { partition, records }: Batch,
    partitionFor: (key: string) => number,
    handle: (effect: Effect, offset: number) => void,
  ): void {
    this.sql.exec('BEGIN IMMEDIATE')
    try {
      let next = this.next(partition)
      for (const record of records) {
        if (record.offset < next) continue
        const effect = takeRecord(record, this, partitionFor)
        if (effect !== undefined) handle(effect, record.offset)
        next = record.offset + 1
      }
      this.run('INSERT OR REPLACE INTO positions VALUES (?, ?)', partition, next)
      this.sql.exec('COMMIT')
    } catch (error) {
      this.sql.exec('ROLLBACK')
      throw error
    }
  }

  versionOf(stream: string): number {
    return Number(this.row('SELECT version FROM streams WHERE key = ?', stream)?.version ?? 0)
  }

  setVersion(stream: string, version: number): void {
    this.run('INSERT OR REPLACE INTO streams VALUES (?, ?)', stream, version)
  }

  hasKey(partition: number, idempotencyKey: string): boolean {
    const query = 'SELECT 1 FROM idempotency_keys WHERE partition = ? AND key = ?'
    return this.row(query, partition, idempotencyKey) !== undefined
  }

  addKey(partition: number, idempotencyKey: string): void {
    this.run('INSERT INTO idempotency_keys VALUES (?, ?)', partition, idempotencyKey)
  }

  pet(id: number): Pet | undefined {
    const row = this.row('SELECT * FROM pets WHERE id = ?', id)
    if (row === undefined) return undefined
    const described = this.row('SELECT description FROM descriptions WHERE id = ?', id)
    const removed = this.row('SELECT 1 FROM removed_pets WHERE id = ?', id) && { isRemoved: true }
    return { id, name: row.name, categoryId: row.category_id, status: row.status, ...described, ...removed } as Pet
  }

  setPet({ id, name, categoryId, status, description, isRemoved }: Pet): void {
    this.run('INSERT OR REPLACE INTO pets VALUES (?, ?, ?, ?)', id, name, categoryId, status)
    if (description === undefined) this.run('DELETE FROM descriptions WHERE id = ?', id)
    else this.run('INSERT OR REPLACE INTO descriptions VALUES (?, ?)', id, description)
    if (isRemoved) this.run('INSERT OR REPLACE INTO removed_pets VALUES (?)', id)
  }

  order(id: number): Order | undefined {
    const row = this.row('SELECT * FROM orders WHERE id = ?', id)
    return row && orderIn(row)
  }

  openOrder(petId: number): Order | undefined {
    const row = this.row("SELECT * FROM orders WHERE pet_id = ? AND status IN ('placed', 'approved')", petId)
    return row && orderIn(row)
  }

  setOrder({ id, petId, status, placedAt, updatedAt }: Order): void {
    this.run('INSERT OR REPLACE INTO orders VALUES (?, ?, ?, ?, ?)', id, petId, status, placedAt, updatedAt)
  }

  run(statement: string, ...values: SQLInputValue[]): void {
    this.#prepared(statement).run(...values)
  }

  /** The first row, if there is one. Integers come as bigint: a category id has more digits than a number can hold. */
  row(query: string, ...values: SQLInputValue[]) {
    return this.#prepared(query).get(...values)
  }

  readonly #statements = new Map<string, ReturnType<DatabaseSync['prepare']>>()

  #prepared(statement: string) {
    const prepared = this.#statements.get(statement) ?? this.sql.prepare(statement)
    if (!this.#statements.has(statement)) {
      prepared.setReadBigInts(true)
      this.#statements.set(statement, prepared)
    }
    return prepared
  }
}

function orderIn(row: Readonly<Record<string, unknown>>): Order {
  const { status, placed_at: placedAt, updated_at: updatedAt } = row
  return { id: Number(row.id), petId: Number(row.pet_id), status, placedAt, updatedAt } as Order
}
