import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { isDamage } from '../../../../src/engine/read-models/sqlite/damaged-file.ts'
import { openSqliteReadModels } from '../../../../src/engine/read-models/sqlite/sqlite-read-models.ts'
import { captureLog } from '../../../lib/captured-log.ts'
import { eventually } from '../../../lib/eventually.ts'
import { temporaryFolder } from '../../../lib/temporary-folder.ts'
import { added, firstBatch, home, names, newGeneration, seat, under } from '../contract/samples.ts'

const pageBytes = 4096
const seats = 500
let file: string
let log: ReturnType<typeof captureLog>

beforeEach(() => {
  file = join(temporaryFolder(), 'read-models.db')
  log = captureLog('error')
})

function open(over: { isOwner?: boolean; pauseMs?: number } = {}): ReadModelStore {
  const { isOwner = true, pauseMs = 60_000 } = over
  const repair = { logger: log.logger, pauseMs }
  const store = openSqliteReadModels({ file, version: 'v1', names, isOwner, ...(isOwner && { repair }) })
  onTestFinished(() => store.close())
  return store
}

/** Builds read models of some hundred pages. Resolves to the name of their generation. */
async function build(store: ReadModelStore): Promise<string> {
  const generation = newGeneration()
  const { active } = await store.generations.look()
  expect(await store.generations.start(generation, active?.name)).toBe(true)
  const documents = Array.from({ length: seats }, (_, i) => seat(i + 1, ['row:a'], 1, 'x'.repeat(500)))
  const batch = firstBatch({ documents: added(...documents) })
  expect(await store.projection.apply(generation.name, batch)).toEqual({ outcome: 'applied' })
  return generation.name
}

/** Every piece of a generation is read. */
async function readAll({ generations, inspection, reads }: ReadModelStore): Promise<number> {
  const { active, checkpoints } = await generations.look()
  if (active === undefined || checkpoints === undefined) throw new Error('there is no generation')
  await reads.load(active.name, { stream: '1', key: { partition: 0, key: 'k' } })
  await inspection.recorded(active.name)
  const counts: number[] = []
  for (const index of [undefined, 'row:a'])
    counts.push((await reads.page(active.name, { collection: home, ...under(index), after: 0, limit: seats })).count)
  expect(new Set(counts).size).toBe(1)
  return counts[0] ?? 0
}

function overwrite(bytes: Buffer, at: number): void {
  const opened = openSync(file, 'r+')
  writeSync(opened, bytes, 0, bytes.length, at)
  closeSync(opened)
}

function asAnother(sql: string): void {
  using db = new DatabaseSync(file)
  db.exec(sql)
}

const size = () => statSync(file).size
const tables = ['generation', 'version', 'checkpoint', 'collection', 'text', 'text_set', 'collection_1', 'collection_2']

/** Whether the damaged file is kept. */
const damages: [what: string, damage: () => void, isKept: boolean][] = [
  ['pages overwritten in the middle', () => overwrite(Buffer.alloc(size() / 2, 0xff), 8 * pageBytes), true],
  ['pages overwritten by nothing', () => overwrite(Buffer.alloc(size() / 2), 8 * pageBytes), true],
  ['another text over it', () => writeFileSync(file, 'no database\n'.repeat(size() / 12)), true],
  ['cut to half', () => truncateSync(file, Math.floor(size() / 2)), true],
  ['cut within a page', () => truncateSync(file, 8 * pageBytes + 100), true],
  ['cut to nothing', () => truncateSync(file, 0), true],
  ...tables.map((name): (typeof damages)[number] => [
    `its table ${name} gone`,
    () => asAnother(`DROP TABLE ${name}`),
    true,
  ]),
  ['the file gone', () => rmSync(file), false],
]

/** What a process that has the file open may not meet: it keeps the first page. */
const damagesOfHead: typeof damages = [
  ['its first page overwritten', () => overwrite(Buffer.alloc(pageBytes, 0xff), 0), true],
  ['a word over its beginning', () => overwrite(Buffer.from('garbage'), 0), true],
]

describe('a damaged file of read models', () => {
  async function expectBuiltAgain(store: ReadModelStore, isKept: boolean): Promise<void> {
    expect(existsSync(`${file}.damaged`)).toBe(isKept)
    await store.generations.renew()
    await build(store)
    expect(await readAll(store)).toBe(seats)
  }

  it.each(damages)('with %s is set aside and built again while it is open', async (_, damage, isKept) => {
    const first = open()
    await build(first)
    await first.close()
    const store = open()
    let heard = 0
    store.generations.listen({ progress: () => {}, connected: () => heard++, disconnected: () => {} })
    damage()
    await readAll(store).catch(() => {})
    await store.generations.renew().catch(() => {})
    expect((await store.generations.look()).active).toBeUndefined()
    expect(log.lines).toMatchObject([
      { msg: 'the file of read models is damaged: it is set aside and built again', kept: `${file}.damaged` },
    ])
    expect(heard).toBe(2)
    await expectBuiltAgain(store, isKept)
    expect(log.lines).toHaveLength(1)
  })

  it.each([...damages.filter(([what]) => !/nothing$|file gone$/.test(what)), ...damagesOfHead])(
    'with %s is set aside at a start, or by the first who meets it',
    async (_, damage) => {
      const first = open()
      await build(first)
      await first.close()
      damage()
      const store = open()
      await readAll(store).catch(() => {})
      await store.generations.renew().catch(() => {})
      expect((await store.generations.look()).active).toBeUndefined()
      expect(log.lines).toHaveLength(1)
      await expectBuiltAgain(store, true)
    },
  )

  it.each(['the file', 'what was written last'])(
    'of which %s is removed while it is open is built again',
    async (what) => {
      const store = open()
      const generation = await build(store)
      const read = () => store.reads.page(generation, { collection: home, after: 0, limit: 1 })
      expect(await read()).toMatchObject({ count: 1, proof: { active: generation } })
      rmSync(what === 'the file' ? file : `${file}-wal`)
      await expect(store.generations.look()).rejects.toMatchObject({ code: 'read_model_unavailable' })
      expect(log.lines).toMatchObject([{ err: { message: expect.stringMatching(/ is gone$/) } }])
      expect((await store.generations.look()).active).toBeUndefined()
      expect(await read()).toMatchObject({ count: 0, proof: { active: undefined } })
      await build(store)
      expect(await readAll(store)).toBe(seats)
      await store.close()
      expect(await readAll(open())).toBe(seats)
    },
  )

  it('is kept as the latest one alone, and not set aside again during a pause, in which it is told once', async () => {
    const store = open({ pauseMs: 1000 })
    const damageAll = async () => {
      await build(store)
      asAnother('PRAGMA wal_checkpoint(TRUNCATE)')
      asAnother('DROP TABLE checkpoint')
    }
    await damageAll()
    await expect(readAll(store)).rejects.toMatchObject({ code: 'read_model_unavailable' })
    const { ino } = statSync(`${file}.damaged`)
    await damageAll()
    for (let i = 0; i < 5; i++)
      await expect(readAll(store)).rejects.toMatchObject({
        message: 'The read models are damaged, and are built again.',
      })
    expect([log.lines.length, statSync(`${file}.damaged`).ino]).toEqual([2, ino])
    expect(log.lines[1]?.msg).toBe('the file of read models is damaged again: look at its disk')
    await eventually(async () => {
      await readAll(store).catch(() => {})
      expect(statSync(`${file}.damaged`).ino).not.toBe(ino)
    })
    await build(store)
    expect(await readAll(store)).toBe(seats)
    expect(
      readdirSync(join(file, '..'))
        .filter((name) => name.includes('damaged'))
        .sort(),
    ).toEqual(['read-models.db.damaged'])
  })

  it('that cannot be set aside is said to be so, and is tried again after the pause', async () => {
    const store = open({ pauseMs: 200 })
    await build(store)
    mkdirSync(`${file}.damaged`)
    asAnother('PRAGMA wal_checkpoint(TRUNCATE)')
    asAnother('DROP TABLE checkpoint')
    await expect(readAll(store)).rejects.toMatchObject({ code: 'read_model_unavailable' })
    expect(log.lines).toMatchObject([{ msg: 'the damaged file of read models cannot be set aside' }])
    rmSync(`${file}.damaged`, { recursive: true })
    await eventually(async () => {
      await readAll(store).catch(() => {})
      expect(existsSync(`${file}.damaged`)).toBe(true)
    })
    await build(store)
    expect(await readAll(store)).toBe(seats)
  })

  it('is named, and left as it is, by a process that does not serve it', async () => {
    const owner = open()
    await build(owner)
    await owner.close()
    const beside = open({ isOwner: false })
    overwrite(Buffer.alloc(size() / 2, 0xff), 8 * pageBytes)
    const before = readFileSync(file)
    await expect(readAll(beside)).rejects.toThrow(/damaged \(.*malformed.*\): the service that serves them sets/)
    await beside.close()
    overwrite(Buffer.alloc(pageBytes, 0xff), 0)
    expect(() => open({ isOwner: false })).toThrow(/not a database.*: the service sets it aside, and builds it again/)
    expect(existsSync(`${file}.damaged`)).toBe(false)
    expect(readFileSync(file).subarray(pageBytes).equals(before.subarray(pageBytes))).toBe(true)
  })

  it('is not a file whose lock is held, whose disk is full, or that cannot be read', async () => {
    const code = 'ERR_SQLITE_ERROR'
    const [busy, ioError, full, cantOpen] = [5, 10 | (2 << 8), 13, 14]
    for (const errcode of [busy, ioError, full, cantOpen])
      expect(isDamage(Object.assign(new Error('disk I/O error'), { code, errcode }))).toBe(false)
    const [corrupt, corruptIndex, notADatabase] = [11, 11 | (3 << 8), 26]
    for (const errcode of [corrupt, corruptIndex, notADatabase])
      expect(isDamage(Object.assign(new Error('malformed'), { code, errcode }))).toBe(true)
    const store = open()
    await build(store)
    const db = new DatabaseSync(file)
    db.exec('BEGIN IMMEDIATE')
    await expect(store.generations.renew()).rejects.toMatchObject({ message: 'The read models could not be read.' })
    db.close()
    await store.generations.renew()
    expect([await readAll(store), log.lines]).toEqual([seats, []])
  })
})
