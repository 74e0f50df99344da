import { copyFileSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { copySqliteEventLog } from '../../../../src/engine/log/sqlite/copy-log.ts'
import { openSqliteEventLog } from '../../../../src/engine/log/sqlite/sqlite-event-log.ts'
import { temporaryFolder } from '../../../lib/temporary-folder.ts'
import { closedAfterTest } from '../contract/fixture.ts'
import { readAll, recordsAt, shownAt, storedBefore, storedLog, withDatabase } from './stored-log.ts'

const shownTo = (end: number) => Array.from({ length: end }, (_, offset) => shownAt(offset))
const newFile = () => join(temporaryFolder(), 'log.db')
const isWrittenAhead = (file: string) => readFileSync(file)[18] === 2

function copyOf(from: string): string {
  const file = newFile()
  copySqliteEventLog(from, file, () => {})
  return file
}

/** A log as its process leaves it when it is killed: so many records are in the file, and so many more in its `-wal`. */
async function killedLog(stored: number, unwritten: number): Promise<string> {
  const file = await storedLog(stored)
  const log = openSqliteEventLog({ file })
  await log.append(0, recordsAt(stored, unwritten))
  const killed = newFile()
  for (const each of ['', '-wal', '-shm']) copyFileSync(`${file}${each}`, `${killed}${each}`)
  await log.close()
  expect(statSync(`${killed}-wal`).size).toBeGreaterThan(0)
  return killed
}

describe('a copy of a log', () => {
  it('is read to its end, and told so', async () => {
    const told: unknown[] = []
    const from = await storedLog(6000)
    const file = newFile()
    expect(copySqliteEventLog(from, file, (...each) => told.push(each))).toBe(6000)
    expect(told).toEqual([
      [2500, 6000],
      [5000, 6000],
      [6000, 6000],
    ])
    expect((await readAll(closedAfterTest(openSqliteEventLog({ file })), 1000)).shown).toEqual(shownTo(6000))
  })

  it.each([
    ['a record is another one', 7, `UPDATE records SET value = CAST('other' AS BLOB) WHERE "offset" = 7`],
    ['the end is gone', 25, 'DELETE FROM records WHERE "offset" >= 25'],
  ])('is refused where %s', async (_, offset, sql) => {
    const from = await storedLog(30)
    withDatabase(from, (db) => db.exec(sql))
    expect(() => copyOf(from)).toThrow(`damaged at offset ${offset} (`)
  })

  it('can be made of a log of before', async () => {
    const file = copyOf(storedBefore(50))
    expect((await readAll(closedAfterTest(openSqliteEventLog({ file })))).shown).toEqual(shownTo(50))
  })

  it('is told from a log that was served until it is served itself, not by who looks at it', async () => {
    const from = await storedLog(30)
    const file = copyOf(from)
    expect([from, file].map(isWrittenAhead)).toEqual([true, false])
    const beside = openSqliteEventLog({ file, isOwner: false })
    expect((await readAll(beside)).shown).toEqual(shownTo(30))
    expect([await beside.append(0, recordsAt(30, 1)), existsSync(`${file}-wal`)]).toEqual([30, false])
    await beside.close()
    expect(isWrittenAhead(file)).toBe(false)
    const log = openSqliteEventLog({ file })
    expect(isWrittenAhead(file)).toBe(true) // before anything is in its -wal
    expect(existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0).toBe(0)
    await log.close()
  })

  it('over the files of a killed process is refused as it is, and served once the -wal is gone', async () => {
    const copy = copyOf(await storedLog(30))
    const killed = await killedLog(200, 50)
    copyFileSync(copy, killed)
    const before = [killed, `${killed}-wal`].map((file) => readFileSync(file))
    for (const isOwner of [true, false]) {
      expect(() => openSqliteEventLog({ file: killed, isOwner })).toThrow(
        /is not the file that \S+-wal belongs to, as when a backup .* remove \S+-wal and \S+-shm, or restore/,
      )
    }
    expect([killed, `${killed}-wal`].map((file) => readFileSync(file))).toEqual(before)
    for (const each of ['-wal', '-shm']) rmSync(`${killed}${each}`)
    expect((await readAll(closedAfterTest(openSqliteEventLog({ file: killed })))).shown).toEqual(shownTo(30))
  })

  it('that was served, and whose process was killed, goes on with what is in its -wal', async () => {
    const file = copyOf(await storedLog(30))
    const log = openSqliteEventLog({ file })
    await log.append(0, recordsAt(30, 5))
    const killed = newFile()
    for (const each of ['', '-wal']) copyFileSync(`${file}${each}`, `${killed}${each}`)
    await log.close()
    expect((await readAll(closedAfterTest(openSqliteEventLog({ file: killed })))).shown).toEqual(shownTo(35))
  })

  it.each(['is gone', 'is empty'])('whose file %s is not begun anew beside its -wal', async (what) => {
    const killed = await killedLog(200, 50)
    rmSync(killed)
    if (what === 'is empty') copyFileSync('/dev/null', killed)
    expect(() => openSqliteEventLog({ file: killed })).toThrow('is not the file that')
    expect(statSync(`${killed}-wal`).size).toBeGreaterThan(0)
  })
})
