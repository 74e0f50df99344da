import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { onTestFinished, vi } from 'vitest'
import type { EventLog } from '../../../../src/engine/log/event-log.ts'
import { openSqliteEventLog } from '../../../../src/engine/log/sqlite/sqlite-event-log.ts'
import { temporaryFolder } from '../../../lib/temporary-folder.ts'

const name = (what: string, offset: number) => `${what}-${String(offset).padStart(4, '0')}`

/** The record that the tests store at an offset: no two are alike in anything. */
export const recordAt = (offset: number) => ({
  key: name('key', offset),
  value: name('value', offset),
  headers: { of: name('headers', offset) },
})

export const recordsAt = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => recordAt(from + index))

/** What `read` gives of it. */
export const shownAt = (offset: number) => `${offset} ${name('key', offset)} ${name('value', offset)}`

/** A file with a log of so many records, which nobody has open. */
export async function storedLog(count: number, file = join(temporaryFolder(), 'log.db')): Promise<string> {
  const log = openSqliteEventLog({ file })
  for (let from = 0; from < count; from += 10) await log.append(0, recordsAt(from, Math.min(10, count - from)))
  await log.close()
  return file
}

/** The tables of a release before checksums, with so many records as it appended them. */
export function storedBefore(count: number): string {
  const file = join(temporaryFolder(), 'log.db')
  withDatabase(file, (db) => {
    db.exec(`
      PRAGMA journal_mode = WAL;
      CREATE TABLE IF NOT EXISTS records ("offset" INTEGER PRIMARY KEY, key BLOB, value BLOB, headers TEXT) STRICT;
      CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
      PRAGMA user_version = 1;
      INSERT INTO meta VALUES ('epoch', 'the log of before')`)
  })
  appendAsBefore(file, 0, count)
  return file
}

/** As a release before checksums appends. */
export function appendAsBefore(file: string, from: number, count: number): void {
  withDatabase(file, (db) => {
    const insert = db.prepare('INSERT INTO records ("offset", key, value, headers) VALUES (?, ?, ?, ?)')
    db.exec('BEGIN')
    for (const [index, { key, value, headers }] of recordsAt(from, count).entries()) {
      insert.run(from + index, Buffer.from(key), Buffer.from(value), JSON.stringify(headers))
    }
    db.exec('COMMIT')
  })
}

export function withDatabase<T>(file: string, work: (db: DatabaseSync) => T): T {
  using db = new DatabaseSync(file)
  return work(db)
}

/** The first of these bytes in a file become others. */
export function replaceBytes(file: string, text: string, other: string): void {
  const bytes = readFileSync(file)
  const at = bytes.indexOf(text)
  if (at === -1) throw new Error(`${text} is not in ${file}`)
  bytes.write(other, at)
  writeFileSync(file, bytes)
}

/** All that can be read of it in pages, and the error that ends it. */
export async function readAll(log: EventLog, page = 7): Promise<{ shown: string[]; error: Error | undefined }> {
  const shown: string[] = []
  try {
    for (;;) {
      const { records, next } = await log.read(0, shown.length, page)
      if (records.length === 0) return { shown, error: undefined }
      shown.push(...records.map(({ offset, key, value }) => `${offset} ${key} ${value}`))
      if (next !== shown.length) throw new Error(`read on from ${next}`)
    }
  } catch (error) {
    return { shown, error: error as Error }
  }
}

/** Until the returned function is called. */
export function failingCommits(error: Error): () => void {
  const { run } = StatementSync.prototype
  const failing = vi.spyOn(StatementSync.prototype, 'run').mockImplementation(function (
    this: StatementSync,
    ...values
  ) {
    if (this.sourceSQL === 'COMMIT') throw error
    return run.apply(this, values as never)
  })
  onTestFinished(() => failing.mockRestore())
  return () => failing.mockRestore()
}
