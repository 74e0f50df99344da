import { DatabaseSync } from 'node:sqlite'

export interface CopyOptions {
  /** A new file. */
  readonly file: string
  /** The copy is another log: what was given out after it was made, tokens and tags, must not fit what comes to it. */
  readonly logId: string
}

/**
 * Copies a log as it is at one moment, however much is written to it meanwhile: a copy that follows the writes would
 * begin anew with each. Returns how many records it has.
 */
export function copySqliteEventLog(from: string, { file, logId }: CopyOptions): number {
  const log = new DatabaseSync(from, { timeout: 5000 })
  try {
    log.prepare('VACUUM INTO ?').run(file)
  } finally {
    log.close()
  }
  const copy = new DatabaseSync(file)
  try {
    copy.prepare("UPDATE meta SET value = ? WHERE name = 'epoch'").run(logId)
    return Number(copy.prepare('SELECT count(*) AS records FROM records').get()?.records)
  } finally {
    copy.close()
  }
}
