import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isKeyed, isTextSet } from '../../../../src/engine/read-models/document.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { openSqliteReadModels } from '../../../../src/engine/read-models/sqlite/sqlite-read-models.ts'
import type { ReadModelsFixture } from '../contract/fixture.ts'
import {
  added,
  applyAll,
  at,
  batchAfter,
  firstBatch,
  home,
  idsIn,
  names,
  newGeneration,
  seat,
  started,
} from '../contract/samples.ts'
import { numbers } from '../contract/values.ts'
import { readModelsContract } from '../read-models.contract.ts'

function openFixture() {
  const folder = mkdtempSync(join(tmpdir(), 'theatre-read-models-'))
  const file = join(folder, 'read-models.db')
  const opened: ReadModelStore[] = []
  /** On a connection of its own, as another process has. */
  const asAnother = <T>(work: (db: DatabaseSync) => T): T => {
    using db = new DatabaseSync(file)
    return work(db)
  }
  return {
    file,
    asAnother,
    progressIsHeardBy: 'the store that made it',
    provesSizes: false,
    async open(version = 'v1', isOwner = false) {
      const store = openSqliteReadModels({ file, version, names, isOwner })
      opened.push(store)
      return store
    },
    async empty() {
      asAnother((db) => {
        for (const table of tablesIn(db)) db.exec(`DELETE FROM ${table}`)
      })
    },
    async damage(generation, set, entry) {
      asAnother((db) => {
        const key = Number(db.prepare('SELECT key FROM generation WHERE name = ?').get(generation)?.key)
        const found = db.prepare('SELECT key FROM collection WHERE generation = ? AND name = ?').get(key, set)
        const from = isTextSet(set)
          ? `text WHERE name = '${set}' AND id`
          : `collection_${found?.key} WHERE ${idIn(set)}`
        db.prepare(`DELETE FROM ${from} = ?`).run(entry)
      })
    },
    async overwrite(generation, piece, text) {
      asAnother((db) => {
        const key = Number(db.prepare('SELECT key FROM generation WHERE name = ?').get(generation)?.key)
        const run = (sql: string, ...values: (string | number | null)[]) => db.prepare(sql).run(...values)
        if ('checkpoint' in piece) {
          run(
            'UPDATE checkpoint SET checkpoint = ? WHERE generation = ? AND partition = ?',
            text,
            key,
            piece.checkpoint,
          )
        } else if ('size' in piece) {
          run(`UPDATE collection SET size = ${text} WHERE generation = ? AND name = ?`, key, piece.size)
        } else if (isTextSet(piece.set)) {
          run(
            'UPDATE text SET text = ? WHERE generation = ? AND name = ? AND id = ?',
            text,
            key,
            piece.set,
            piece.entry,
          )
        } else {
          const found = db.prepare('SELECT key FROM collection WHERE generation = ? AND name = ?').get(key, piece.set)
          const [json = '', behind = null] = text.split('\0')
          const columns = isKeyed(piece.set) ? 'json = ?1' : 'json = ?1, behind = ?2'
          run(`UPDATE collection_${found?.key} SET ${columns} WHERE ${idIn(piece.set)} = ?3`, json, behind, piece.entry)
        }
      })
    },
    async setClockBack(ms) {
      asAnother((db) => {
        db.prepare('UPDATE version SET renewed = renewed + ?').run(ms)
        db.prepare('UPDATE generation SET since = since + ?').run(ms)
      })
    },
    async remove() {
      for (const store of opened) await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  } satisfies ReadModelsFixture & Record<string, unknown>
}

/** What names an entry, in SQL. */
function idIn(set: string): string {
  return isKeyed(set) ? "key || printf('%016d', id)" : 'id'
}

function tablesIn(db: DatabaseSync): unknown[] {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
  return tables.all().map(({ name }) => name)
}

readModelsContract('sqlite', async () => openFixture())

describe('sqlite read models', () => {
  let fixture: ReturnType<typeof openFixture>
  beforeEach(() => {
    fixture = openFixture()
  })
  afterEach(() => fixture.remove())

  /** An owner of an active generation with seat 1. */
  async function owning() {
    const store = await fixture.open('v1', true)
    const generation = newGeneration()
    await store.generations.start(generation, undefined)
    const batch = firstBatch({ documents: added(seat(1)) })
    await applyAll(store, generation.name, batch)
    return { store, generation: generation.name, batch }
  }

  const find = ({ reads }: ReadModelStore, generation: string) => reads.find(generation, { collection: home, id: 1 })
  const page = ({ reads }: ReadModelStore, generation: string, after = 0) =>
    reads.page(generation, { collection: home, after, limit: 2 })

  it('tell their owner with its next read what it wrote itself', async () => {
    const { store, generation, batch } = await owning()
    const before = await page(store, generation)
    expect((await find(store, generation)).proof).toBe(before.proof)
    expect(await page(store, generation)).toBe(before)
    const after = seat(1, [], 2, 'changed')
    const second = batchAfter(batch, { documents: [{ before: seat(1), after }] })
    await applyAll(store, generation, second)
    const proof = { active: generation, checkpoints: new Map([[0, second.checkpoint]]), isComplete: true }
    expect(await find(store, generation)).toEqual({ proof, document: { json: after.json, stream: '1' } })
    expect(await page(store, generation)).toEqual({ proof, documents: after.json, count: 1, last: undefined })
  })

  it('answer with every page, also with more of them than are kept until something is written', async () => {
    const { store, generation, batch } = await owning()
    const large = [2, 3, 4, 5, 6].map((id) => seat(id, [], 1, 'x'.repeat(1_500_000)))
    await applyAll(store, generation, batchAfter(batch, { documents: added(...large) }))
    for (const after of [1, 3, 1, 3, 4, 1, 0]) {
      const expected = [seat(1), ...large].filter(({ id }) => id > after).slice(0, 2)
      expect((await page(store, generation, after)).documents).toBe(expected.map(({ json }) => json).join(','))
    }
  })

  it('keep no more pages than there is room for, also of pages with nothing on them', async () => {
    const { store, generation } = await owning()
    const first = await page(store, generation)
    for (const after of numbers(20_000)) await page(store, generation, after)
    expect(await page(store, generation)).not.toBe(first)
  })

  it('keep fewer pages where what is asked for is long itself', async () => {
    const { store, generation } = await owning()
    const first = await page(store, generation)
    const indexKeys = numbers(16).map((i) => at(`${i}`.padStart(128, 'x')))
    for (const after of numbers(3000))
      await store.reads.page(generation, { collection: home, indexKeys, after, limit: 2 })
    expect(await page(store, generation)).not.toBe(first)
  })

  it.each<[string, (store: ReadModelStore, generation: string) => Promise<unknown>]>([
    ['a moment later', () => delay(300)],
    ['that asks for the active generation', ({ generations }) => generations.active()],
    ['that asks for checkpoints', ({ generations }, generation) => generations.checkpoints(generation)],
    ['that loads a stream', ({ reads }, generation) => reads.load(generation, { stream: '1' })],
    ['that writes', ({ projection }, generation) => projection.apply(generation, firstBatch())],
  ])('tell their owner %s that another process activated a generation', async (_, look) => {
    const { store, generation } = await owning()
    await page(store, generation)
    const other = await fixture.open()
    const { name } = await other.generations.build(newGeneration())
    await applyAll(other, name, firstBatch({ documents: added(seat(1), seat(2)) }))
    expect(await other.generations.activate(name)).toBe('activated')
    await look(store, generation)
    expect((await page(store, generation)).proof.active).toBe(name)
    expect(await idsIn(store, name)).toEqual([1, 2])
  })

  it('never answer their owner from a generation that another process removed, nor from one in its place', async () => {
    const { store, generation } = await owning()
    const other = await fixture.open()
    const building = await other.generations.build(newGeneration())
    await applyAll(other, building.name, firstBatch({ documents: added(seat(1)) }))
    expect((await find(store, building.name)).document).toEqual({ json: seat(1).json, stream: '1' })
    expect(await other.generations.remove(building.name)).toBe(true)
    const another = await other.generations.build(newGeneration())
    await applyAll(other, another.name, firstBatch({ documents: added(seat(1, [], 1, 'another')) }))
    const proof = { active: generation, checkpoints: new Map(), isComplete: true }
    expect(await find(store, building.name)).toEqual({ proof, document: undefined })
  })

  it('are removed in pieces, between which everything else has its turns, and nothing of them is left', async () => {
    const { store } = await owning()
    const tables = fixture.asAnother(tablesIn)
    const { name } = await store.generations.build(newGeneration())
    const many = numbers(5000)
    const documents = added(...many.map((id) => seat(id, [at('7')])))
    await applyAll(store, name, firstBatch({ documents, history: many.map((id) => [`${id}#0`, 'a chunk']) }))
    let turns = 0
    const isRemoved = store.generations.remove(name)
    let isOver = false
    void isRemoved.then(() => {
      isOver = true
    })
    while (!isOver) {
      turns++
      expect(await store.generations.all()).toHaveLength(1)
      await nextTurn()
    }
    expect(await isRemoved).toBe(true)
    expect(turns).toBeGreaterThan(8)
    expect(fixture.asAnother(tablesIn)).toEqual(tables)
    expect(fixture.asAnother((db) => db.prepare('SELECT name FROM text').all())).toEqual([])
  })

  it('that a process had begun to remove when it ended are removed by the next one', async () => {
    const { store } = await owning()
    const tables = fixture.asAnother(tablesIn)
    const { name } = await store.generations.build(newGeneration())
    await applyAll(store, name, firstBatch({ documents: added(seat(1)), history: [['1#0', 'a chunk']] }))
    fixture.asAnother((db) => db.prepare("UPDATE generation SET state = 'removed' WHERE name = ?").run(name))
    expect(await store.generations.all()).toHaveLength(1)
    expect(await store.generations.remove(name)).toBe(false)
    expect(fixture.asAnother(tablesIn)).toEqual(tables)
  })

  it('say so when a table of theirs is gone and the generation is not', async () => {
    const { store, generation } = await owning()
    await find(store, generation)
    fixture.asAnother((db) => db.exec('DROP TABLE collection_1'))
    await expect(find(store, generation)).rejects.toMatchObject({ code: 'read_model_unavailable' })
  })

  it('answer read_model_unavailable while another process keeps the file locked, and go on after', async () => {
    const { store, generation } = await started(fixture)
    const other = new DatabaseSync(fixture.file)
    other.exec('BEGIN IMMEDIATE')
    const batch = firstBatch({ documents: added(seat(1)) })
    await expect(store.projection.apply(generation, batch)).rejects.toMatchObject({
      code: 'read_model_unavailable',
      cause: expect.objectContaining({ message: 'database is locked' }),
    })
    expect(await idsIn(store, generation)).toEqual([])
    other.close()
    await applyAll(store, generation, batch)
  })

  it('drop what another layout holds when their owner opens the file, whoever else has it open', async () => {
    const other = new DatabaseSync(fixture.file)
    other.exec('PRAGMA journal_mode = WAL; CREATE TABLE generation (old); CREATE TABLE "an old one" (x); BEGIN')
    other.exec('INSERT INTO generation VALUES (1); COMMIT; PRAGMA user_version = 99; BEGIN')
    expect(other.prepare('SELECT old FROM generation').all()).toHaveLength(1) // a read that goes on
    const { store, generation } = await owning()
    expect(other.prepare('SELECT old FROM generation').all()).toHaveLength(1)
    other.close()
    expect(fixture.asAnother(tablesIn)).not.toContain('an old one')
    expect(await idsIn(await fixture.open('v1', true), generation)).toEqual(await idsIn(store, generation))
  })

  it('of another layout are left to their owner by everybody else, who is told what to do', async () => {
    fixture.asAnother((db) => db.exec('CREATE TABLE old (x); PRAGMA user_version = 99'))
    await expect(fixture.open()).rejects.toThrow(/layout 99 .* start the service/)
    expect(fixture.asAnother(tablesIn)).toEqual(['old'])
  })
})
