import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const fileIn = (folder: string) => join(folder, 'event-log.db')

/**
 * Has an embedded log that nobody serves lose its last events, as if they had never been appended: an earlier state of
 * its file. Returns the ids of the pets of what is left.
 */
export function cutEmbeddedLog(folder: string, lost: number): ReadonlySet<number> {
  const db = new DatabaseSync(fileIn(folder))
  db.prepare('DELETE FROM records WHERE "offset" > (SELECT MAX("offset") FROM records) - ?').run(lost)
  const last = `SELECT "offset" || ' ' || checksum FROM records ORDER BY "offset" DESC LIMIT 1`
  db.exec(`UPDATE meta SET value = coalesce((${last}), '-1 0') WHERE name = 'last'`)
  const kept = db.prepare('SELECT value FROM records').all()
  db.close()
  return new Set(kept.map(({ value }) => JSON.parse(Buffer.from(value as Uint8Array).toString()).data.id as number))
}

/** Replaces a text in the file of an embedded log that nobody serves with another of the same length. */
export function replaceInLog(folder: string, text: string, other: string): void {
  const bytes = readFileSync(fileIn(folder))
  const at = bytes.indexOf(text)
  if (at === -1 || text.length !== other.length)
    throw new Error(`${text} is not in the log, or ${other} is no such text`)
  bytes.write(other, at)
  writeFileSync(fileIn(folder), bytes)
}

export function changeLog(folder: string, sql: string): void {
  const db = new DatabaseSync(fileIn(folder))
  db.exec(sql)
  db.close()
}
