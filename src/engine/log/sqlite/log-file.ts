import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { withSqliteReason } from '../../lib/errors/file-errors.ts'

const schemaVersion = 1
/** How long an append waits for the append of another process, blocking this process. */
const busyTimeoutMs = 1000

/**
 * Offsets begin at 0 and have no gaps. A release before checksums knows neither `checksum` nor 'last': what it appends
 * has none. `meta` holds the log id (as 'epoch'), the last reserved block, and in 'last' the offset and the checksum of
 * the last record that has one.
 */
const schema = `
  CREATE TABLE records ("offset" INTEGER PRIMARY KEY, key BLOB, value BLOB, headers TEXT, checksum INTEGER) STRICT;
  CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
`
const noChecksums = "INSERT INTO meta VALUES ('last', '-1 0')"

/**
 * Opens the file of a log, or creates it. Only its owner has it written ahead, so that a backup at which others look
 * stays one. Throws if the file cannot be used, saying why.
 */
export function openLogFile(file: string, isOwner: boolean): DatabaseSync {
  refuseForeignWal(file)
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { timeout: busyTimeoutMs })
    // FULL: a commit is on disk when it returns. SQLite's default for WAL would lose the last commits in a power
    // failure.
    db.exec('PRAGMA synchronous = FULL')
    if (isOwner) db.exec('PRAGMA journal_mode = WAL')
    prepareTables(db, file)
    return db
  } catch (error) {
    db?.close()
    throw withSqliteReason(error, file, 'restore it from a backup')
  }
}

// https://www.sqlite.org/fileformat.html#the_database_header
const writeVersionAt = 18
const walVersion = 2

/**
 * A file that is served says in its header that it is written ahead, before there is anything in its `-wal`; a backup
 * says that it is not. SQLite itself would apply the `-wal` of a killed process to whatever file is beside it.
 */
function refuseForeignWal(file: string): void {
  const wal = statSync(`${file}-wal`, { throwIfNoEntry: false })
  if (wal === undefined || wal.size === 0 || writeVersionOf(file) === walVersion) return
  throw new Error(
    `${file} is not the file that ${file}-wal belongs to, as when a backup is copied over the files of a process that was ` +
      `killed: to serve ${file}, remove ${file}-wal and ${file}-shm, or restore the backup into an empty folder`,
  )
}

function writeVersionOf(file: string): number | undefined {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined
  const opened = openSync(file, 'r')
  try {
    const version = Buffer.alloc(1)
    return readSync(opened, version, 0, 1, writeVersionAt) === 1 ? version[0] : undefined
  } finally {
    closeSync(opened)
  }
}

function prepareTables(db: DatabaseSync, file: string): void {
  const version = Number(db.prepare('PRAGMA user_version').get()?.user_version)
  if (version !== 0 && version !== schemaVersion) {
    throw new Error(
      `${file} is an event log of version ${version}, but this program reads version ${schemaVersion}: run the release that wrote it`,
    )
  }
  const has = (name: string) => columnsOf(db, name).length > 0
  if (has('records') && has('meta') && columnsOf(db, 'records').includes('checksum')) return
  db.exec('BEGIN IMMEDIATE') // another process may be doing the same
  if (version === 0 && !has('records') && !has('meta')) createTables(db)
  else if (!has('records') || !has('meta')) throw damaged(file, 'it lacks a table')
  else if (!columnsOf(db, 'records').includes('checksum')) addChecksums(db, file)
  db.exec('COMMIT')
}

function createTables(db: DatabaseSync): void {
  db.exec(`${schema} ${noChecksums}; PRAGMA user_version = ${schemaVersion}`)
  db.prepare("INSERT INTO meta VALUES ('epoch', ?)").run(randomUUID())
}

function addChecksums(db: DatabaseSync, file: string): void {
  // They came together: what names the column is damaged.
  if (db.prepare("SELECT value FROM meta WHERE name = 'last'").get() !== undefined)
    throw damaged(file, 'its table records lacks a column')
  db.exec(`ALTER TABLE records ADD COLUMN checksum INTEGER; ${noChecksums}`)
}

function damaged(file: string, reason: string): Error {
  return new Error(`${file} is damaged (${reason}): restore it from a backup`)
}

function columnsOf(db: DatabaseSync, table: string): readonly unknown[] {
  const columns = db.prepare('SELECT name FROM pragma_table_info(?)').all(table)
  return columns.map(({ name }) => name)
}
