import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { isDamagedFile } from '../../lib/errors/file-errors.ts'
import type { LogRecord, NewRecord, Offset } from '../event-log.ts'
import { DamagedLogError, damageIn, isBehindTheEnd, isGone, isNotTheLast } from './damage.ts'
import { checksumOf, firstSeed, type RecordContent } from './record-checksum.ts'

/** The offset and the checksum of the last record that has one; offset -1 where none has. */
interface Last {
  readonly offset: Offset
  readonly checksum: number
}

/** The end that this process wrote. */
interface OwnEnd {
  readonly last: Last
  readonly dataVersion: unknown
}

type Row = [
  offset: Offset,
  keyLength: number | null,
  valueLength: number | null,
  headersLength: number | null,
  bytes: Uint8Array,
  checksum: number | null,
]

/** How many records of a release before checksums an append gives theirs, in front of its own. */
const caughtUpMax = 1000

/**
 * The records of a log by offset, checked as they are read. Each method throws DamagedLogError where they are not as
 * they were written, and errors of SQLite. `insert` and `giveChecksums` belong into a transaction.
 */
export class StoredRecords {
  readonly #rows: StatementSync
  readonly #end: StatementSync
  readonly #checksumAt: StatementSync
  readonly #insert: StatementSync
  readonly #setChecksum: StatementSync
  readonly #last: StatementSync
  readonly #setLast: StatementSync
  readonly #dataVersion: StatementSync
  #inserted: OwnEnd | undefined
  #own: OwnEnd | undefined

  constructor(db: DatabaseSync) {
    // One BLOB instead of three columns: reading and checking it takes less time than three without a check.
    const bytes = "CAST(coalesce(key, '') || coalesce(value, '') || coalesce(headers, '') AS BLOB)"
    const lengths = 'octet_length(key), octet_length(value), octet_length(headers)'
    this.#rows = db.prepare(
      `SELECT "offset", ${lengths}, ${bytes}, checksum FROM records WHERE "offset" >= ? ORDER BY "offset" LIMIT ?`,
    )
    this.#rows.setReturnArrays(true)
    this.#end = db.prepare('SELECT coalesce(max("offset") + 1, 0) AS "end" FROM records')
    this.#checksumAt = db.prepare('SELECT checksum FROM records WHERE "offset" = ?')
    this.#insert = db.prepare('INSERT INTO records ("offset", key, value, headers, checksum) VALUES (?, ?, ?, ?, ?)')
    this.#setChecksum = db.prepare('UPDATE records SET checksum = ? WHERE "offset" = ?')
    this.#last = db.prepare("SELECT value FROM meta WHERE name = 'last'")
    this.#dataVersion = db.prepare('PRAGMA data_version')
    this.#setLast = db.prepare("UPDATE meta SET value = ? WHERE name = 'last'")
  }

  /** The offset behind the last record, also where the last ones are lost. */
  end(): Offset {
    const last = this.#readLast()
    const found = this.#readEnd(last)
    if (last === undefined) return found
    // Behind the last checksum are only records without one: another offset there is damage.
    const isLonger = found > last.offset + 1 && this.#readChecksum(found - 1) === null
    return isLonger ? found : last.offset + 1
  }

  /** Up to `limit` records from an offset on; fewer only at the end. */
  read(from: Offset, limit: number): LogRecord[] {
    const end = this.end() // before the records: those that are appended meanwhile are behind it
    const last = this.#readLast() ?? { offset: end - 1, checksum: undefined }
    let checksum = from <= last.offset ? this.#readSeed(from) : firstSeed
    const records: LogRecord[] = []
    for (const row of this.#readRows(from, limit)) {
      const [offset, , , , , stored] = row
      if (offset !== from + records.length) throw isGone(from + records.length)
      if (offset <= last.offset) {
        checksum = checksumOf(checksum, offset, contentOf(row))
        if (checksum !== stored) throw new DamagedLogError(offset, 'its checksum does not match its content')
        if (offset === last.offset && checksum !== (last.checksum ?? checksum)) throw isNotTheLast(offset)
      } else if (stored !== null) throw isBehindTheEnd(offset)
      records.push(recordOf(row))
    }
    const next = from + records.length
    if (records.length < limit && next < end) throw isGone(next)
    return records
  }

  /** Throws unless the log ends where it did after the last append. `end` is as of the method of that name. */
  expectEnd(): Last & { readonly end: Offset } {
    const last = this.#readLast()
    const found = this.#readEnd(last)
    if (last === undefined) throw new DamagedLogError(found, 'where it ends is not known any more')
    const { offset, checksum } = last
    if (found <= offset) throw isGone(found)
    if (offset >= 0 && this.#readChecksum(offset) !== checksum) throw isNotTheLast(offset)
    if (found > offset + 1 && this.#readChecksum(found - 1) !== null) throw isBehindTheEnd(offset + 1)
    return { ...last, end: found }
  }

  /**
   * Behind more records without a checksum than it can catch up with, the new ones have none either. `committed` is to be
   * called once they are.
   */
  insert(added: readonly NewRecord[]): LogRecord[] {
    const dataVersion = this.#dataVersion.get()?.data_version
    const { end: first, ...noted } = this.#endOfOwn(dataVersion) ?? this.expectEnd()
    this.#own = undefined
    const last = noted.offset + 1 < first ? this.giveChecksums(caughtUpMax) : noted
    const isCaughtUp = last.offset + 1 === first
    let { checksum } = last
    const records = added.map(({ key, value, headers }, index) => {
      const record = { offset: first + index, key: Buffer.from(key), value: Buffer.from(value) }
      const text = JSON.stringify(headers)
      const content = inOnePiece(record.key, record.value, Buffer.from(text))
      if (isCaughtUp) checksum = checksumOf(checksum, record.offset, content)
      this.#insert.run(record.offset, record.key, record.value, text, isCaughtUp ? checksum : null)
      return record
    })
    if (isCaughtUp)
      this.#inserted = { last: this.#writeLast({ offset: first + records.length - 1, checksum }), dataVersion }
    return records
  }

  /** What was inserted is in the log. */
  committed(): void {
    this.#own = this.#inserted
    this.#inserted = undefined
  }

  /** The end, if this process wrote it, and no other one has written since: only that changes the version of the data. */
  #endOfOwn(dataVersion: unknown): (Last & { readonly end: Offset }) | undefined {
    if (this.#own === undefined || this.#own.dataVersion !== dataVersion) return undefined
    return { ...this.#own.last, end: this.#own.last.offset + 1 }
  }

  /** Gives checksums to the next records that have none. Returns the last one that has one then. */
  giveChecksums(limit: number): Last {
    let { offset, checksum } = this.expectEnd()
    for (const row of this.#readRows(offset + 1, limit)) {
      offset++
      if (row[0] !== offset) throw isGone(offset)
      if (row[5] !== null) throw isBehindTheEnd(offset)
      checksum = checksumOf(checksum, offset, contentOf(row))
      this.#setChecksum.run(checksum, offset)
    }
    this.#writeLast({ offset, checksum })
    return { offset, checksum }
  }

  #readRows(from: Offset, limit: number): Row[] {
    return this.#rows.all(from, limit) as unknown as Row[]
  }

  /** As far as is known, where SQLite cannot read it. */
  #readEnd(last: Last | undefined): Offset {
    try {
      return Number(this.#end.get()?.end)
    } catch (error) {
      if (last === undefined || !isDamagedFile(error)) throw error
      return last.offset + 1
    }
  }

  /** The checksum in front of an offset. */
  #readSeed(offset: Offset): number {
    if (offset === 0) return firstSeed
    const checksum = this.#readChecksum(offset - 1)
    if (checksum === undefined) throw isGone(offset - 1)
    if (checksum === null) throw new DamagedLogError(offset - 1, 'it has no checksum')
    return checksum
  }

  /** Null where the record has none, undefined where there is no record. */
  #readChecksum(offset: Offset): number | null | undefined {
    try {
      return this.#checksumAt.get(offset)?.checksum as number | null | undefined
    } catch (error) {
      throw damageIn(error, offset) ?? error
    }
  }

  /** Undefined where it cannot be read any more. */
  #readLast(): Last | undefined {
    try {
      const [, offset, checksum] = /^(-1|\d{1,16}) (\d{1,10})$/.exec(String(this.#last.get()?.value)) ?? []
      return checksum === undefined ? undefined : { offset: Number(offset), checksum: Number(checksum) }
    } catch (error) {
      if (!isDamagedFile(error)) throw error
      return undefined
    }
  }

  #writeLast(last: Last): Last {
    this.#setLast.run(`${last.offset} ${last.checksum}`)
    return last
  }
}

function contentOf([, keyLength, valueLength, headersLength, bytes]: Row): RecordContent {
  return { keyLength, valueLength, headersLength, bytes }
}

function inOnePiece(key: Buffer, value: Buffer, headers: Buffer): RecordContent {
  const lengths = { keyLength: key.length, valueLength: value.length, headersLength: headers.length }
  return { ...lengths, bytes: Buffer.concat([key, value, headers]) }
}

function recordOf([offset, keyLength, valueLength, , { buffer, byteOffset }]: Row): LogRecord {
  const valueAt = byteOffset + (keyLength ?? 0)
  return {
    offset,
    key: keyLength === null ? null : Buffer.from(buffer, byteOffset, keyLength),
    value: valueLength === null ? null : Buffer.from(buffer, valueAt, valueLength),
  }
}
