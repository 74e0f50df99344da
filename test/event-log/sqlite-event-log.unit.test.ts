import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { EventLog } from '../../src/event-log/event-log.ts'
import { openSqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts'
import { type EventLogFixture, records } from './contract/fixture.ts'
import { eventLogContract } from './event-log.contract.ts'
import { RecordingSubscriber } from './recording-subscriber.ts'

eventLogContract('SQLite', openFixture)

async function openFixture(): Promise<EventLogFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-log-'))
  const file = join(folder, 'log.sqlite')
  const logs: EventLog[] = []
  const open = async () => {
    const log = openSqliteEventLog({ file })
    logs.push(log)
    return log
  }
  const log = await open()
  refuse(file, 'refused')
  return {
    log,
    open,
    refused: { key: 'refused', value: '', headers: {} },
    appendForeign: async ({ key, value }) => {
      const db = new DatabaseSync(file)
      db.prepare('INSERT INTO records SELECT coalesce(max("offset") + 1, 0), ?, ?, NULL FROM records').run(key, value)
      db.close()
    },
    remove: async () => {
      await Promise.all(logs.map((each) => each.close()))
      rmSync(folder, { recursive: true })
    },
  }
}

function refuse(file: string, key: string): void {
  const db = new DatabaseSync(file)
  db.exec(`CREATE TRIGGER refuse BEFORE INSERT ON records WHEN NEW.key = CAST('${key}' AS BLOB)
    BEGIN SELECT RAISE(ABORT, 'refused'); END`)
  db.close()
}

describe('SQLite event log', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'petstore-log-'))
    file = join(folder, 'log.sqlite')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('writes ahead, so that readers and a writer do not wait for each other', async () => {
    const log = openSqliteEventLog({ file })
    const [{ journal_mode }] = query(file, 'PRAGMA journal_mode')
    expect(journal_mode).toBe('wal')
    await log.close()
  })

  it('keeps the headers of a record', async () => {
    const log = openSqliteEventLog({ file })
    await log.append(0, [{ key: 'k', value: 'v', headers: { 'content-type': 'text/plain' } }])
    await log.close()
    expect(query(file, 'SELECT headers FROM records')).toEqual([{ headers: '{"content-type":"text/plain"}' }])
  })

  it('is unavailable while another process holds the write lock, has then appended nothing, and recovers', async () => {
    const log = openSqliteEventLog({ file })
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    await expect(log.append(0, records('a'))).rejects.toMatchObject({ code: 'event_log_unavailable' })
    await expect(log.reserveIdBlock()).rejects.toMatchObject({ code: 'event_log_unavailable' })
    other.exec('ROLLBACK')
    expect(await log.endOffsets()).toEqual([0])
    expect(await log.append(0, records('b'))).toBe(0)
    other.close()
    await log.close()
  })

  it('does not know the outcome when the disk fails while it commits, but does when it is full', async () => {
    const log = openSqliteEventLog({ file })
    const failing = (errcode: number) => {
      const exec = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
        exec.mockRestore()
        this.exec(sql) // BEGIN
        vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementationOnce(() => {
          throw Object.assign(new Error('disk'), { errcode })
        })
      })
    }
    failing(1034) // SQLITE_IOERR_FSYNC
    await expect(log.append(0, records('a'))).rejects.toMatchObject({ code: 'append_outcome_unknown' })
    vi.restoreAllMocks()
    failing(13) // SQLITE_FULL
    await expect(log.append(0, records('a'))).rejects.toMatchObject({ code: 'event_log_unavailable' })
    vi.restoreAllMocks()
    expect(await log.append(0, records('b'))).toBe(0)
    await log.close()
  })

  it('refuses a file of another version, saying so', () => {
    const db = new DatabaseSync(file)
    db.exec('PRAGMA user_version = 7')
    db.close()
    expect(() => openSqliteEventLog({ file })).toThrow(/log\.sqlite has version 7 .* reads 1/)
  })

  it('refuses a file that is no database', () => {
    expect(() => openSqliteEventLog({ file: folder })).toThrow()
  })

  it('gives a long log in several batches', async () => {
    const log = openSqliteEventLog({ file })
    for (let i = 0; i < 3; i++) await log.append(0, records(...Array.from({ length: 1000 }, () => 'x')))
    const subscriber = await RecordingSubscriber.on(log)
    await vi.waitFor(() => expect(subscriber.batches.map(({ next }) => next)).toEqual([1000, 2000, 3000]))
    await log.close()
  })
})

function query(file: string, sql: string): [Record<string, unknown>, ...Record<string, unknown>[]] {
  const db = new DatabaseSync(file)
  const rows = db.prepare(sql).all()
  db.close()
  const [first, ...rest] = rows.map((row) => ({ ...row }))
  if (first === undefined) throw new Error(`no row: ${sql}`)
  return [first, ...rest]
}
