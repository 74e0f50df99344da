import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { withSqliteReason } from '../../lib/file-errors.ts'

/**
 * Copies a log as it is at one moment, however much is written to it meanwhile: a copy that follows the writes would
 * begin anew with each. `file` is new. Returns how many records it has.
 */
export function copySqliteEventLog(from: string, file: string): number {
  try {
    using log = new DatabaseSync(from, { timeout: 5000 })
    log.prepare('VACUUM INTO ?').run(file)
  } catch (error) {
    throw withSqliteReason(error, from, 'restore it from a backup')
  }
  const copy = new DatabaseSync(file)
  try {
    // The copy gets its own log id, so tokens and tags of the original are refused.
    copy.prepare("UPDATE meta SET value = ? WHERE name = 'epoch'").run(randomUUID())
    return Number(copy.prepare('SELECT count(*) AS records FROM records').get()?.records)
  } finally {
    copy.close()
  }
}
