import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { createCommandHandler } from '../../src/command-handling/execution.ts'
import { IdAllocator } from '../../src/command-handling/id-allocator.ts'
import { encodeEvent } from '../../src/domain/event-codec.ts'
import type { PetId } from '../../src/domain/pet.ts'
import { type PetCommand, petDecider, petStateCodec } from '../../src/domain/pet-stream.ts'
import { defaultLimits, GroupCommit } from '../../src/event-log/group-commit.ts'
import { openSqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts'
import { ServiceError } from '../../src/lib/errors.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'

interface Created {
  readonly id: string
  readonly offset: number
}

const queuedMax = 1000
const requests = 20_000

/** The write side of the embedded service, on a log in a file of its own; nothing is projected. */
function open() {
  const file = join(temporaryFolder(), 'log.db')
  const log = openSqliteEventLog({ file })
  const appender = new GroupCommit(log, { ...defaultLimits, recordsMax: 300, queuedMax, timeoutMs: 60_000 })
  onTestFinished(async () => {
    await appender.close()
    await log.close()
  })
  const away = () => Promise.reject(new ServiceError('read_model_unavailable', 'away'))
  const handler = createCommandHandler({
    readModel: { load: away, whenApplied: async () => 'late' },
    log,
    appender,
    ids: new IdAllocator(log),
    kind: { codec: petStateCodec, encode: encodeEvent },
    now: () => new Date(),
    timeoutMs: 5000,
  })
  const newPet = { name: 'Rex', categoryId: 7, status: 'sold' } as const
  const command = (id: number): PetCommand => ({ type: 'createPet', id: id as PetId, newPet })
  const create = async (): Promise<Created> => {
    const handled = await handler.handle(petDecider, command, { stream: 'new', wait: { timeoutMs: 0 } })
    if (handled.outcome !== 'applied' || handled.isReadable) throw new Error(`${handled.outcome}, and readable`)
    return { id: String(handled.state?.pet.id), offset: handled.position.offset }
  }
  return { file, create }
}

/** What another process finds in the log: the key of each record, by offset. */
function stored(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true })
  const rows = db.prepare('SELECT CAST(key AS TEXT) AS key FROM records ORDER BY "offset"').all()
  db.close()
  return rows.map(({ key }) => String(key))
}

/** Where the log must hold whom, as the answers say. */
function acknowledged(created: readonly Created[]): string[] {
  const keys: string[] = []
  for (const { id, offset } of created) keys[offset] = id
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
