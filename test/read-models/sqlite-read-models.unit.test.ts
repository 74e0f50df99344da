import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ReadModels } from '../../src/read-models/read-models.ts'
import { openSqliteReadModels } from '../../src/read-models/sqlite/sqlite-read-models.ts'
import { applyAll, firstBatch, idsIn, insert, started } from './contract/samples.ts'
import { readModelsContract } from './read-models.contract.ts'

function openFixture() {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-read-models-'))
  const file = join(folder, 'read-models.db')
  const opened: ReadModels[] = []
  return {
    file,
    progressIsHeardBy: 'the store that made it' as const,
    async open(version = 'v1') {
      const store = openSqliteReadModels({ file, version })
      opened.push(store)
      return store
    },
    async empty() {
      const db = new DatabaseSync(file)
      const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
      for (const { name } of tables) db.exec(`DELETE FROM ${name}`)
      db.close()
    },
    async remove() {
      for (const store of opened) await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

readModelsContract('sqlite', async () => openFixture())

describe('sqlite read models', () => {
  let fixture: ReturnType<typeof openFixture>
  beforeEach(() => {
    fixture = openFixture()
  })
  afterEach(() => fixture.remove())

  it('keep a parked event with all that is needed to look into it', async () => {
    const { store, generation } = await started(fixture)
    const parked = [{ offset: 7, subject: '12', reason: 'data: name', value: '{"é":"🐕"}' }]
    await applyAll(store, generation, { ...firstBatch({ partition: 3 }), parked })
    const db = new DatabaseSync(fixture.file)
    const rows = db.prepare('SELECT partition, record_offset AS offset, subject, reason, value FROM parked').all()
    db.close()
    expect(rows.map((row) => ({ ...row }))).toEqual(parked.map((event) => ({ partition: 3, ...event })))
  })

  it('answer read_model_unavailable while another process keeps the file locked, and go on after', async () => {
    const { store, generation } = await started(fixture)
    const other = new DatabaseSync(fixture.file)
    other.exec('BEGIN IMMEDIATE')
    const batch = firstBatch({ inserts: [insert(1)] })
    await expect(store.apply(generation, batch)).rejects.toMatchObject({
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
    await openSqliteReadModels({ file: fixture.file, version: 'v1', isOwner: true }).close()
    expect(other.prepare('SELECT old FROM generation').all()).toHaveLength(1)
    other.exec('COMMIT')
    expect(other.prepare("SELECT name FROM sqlite_schema WHERE name = 'an old one'").all()).toEqual([])
    other.close()
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, firstBatch({ inserts: [insert(1)] }))
    const again = openSqliteReadModels({ file: fixture.file, version: 'v1', isOwner: true })
    expect(await idsIn(again, generation)).toEqual([1])
    await again.close()
  })

  it('of another layout are left to their owner by everybody else, who is told what to do', () => {
    const db = new DatabaseSync(fixture.file)
    db.exec('CREATE TABLE old (x); PRAGMA user_version = 99')
    expect(() => openSqliteReadModels({ file: fixture.file, version: 'v1' })).toThrow(/layout 99 .* start the service/)
    expect(db.prepare('SELECT * FROM old').all()).toEqual([])
    db.close()
  })
})
