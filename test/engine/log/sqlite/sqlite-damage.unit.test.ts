import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSqliteEventLog } from '../../../../src/engine/log/sqlite/sqlite-event-log.ts'
import { captureLog } from '../../../lib/captured-log.ts'
import { Random } from '../../../lib/random.ts'
import { temporaryFolder } from '../../../lib/temporary-folder.ts'
import { closedAfterTest, eventually, records } from '../contract/fixture.ts'
import { RecordingSubscriber } from '../recording-subscriber.ts'
import { readAll, replaceBytes, shownAt, storedLog, withDatabase } from './stored-log.ts'

const count = 30
const whole = Array.from({ length: count }, (_, offset) => shownAt(offset))
const last = "UPDATE meta SET value = $ WHERE name = 'last'"

type Damage = string | ((file: string) => void)

describe('a log that was changed where it is stored', () => {
  const found: readonly (readonly [what: string, offset: number, damage: Damage])[] = [
    ['one byte of a value', 12, (file) => replaceBytes(file, 'value-0012', 'value-0013')],
    ['one byte of a key', 12, (file) => replaceBytes(file, 'key-0012', 'kez-0012')],
    ['one byte of the headers', 12, (file) => replaceBytes(file, 'headers-0012', 'headers-001"')],
    ['one byte of the first record', 0, (file) => replaceBytes(file, 'value-0000', 'value-000 ')],
    ['one byte of the last record', 29, (file) => replaceBytes(file, 'value-0029', 'value-0028')],
    ['a value that is gone', 12, 'UPDATE records SET value = NULL WHERE "offset" = 12'],
    ['a value that is empty', 12, `UPDATE records SET value = CAST('' AS BLOB) WHERE "offset" = 12`],
    ['headers that are gone', 12, 'UPDATE records SET headers = NULL WHERE "offset" = 12'],
    [
      'a byte that went from the key to the value',
      12,
      `UPDATE records SET key = CAST('key-001' AS BLOB), value = CAST('2value-0012' AS BLOB) WHERE "offset" = 12`,
    ],
    ['a checksum', 12, 'UPDATE records SET checksum = checksum + 1 WHERE "offset" = 12'],
    ['a checksum that is gone', 12, 'UPDATE records SET checksum = NULL WHERE "offset" = 12'],
    ['five records gone in the middle', 10, 'DELETE FROM records WHERE "offset" BETWEEN 10 AND 14'],
    ['five records gone at the front', 0, 'DELETE FROM records WHERE "offset" < 5'],
    [
      'five records gone, and the others moved up',
      10,
      `DELETE FROM records WHERE "offset" BETWEEN 10 AND 14;
       UPDATE records SET "offset" = "offset" - 5 WHERE "offset" > 14`,
    ],
    [
      'two records in the place of each other',
      12,
      `UPDATE records SET "offset" = -1 WHERE "offset" = 12; UPDATE records SET "offset" = 12 WHERE "offset" = 13;
       UPDATE records SET "offset" = 13 WHERE "offset" = -1`,
    ],
    ['a record that went far away', 12, 'UPDATE records SET "offset" = 5000 WHERE "offset" = 12'],
  ]
  const known: typeof found = [
    ['five records gone at the end', 25, 'DELETE FROM records WHERE "offset" > 24'],
    ['all records gone', 0, 'DELETE FROM records'],
    ['the last record cut', 29, `UPDATE records SET value = CAST('value' AS BLOB) WHERE "offset" = 29`],
    ['an end that nobody can read', 30, last.replace('$', "'garbage'")],
    ['an end that is gone', 30, "DELETE FROM meta WHERE name = 'last'"],
    ['an end before the end', 13, last.replace('$', `(SELECT '12 ' || checksum FROM records WHERE "offset" = 12)`)],
    ['an end behind the end', 30, last.replace('$', "'40 1'")],
    ['an end with another checksum', 29, last.replace('$', "'29 1'")],
  ]

  it.each([...found, ...known])('is read up to %s, at offset %d, which is named', async (_, offset, damage) => {
    const file = await storedLog(count)
    change(file, damage)
    const { logger, lines } = captureLog()
    const log = closedAfterTest(openSqliteEventLog({ file, logger }))
    const { shown, error } = await readAll(log)
    expect(shown).toEqual(whole.slice(0, offset))
    const told = { message: expect.stringMatching(`The event log is damaged at offset ${offset} \\(.+\\): restore it`) }
    if (offset < count) expect(error).toMatchObject({ code: 'event_log_unavailable', ...told })
    await expect(log.append(0, records('more'))).rejects.toMatchObject({ code: 'event_log_unavailable', ...told })
    await expect(log.confirm()).rejects.toMatchObject(told)
    expect(log.undecodable).toEqual([{ partition: 0, offset, reason: expect.any(String) }])
    expect(lines.at(-1)).toMatchObject({
      level: 50,
      offset,
      msg: 'the event log is damaged, so nothing behind it is read',
    })
    const { stored } = withDatabase(file, (db) =>
      db.prepare(`SELECT count(*) AS stored FROM records WHERE value = CAST('more' AS BLOB)`).get(),
    ) as { stored: number }
    expect(stored).toBe(0)
  })

  it.each(known.filter(([what]) => !what.includes('cut')))(
    'is known from the start by %s',
    async (_, offset, damage) => {
      const file = await storedLog(count)
      change(file, damage)
      const log = closedAfterTest(openSqliteEventLog({ file }))
      expect(log.undecodable).toMatchObject([{ partition: 0, offset }])
      await expect(log.append(0, records('more'))).rejects.toMatchObject({ code: 'event_log_unavailable' })
    },
  )

  it('is told from another log by each record, though its checksum fits it there', async () => {
    const other = await storedLog(count)
    withDatabase(other, (db) =>
      db.exec(`UPDATE records SET value = CAST('other' AS BLOB), checksum = NULL;
      UPDATE meta SET value = '-1 0' WHERE name = 'last'`),
    )
    await openSqliteEventLog({ file: other }).close() // computes the checksums of what it is now
    const file = await storedLog(count)
    change(file, `ATTACH '${other}' AS other; REPLACE INTO records SELECT * FROM other.records WHERE "offset" = 12`)
    const { shown, error } = await readAll(closedAfterTest(openSqliteEventLog({ file })))
    expect([shown, error?.message]).toEqual([whole.slice(0, 12), expect.stringContaining('damaged at offset 12 (')])
  })

  it.each(['key', 'value'])('tells a %s that is gone from one that is empty', async (column) => {
    const file = await storedLog(0)
    const log = closedAfterTest(openSqliteEventLog({ file }))
    await log.append(0, [{ key: '', value: '', headers: {} }])
    change(file, `UPDATE records SET ${column} = NULL`)
    await expect(log.read(0, 0, 1)).rejects.toThrow('damaged at offset 0 (')
  })

  it('ends where it ended, also where its last records are lost: read models are not behind it', async () => {
    const file = await storedLog(count)
    change(file, 'DELETE FROM records WHERE "offset" > 24')
    expect(await closedAfterTest(openSqliteEventLog({ file })).endOffsets()).toEqual([count])
  })

  it('can be read behind the damage, as who wants no more than that does', async () => {
    const file = await storedLog(count)
    change(file, (each) => replaceBytes(each, 'value-0012', 'value-0013'))
    const log = closedAfterTest(openSqliteEventLog({ file }))
    expect((await log.read(0, 13, 50)).records).toHaveLength(17)
    expect(log.undecodable).toEqual([])
  })

  it('is whole again at the next look once it is restored, for subscribers too', async () => {
    const file = await storedLog(count)
    const { logger, lines } = captureLog()
    const log = closedAfterTest(openSqliteEventLog({ file, logger }))
    const put = (value: string) =>
      withDatabase(file, (db) => db.prepare('UPDATE records SET value = ? WHERE "offset" = 12').run(Buffer.from(value)))
    put('damaged')
    const subscriber = await RecordingSubscriber.on(log)
    await eventually(() => log.undecodable.map(({ offset }) => offset), [12])
    await eventually(() => subscriber.values(0).length, 12)
    await expect(log.append(0, records('more'))).rejects.toMatchObject({ code: 'event_log_unavailable' })
    put('value-0012')
    expect(await log.append(0, records('more'))).toBe(count)
    await eventually(() => subscriber.values(0).length, count + 1)
    expect(log.undecodable).toEqual([])
    expect(lines.map(({ level, offset }) => [level, offset])).toEqual([
      [50, 12],
      [30, 12],
    ])
  })

  it('whose pages were overwritten gives what is before them, and says so', async () => {
    const file = await storedLog(2000)
    const bytes = readFileSync(file)
    const pageBytes = 4096
    const truth = Array.from({ length: 2000 }, (_, offset) => shownAt(offset))
    for (let page = 1; page < bytes.length / pageBytes; page += 3) {
      const scribbled = Buffer.from(bytes).fill(0xa5, page * pageBytes, (page + 1) * pageBytes)
      writeFileSync(file, scribbled)
      expect(await shownOrTold(file, truth)).toBe('told')
    }
  })

  it('gives no other record, whichever byte is another one', async () => {
    const seed = Date.now() % 2 ** 31
    const random = new Random(seed)
    const small = join(temporaryFolder(), 'small.db')
    withDatabase(small, (db) => db.exec('PRAGMA page_size = 512; VACUUM'))
    const bytes = readFileSync(await storedLog(8, small))
    const truth = whole.slice(0, 8)
    expect(await shownOrTold(small, truth)).toBe('shown')
    for (let i = 0; i < 400; i++) {
      const at = random.below(bytes.length)
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ (1 + random.below(255))
      writeFileSync(small, changed)
      const outcome = await shownOrTold(small, truth)
      expect(['shown', 'told'], `byte ${at} is ${changed[at]}, seed ${seed}`).toContain(outcome)
    }
  })
})

function change(file: string, damage: Damage): void {
  if (typeof damage === 'string') withDatabase(file, (db) => db.exec(damage))
  else damage(file)
}

/** What a file comes to: the truth, an error that is told, or what must not be. */
async function shownOrTold(file: string, truth: readonly string[]): Promise<string> {
  let log: ReturnType<typeof openSqliteEventLog>
  try {
    log = openSqliteEventLog({ file })
  } catch (error) {
    return error instanceof Error && error.message !== '' ? 'told' : String(error)
  }
  const { shown, error } = await readAll(log, 1000)
  const isKnown = log.undecodable.length > 0
  await log.close()
  if (shown.some((each, offset) => each !== truth[offset])) return `shown: ${shown.join()}`
  if (shown.length === truth.length) return isKnown ? 'told' : 'shown'
  return error !== undefined && isKnown ? 'told' : `${shown.length} shown, ${error?.message}`
}
