import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { type CreatedPet, createPetCommand } from '../../src/command-handling/create-pet.ts'
import { PetIds } from '../../src/command-handling/pet-ids.ts'
import type { NewPet } from '../../src/domain/pet.ts'
import { defaultLimits, GroupCommit } from '../../src/event-log/group-commit.ts'
import { openSqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts'
import { ServiceError } from '../../src/lib/errors.ts'

const rex: NewPet = { name: 'Rex', categoryId: 7n, status: 'sold' }
const queuedMax = 1000
const requests = 20_000

/** The write side of the embedded service, on a log in a file of its own. */
function open() {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-overload-'))
  const file = join(folder, 'log.db')
  const log = openSqliteEventLog({ file })
  const appender = new GroupCommit(log, { ...defaultLimits, recordsMax: 300, queuedMax, timeoutMs: 60_000 })
  onTestFinished(async () => {
    await appender.close()
    await log.close()
    rmSync(folder, { recursive: true })
  })
  const createPet = createPetCommand({ log, appender, ids: new PetIds(log), now: () => new Date() })
  return { file, create: () => createPet(rex, {}) }
}

/** What another process finds in the log: the key of each record, by offset. */
function stored(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true })
  const rows = db.prepare('SELECT CAST(key AS TEXT) AS key FROM records ORDER BY "offset"').all()
  db.close()
  return rows.map(({ key }) => String(key))
}

/** Where the log must hold whom, as the answers say. */
function acknowledged(created: readonly CreatedPet[]): string[] {
  const keys: string[] = []
  for (const { id, position } of created) keys[position.offset] = String(id)
  return keys
}

// That no rejection goes unhandled is asserted by the runner: it fails a run in which one does.
it('more requests at once than the queue takes: some are shed, none is lost, none is stored twice', async () => {
  const { file, create } = open()
  const outcomes = await Promise.allSettled(Array.from({ length: requests }, create))
  const created = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  expect(created.length).toBeGreaterThanOrEqual(queuedMax)
  expect(failures.length).toBeGreaterThan(0)
  for (const failure of failures) expect(failure).toBeInstanceOf(ServiceError)
  expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(['overloaded']))
  expect(stored(file)).toEqual(acknowledged(created))

  const later = await Promise.all(Array.from({ length: queuedMax }, create))
  expect(stored(file)).toEqual(acknowledged([...created, ...later]))
})

it('requests that keep coming while others are shed: the queue has room again as soon as a batch is stored', async () => {
  const { file, create } = open()
  const created: CreatedPet[] = []
  let shed = 0
  const client = async () => {
    for (let request = 0; request < 10; request++) {
      try {
        created.push(await create())
      } catch (error) {
        expect(error).toMatchObject({ code: 'overloaded' })
        shed++
        await new Promise(setImmediate)
      }
    }
  }
  await Promise.all(Array.from({ length: requests / 10 }, client))
  expect(shed).toBeGreaterThan(0)
  expect(created.length).toBeGreaterThan(queuedMax)
  expect(stored(file)).toEqual(acknowledged(created))
})
