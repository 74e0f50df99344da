import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Logger } from 'pino'
import { withSqliteReason } from '../../lib/errors/file-errors.ts'
import { processName } from '../../lib/operating/process-name.ts'
import type {
  EventLog,
  LogRecord,
  NewRecord,
  Offset,
  ReadRecords,
  Subscriber,
  Subscription,
  UndecodableBatch,
} from '../event-log.ts'
import { outcomeUnknown, unanswered, unavailable } from '../failures.ts'
import { giveChecksums } from './give-checksums.ts'
import { openLogFile } from './log-file.ts'
import { PagedSubscription } from './paged-subscription.ts'
import { RecordReader } from './record-reader.ts'
import { StoredRecords } from './stored-records.ts'

const sqliteIoError = 10

export interface SqliteEventLogOptions {
  readonly file: string
  readonly logger?: Logger | undefined
  /** Whether this is the process that serves the log, or one beside it, which leaves the file as it is. */
  readonly isOwner?: boolean
}

/**
 * Opens the log in a SQLite file, or creates a new one. It has one partition. Other processes may open it at the same
 * time. Subscriptions of one group belong to one process: the first holds the partition, the others wait for it to
 * close.
 */
export function openSqliteEventLog({ file, logger, isOwner = true }: SqliteEventLogOptions): EventLog {
  const db = openLogFile(file, isOwner)
  try {
    return new SqliteEventLog(db, isOwner, logger)
  } catch (error) {
    db.close()
    throw withSqliteReason(error, file, 'restore it from a backup')
  }
}

class SqliteEventLog implements EventLog {
  readonly logId: string
  readonly partitions = 1
  readonly replaced = new Promise<void>(() => {})
  readonly warnings = []
  readonly #db: DatabaseSync
  readonly #records: StoredRecords
  readonly #reader: RecordReader
  readonly #reserveBlock: StatementSync
  /** Prepared: by `exec` they take several times as long. */
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #groups = new Map<string, PagedSubscription[]>()
  #lastAppended: readonly LogRecord[] = []
  #closed: Promise<void> | undefined

  constructor(db: DatabaseSync, isOwner: boolean, logger: Logger | undefined) {
    this.#db = db
    this.#records = new StoredRecords(db)
    this.#begin = db.prepare('BEGIN IMMEDIATE')
    this.#commit = db.prepare('COMMIT')
    this.#reader = new RecordReader(db, this.#records, logger)
    this.#reserveBlock = db.prepare(
      "INSERT INTO meta VALUES ('block', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value",
    )
    this.logId = String(db.prepare("SELECT value FROM meta WHERE name = 'epoch'").get()?.value)
    this.#reader.noticing(() => {
      if (isOwner) giveChecksums(this.#records, (work) => this.#transaction(work), logger)
      else this.#records.expectEnd()
    })
  }

  get undecodable(): readonly UndecodableBatch[] {
    return this.#reader.damage === undefined ? [] : [this.#reader.damage]
  }

  partitionFor(_key: string): number {
    return 0
  }

  async append(partition: number, records: readonly NewRecord[]): Promise<Offset> {
    if (partition !== 0) throw new RangeError(`partition ${partition} does not exist: this log has one partition`)
    const appended = this.#attempt(() => {
      this.#reader.lookAgain()
      return this.#transaction(() => this.#records.insert(records))
    }, failedCommit)
    this.#records.committed()
    this.#lastAppended = appended
    for (const [holder] of this.#groups.values()) holder?.wake()
    return appended[0]?.offset ?? 0
  }

  /** In a transaction of its own: `get` does not tell that the commit of a single statement failed, as on a full disk. */
  async reserveIdBlock(): Promise<number> {
    return this.#attempt(() => this.#transaction(() => Number(this.#reserveBlock.get()?.value)))
  }

  async endOffsets(): Promise<readonly Offset[]> {
    return this.#attempt(() => [this.#records.end()])
  }

  async read(partition: number, from: Offset, limit: number): Promise<ReadRecords> {
    if (partition !== 0) throw new RangeError(`partition ${partition} of a log that has one`)
    const records = this.#attempt(() => this.#reader.read(from, limit))
    return { records, next: from + records.length }
  }

  async confirm(): Promise<void> {
    this.#attempt(() => {
      this.#reader.lookAgain()
      this.#records.expectEnd()
    })
  }

  async ownersIn(group: string): Promise<ReadonlyMap<number, string>> {
    return this.#attempt(() => new Map(this.#groups.get(group)?.length ? [[0, processName]] : []))
  }

  async subscribe(group: string, subscriber: Subscriber): Promise<Subscription> {
    this.#attempt(() => {}) // a closed log accepts no subscriptions
    const members = this.#groups.get(group) ?? []
    this.#groups.set(group, members)
    const member = new PagedSubscription(subscriber, (from, limit) => this.#readPage(from, limit))
    members.push(member)
    // Only after the caller has received its subscription
    setImmediate(() => member.assign(members[0] === member ? [0] : []))
    return {
      seek: (partition, offset) => member.seek(partition, offset),
      close: async () => {
        await member.close()
        const place = members.indexOf(member)
        if (place !== -1) members.splice(place, 1)
        if (place === 0) members[0]?.assign([0])
      },
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#groups.values()].flat().map((member) => member.close()))
    this.#db.close()
  }

  #readPage(from: Offset, limit: number): readonly LogRecord[] {
    // A subscription that keeps up reads the records just appended: fetching them takes 3 to 6 µs per record.
    if (this.#lastAppended[0]?.offset === from && this.#lastAppended.length <= limit) return this.#lastAppended
    const records = this.#reader.read(from, limit)
    return records.length === 0 && from > this.#records.end() ? this.#readPage(0, limit) : records
  }

  #transaction<T>(work: () => T): T {
    this.#begin.run()
    try {
      const result = work()
      this.#commit.run()
      return result
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK') // some errors have rolled back already
      throw error
    }
  }

  #attempt<T>(work: () => T, failure: (cause: unknown) => Error = unanswered): T {
    try {
      if (this.#closed) throw new Error('the event log is closed')
      return work()
    } catch (error) {
      const damage = this.#reader.damageIn(error)
      throw damage === undefined ? failure(error) : unanswered(damage, damage.message)
    }
  }
}

/**
 * A statement or transaction that throws has had no effect, with one exception: a disk that fails while it syncs a
 * commit may have written it nevertheless. The transaction is rolled back here, but a recovery after a crash would find
 * it in the write-ahead log.
 */
function failedCommit(cause: unknown): Error {
  const { errcode } = cause as { errcode?: number }
  // SQLite's extended result codes have the primary one in their lowest byte.
  return errcode !== undefined && (errcode & 0xff) === sqliteIoError ? outcomeUnknown(cause) : unavailable(cause)
}
