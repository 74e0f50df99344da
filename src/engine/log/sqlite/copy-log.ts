import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { isDamagedFile, withSqliteReason } from '../../lib/errors/file-errors.ts'
import { type Offset, readMax } from '../event-log.ts'
import { damageIn } from './damage.ts'
import { openLogFile } from './log-file.ts'
import { RecordReader } from './record-reader.ts'
import { StoredRecords } from './stored-records.ts'

type Progress = (done: Offset, end: Offset) => void

/**
 * Copies a log as it is at one moment, however much is written to it meanwhile: a copy that follows the writes would
 * begin anew with each. Then reads the copy from its beginning to its end, and throws DamagedLogError where it is damaged.
 * `file` is new, and is not written ahead, which marks it as a copy that was never served. Returns how many records it has.
 */
export function copySqliteEventLog(from: string, file: string, progress: Progress): number {
  try {
    using log = new DatabaseSync(from, { timeout: 5000 })
    log.prepare('VACUUM INTO ?').run(file)
  } catch (error) {
    if (isDamagedFile(error)) readThrough(from, progress) // throws, if SQLite can say where
    throw withSqliteReason(error, from, 'restore it from a backup')
  }
  return readThrough(file, progress, (copy) => {
    // The copy gets its own log id, so tokens and tags of the original are refused.
    copy.prepare("UPDATE meta SET value = ? WHERE name = 'epoch'").run(randomUUID())
  })
}

function readThrough(file: string, progress: Progress, prepare?: (db: DatabaseSync) => void): number {
  using db = openLogFile(file, false)
  prepare?.(db)
  const records = new StoredRecords(db)
  const reader = new RecordReader(db, records, undefined)
  let next = 0
  try {
    const end = records.end()
    while (next < end) {
      next += reader.read(next, readMax).length
      progress(next, end)
    }
    records.expectEnd()
    return end
  } catch (error) {
    throw damageIn(error, next) ?? error
  }
}
