import type { DatabaseSync } from 'node:sqlite'
import type { Logger } from 'pino'
import type { LogRecord, Offset, UndecodableBatch } from '../event-log.ts'
import { type DamagedLogError, damageIn } from './damage.ts'
import type { StoredRecords } from './stored-records.ts'

/** Reads up to the damage of a log, and knows of it from then on, until a read gets past it. */
export class RecordReader {
  readonly #db: DatabaseSync
  readonly #records: StoredRecords
  readonly #logger: Logger | undefined
  #damage: UndecodableBatch | undefined

  constructor(db: DatabaseSync, records: StoredRecords, logger: Logger | undefined) {
    this.#db = db
    this.#records = records
    this.#logger = logger
  }

  get damage(): UndecodableBatch | undefined {
    return this.#damage
  }

  /** As `StoredRecords.read`, but gives the records in front of damage, and throws DamagedLogError if there are none. */
  read(from: Offset, limit: number): readonly LogRecord[] {
    const records = this.#readWhole(from, limit) ?? this.#readToDamage(from, limit)
    const damage = this.#damage
    if (damage !== undefined && from <= damage.offset && damage.offset < from + records.length) {
      this.#damage = undefined
      this.#logger?.info(damage, 'the event log can be read again where it was damaged')
    }
    return records
  }

  /** Throws the damage that was found if it is still there. */
  lookAgain(): void {
    if (this.#damage !== undefined) this.read(this.#damage.offset, 1)
  }

  /** Does what damage must not keep from being done: what is in front of it can be read all the same. */
  noticing(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (this.damageIn(error) === undefined) throw error
    }
  }

  /** The damage that an error tells of, which is known from now on. Undefined for any other error. */
  damageIn(error: unknown): DamagedLogError | undefined {
    const damage = damageIn(error, this.#damage?.offset ?? 0)
    if (damage !== undefined) this.#remember(damage)
    return damage
  }

  #readWhole(from: Offset, limit: number): readonly LogRecord[] | undefined {
    try {
      return this.#records.read(from, limit)
    } catch (error) {
      if (damageIn(error, from) === undefined) throw error
      return undefined
    }
  }

  #readToDamage(from: Offset, limit: number): readonly LogRecord[] {
    const records: LogRecord[] = []
    this.#db.exec('BEGIN') // what another process appends meanwhile is no damage
    try {
      while (records.length < limit) {
        const [record] = this.#records.read(from + records.length, 1)
        if (record === undefined) break
        records.push(record)
      }
    } catch (error) {
      const damage = damageIn(error, from + records.length)
      if (damage === undefined) throw error
      this.#remember(damage)
      if (records.length === 0) throw damage
    } finally {
      this.#db.exec('COMMIT')
    }
    return records
  }

  /** The first one, where there are several: it is looked at again, and those behind it are found again. */
  #remember({ offset, reason }: DamagedLogError): void {
    if (this.#damage !== undefined && this.#damage.offset <= offset) return
    this.#damage = { partition: 0, offset, reason }
    this.#logger?.error(this.#damage, 'the event log is damaged, so nothing behind it is read')
  }
}
