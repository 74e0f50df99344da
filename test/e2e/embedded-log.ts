import { join } from 'node:path'
import { openSqliteEventLog } from '../../src/engine/log/sqlite/sqlite-event-log.ts'
import { replaceBytes, withDatabase } from '../engine/log/sqlite/stored-log.ts'
import { numbers } from '../engine/read-models/contract/values.ts'

const fileIn = (folder: string) => join(folder, 'event-log.db')

/**
 * Has an embedded log that nobody serves lose its last events, as if they had never been appended: an earlier state of
 * its file. Returns the ids of the pets of what is left.
 */
export function cutEmbeddedLog(folder: string, lost: number): ReadonlySet<number> {
  return withDatabase(fileIn(folder), (db) => {
    db.prepare('DELETE FROM records WHERE "offset" > (SELECT MAX("offset") FROM records) - ?').run(lost)
    const last = `SELECT "offset" || ' ' || checksum FROM records ORDER BY "offset" DESC LIMIT 1`
    db.exec(`UPDATE meta SET value = coalesce((${last}), '-1 0') WHERE name = 'last'`)
    const kept = db.prepare('SELECT value FROM records').all()
    return new Set(kept.map(({ value }) => JSON.parse(Buffer.from(value as Uint8Array).toString()).data.id as number))
  })
}

/** Replaces a text in the file of an embedded log that nobody serves with another of the same length. */
export function replaceInLog(folder: string, text: string, other: string): void {
  if (text.length !== other.length) throw new Error(`${other} is not as long as ${text}`)
  replaceBytes(fileIn(folder), text, other)
}

export function changeLog(folder: string, sql: string): void {
  withDatabase(fileIn(folder), (db) => db.exec(sql))
}

/** The log forgets which block of ids was reserved. */
export function forgetBlock(folder: string): void {
  changeLog(folder, "DELETE FROM meta WHERE name = 'block'")
}

export function inThousands<T>(records: readonly T[]): T[][] {
  return numbers(Math.ceil(records.length / 1000), 0).map((n) => records.slice(1000 * n, 1000 * (n + 1)))
}

/** As another program may write to the log. */
export async function appendToLog(folder: string, records: readonly { key: string; value: string }[]): Promise<void> {
  const log = openSqliteEventLog({ file: fileIn(folder) })
  const written = records.map((record) => ({ ...record, headers: {} }))
  for (const some of inThousands(written)) await log.append(0, some)
  await log.close()
}
