import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openLogFile } from '../../../../src/engine/log/sqlite/log-file.ts'
import { openSqliteEventLog } from '../../../../src/engine/log/sqlite/sqlite-event-log.ts'
import { StoredRecords } from '../../../../src/engine/log/sqlite/stored-records.ts'
import { captureLog } from '../../../lib/captured-log.ts'
import { closedAfterTest } from '../contract/fixture.ts'
import { appendAsBefore, readAll, recordsAt, shownAt, storedBefore, storedLog, withDatabase } from './stored-log.ts'

const shownTo = (end: number) => Array.from({ length: end }, (_, offset) => shownAt(offset))

function openOwn(file: string) {
  const { logger, lines } = captureLog()
  return { log: closedAfterTest(openSqliteEventLog({ file, logger })), lines }
}

/** How many records have none. */
function withoutChecksum(file: string): number {
  const sql = 'SELECT count(*) AS records FROM records WHERE checksum IS NULL'
  return Number(withDatabase(file, (db) => db.prepare(sql).get()?.records))
}

describe('a log of a release before checksums', () => {
  it('gets them at the first start, which tells so, and is checked from then on', async () => {
    const file = storedBefore(25_000)
    const { log, lines } = openOwn(file)
    expect(lines).toMatchObject([
      { from: 0, end: 25_000, msg: 'events that an earlier release appended get checksums' },
      { next: 25_000, msg: 'all events have checksums' },
    ])
    expect([withoutChecksum(file), log.logId]).toEqual([0, 'the log of before'])
    expect((await readAll(log, 1000)).shown).toEqual(shownTo(25_000))
    expect(await log.append(0, recordsAt(25_000, 1))).toBe(25_000)
    withDatabase(file, (db) => db.exec(`UPDATE records SET value = CAST('other' AS BLOB) WHERE "offset" = 17`))
    expect((await readAll(log)).shown).toEqual(shownTo(17))
    expect(openOwn(file).lines).toEqual([])
  })

  it('goes on where an interrupted start was', async () => {
    const file = storedBefore(50)
    const db = openLogFile(file, true)
    new StoredRecords(db).giveChecksums(20)
    db.close()
    const { log, lines } = openOwn(file)
    expect(lines[0]).toMatchObject({ from: 20, end: 50 })
    expect((await readAll(log)).shown).toEqual(shownTo(50))
  })

  it('gets none for a record that is missing, nor for those behind it', async () => {
    const file = storedBefore(50)
    withDatabase(file, (db) => db.exec('DELETE FROM records WHERE "offset" = 20'))
    const { log } = openOwn(file)
    expect(log.undecodable).toMatchObject([{ partition: 0, offset: 20 }])
    const { shown, error } = await readAll(log)
    expect([shown, error?.message]).toEqual([shownTo(20), expect.stringContaining('damaged at offset 20')])
  })

  it('is read as it is by a process beside it, which gives it none', async () => {
    const file = storedBefore(50)
    const log = closedAfterTest(openSqliteEventLog({ file, isOwner: false }))
    expect(await readAll(log)).toEqual({ shown: shownTo(50), error: undefined })
    expect(withoutChecksum(file)).toBe(50)
  })
})

it('is continued by each of two processes that append in turn, and by one whose append failed', async () => {
  const file = await storedLog(0)
  const [one, other] = [openOwn(file).log, openOwn(file).log]
  for (let offset = 0; offset < 12; offset += 3) {
    expect(await one.append(0, recordsAt(offset, 2))).toBe(offset)
    const [record] = recordsAt(0, 1)
    await expect(one.append(0, [record, { ...record, value: 7 }] as never)).rejects.toThrow()
    expect(await other.append(0, recordsAt(offset + 2, 1))).toBe(offset + 2)
  }
  for (const log of [one, other, openOwn(file).log])
    expect(await readAll(log)).toEqual({ shown: shownTo(12), error: undefined })
})

it('a damaged log is taken as it is once its checksums are removed, as the runbook tells', async () => {
  const file = await storedLog(30)
  withDatabase(file, (db) => db.exec('DELETE FROM records WHERE "offset" >= 25'))
  const [command = ''] =
    /(?<=^ +)node -e .*(?= data\/event-log.db$)/m.exec(readFileSync('src/engine/operations/runbook.md', 'utf8')) ?? []
  execFileSync('sh', ['-c', `${command} ${file}`])
  const { log, lines } = openOwn(file)
  expect(lines[0]).toMatchObject({ from: 0, end: 25 })
  expect(await readAll(log)).toEqual({ shown: shownTo(25), error: undefined })
  expect([await log.append(0, recordsAt(25, 1)), log.undecodable]).toEqual([25, []])
})

describe('what a release before checksums appends to a log that has them', () => {
  it('gets its own at the next start, which tells so', async () => {
    const file = await storedLog(30)
    appendAsBefore(file, 30, 3)
    const { log, lines } = openOwn(file)
    expect(lines[0]).toMatchObject({ from: 30, end: 33, msg: 'events that an earlier release appended get checksums' })
    expect([withoutChecksum(file), await readAll(log)]).toEqual([0, { shown: shownTo(33), error: undefined }])
  })

  it('gets its own with the next append, beside a process that serves the log', async () => {
    const file = await storedLog(30)
    const { log } = openOwn(file)
    appendAsBefore(file, 30, 3)
    expect(await readAll(log)).toEqual({ shown: shownTo(33), error: undefined })
    await log.append(0, recordsAt(33, 2))
    expect([withoutChecksum(file), await readAll(log)]).toEqual([0, { shown: shownTo(35), error: undefined }])
  })

  it('waits for a start where it is much, together with what is appended behind it', async () => {
    const file = await storedLog(30)
    const { log } = openOwn(file)
    appendAsBefore(file, 30, 1500)
    await log.append(0, recordsAt(1530, 2))
    expect([withoutChecksum(file), await readAll(log, 1000)]).toEqual([502, { shown: shownTo(1532), error: undefined }])
    openOwn(file)
    expect(withoutChecksum(file)).toBe(0)
    expect(await readAll(log, 1000)).toEqual({ shown: shownTo(1532), error: undefined })
  })

  it('is not taken for the end that the log lost before', async () => {
    const file = await storedLog(30)
    withDatabase(file, (db) => db.exec('DELETE FROM records WHERE "offset" >= 25'))
    appendAsBefore(file, 25, 5)
    const { log } = openOwn(file)
    const { shown, error } = await readAll(log)
    expect([shown, error?.message]).toEqual([shownTo(25), expect.stringContaining('damaged at offset 25')])
    expect(withoutChecksum(file)).toBe(5)
  })

  it('is the same record, whatever bytes it has', async () => {
    const file = await storedLog(0)
    const odd = [
      null,
      Buffer.alloc(0),
      Buffer.from([0, 0xff, 0, 0xc3]),
      Buffer.from('\0text\0'),
      Buffer.alloc(70_000, 0xfe),
    ]
    const pairs = odd.flatMap((key) => odd.map((value) => ({ key, value })))
    withDatabase(file, (db) => {
      const insert = db.prepare('INSERT INTO records ("offset", key, value, headers) VALUES (?, ?, ?, ?)')
      for (const [offset, { key, value }] of pairs.entries()) insert.run(offset, key, value, offset % 2 ? 'ü\0"' : null)
    })
    const { log } = openOwn(file)
    const { records } = await log.read(0, 0, 100)
    expect(records).toEqual(pairs.map(({ key, value }, offset) => ({ offset, key, value })))
    expect(withoutChecksum(file)).toBe(0)
  })
})
