import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { EventLog } from '../../../../src/engine/log/event-log.ts'
import { openSqliteEventLog } from '../../../../src/engine/log/sqlite/sqlite-event-log.ts'
import { temporaryFolder } from '../../../lib/temporary-folder.ts'
import { closedAfterTest, eventually, records } from '../contract/fixture.ts'
import { eventLogContract } from '../event-log.contract.ts'
import { RecordingSubscriber } from '../recording-subscriber.ts'
import { failingCommits, withDatabase } from './stored-log.ts'

eventLogContract('SQLite', async () => {
  const { file, log } = openNew()
  withDatabase(file, (db) =>
    db.exec(`CREATE TRIGGER refuse BEFORE INSERT ON records WHEN NEW.key = CAST('refused' AS BLOB)
      BEGIN SELECT RAISE(ABORT, 'refused'); END`),
  )
  const insert = 'INSERT INTO records ("offset", key, value) SELECT coalesce(max("offset") + 1, 0), ?, ? FROM records'
  return {
    log,
    open: async () => closedAfterTest(openSqliteEventLog({ file })),
    refused: { key: 'refused', value: '', headers: {} },
    appendForeign: async ({ key, value }) => void withDatabase(file, (db) => db.prepare(insert).run(key, value)),
  }
})

describe('SQLite event log', () => {
  it('writes ahead, so that readers and a writer do not wait for each other', () => {
    const { file } = openNew()
    expect(query(file, 'PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }])
  })

  it('keeps the headers of a record', async () => {
    const { file, log } = openNew()
    await log.append(0, [{ key: 'k', value: 'v', headers: { 'content-type': 'text/plain' } }])
    expect(query(file, 'SELECT headers FROM records')).toEqual([{ headers: '{"content-type":"text/plain"}' }])
  })

  it('is unavailable while another process holds the write lock, has then appended nothing, and recovers', async () => {
    const { file, log } = openNew()
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    await expect(log.append(0, records('a'))).rejects.toMatchObject({ code: 'event_log_unavailable' })
    await expect(log.reserveIdBlock()).rejects.toMatchObject({ code: 'event_log_unavailable' })
    other.close()
    expect(await log.endOffsets()).toEqual([0])
    expect(await log.append(0, records('b'))).toBe(0)
  })

  // Only root can make a disk that is full.
  it.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
    'gives no block away on a full disk, where it could not be kept',
    async () => {
      const folder = temporaryFolder()
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder])
      onTestFinished(() => void execFileSync('umount', ['-l', folder]))
      const log = closedAfterTest(openSqliteEventLog({ file: join(folder, 'log.db') }))
      expect(await log.reserveIdBlock()).toBe(1)
      const filler = join(folder, 'filler')
      expect(() => writeFileSync(filler, Buffer.alloc(2 ** 21))).toThrow('ENOSPC')
      await expect(log.reserveIdBlock()).rejects.toMatchObject({ code: 'event_log_unavailable' })
      rmSync(filler)
      expect(await log.reserveIdBlock()).toBe(2)
      expect(await log.reserveIdBlock()).toBe(3)
    },
  )

  it.each([
    ['SQLITE_IOERR_FSYNC', 1034, 'append_outcome_unknown'],
    ['SQLITE_FULL', 13, 'event_log_unavailable'],
  ])('tells of a commit that fails with %s (%d) as %s', async (_, errcode, code) => {
    const { log } = openNew()
    const restore = failingCommits(Object.assign(new Error('disk'), { errcode }))
    await expect(log.append(0, records('a'))).rejects.toMatchObject({ code })
    restore()
    expect(await log.append(0, records('b'))).toBe(0)
  })

  it('refuses a file of another version, saying so', () => {
    const file = newFile()
    withDatabase(file, (db) => db.exec('PRAGMA user_version = 7'))
    expect(() => openSqliteEventLog({ file })).toThrow(/log\.sqlite is an event log of version 7, .* reads version 1:/)
  })

  it('refuses a file that is no database', () => {
    expect(() => openSqliteEventLog({ file: dirname(newFile()) })).toThrow()
  })

  it('gives a long log in several batches', async () => {
    const { log } = openNew()
    for (let i = 0; i < 3; i++) await log.append(0, records(...Array.from({ length: 1000 }, () => 'x')))
    const subscriber = await RecordingSubscriber.on(log)
    await eventually(() => subscriber.batches.map(({ next }) => next), [1000, 2000, 3000])
  })
})

function newFile(): string {
  return join(temporaryFolder(), 'log.sqlite')
}

function openNew(): { file: string; log: EventLog } {
  const file = newFile()
  return { file, log: closedAfterTest(openSqliteEventLog({ file })) }
}

function query(file: string, sql: string): unknown[] {
  return withDatabase(file, (db) => db.prepare(sql).all())
}
