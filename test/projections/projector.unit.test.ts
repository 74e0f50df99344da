import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { pets } from '../../projections/pets.ts'
import { Projector } from '../../projections/projector.ts'
import { ServiceError } from '../../src/errors.ts'
import type { EventLog, LogRecord } from '../../src/event-log/event-log.ts'
import { openSqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts'
import type { ReadModels } from '../../src/read-models/read-models.ts'
import { openSqliteReadModels } from '../../src/read-models/sqlite/sqlite-read-models.ts'
import { foreignRecord, petCreated, record } from './records.ts'

const logger = pino({ level: 'silent' })
let groups = 0
const until = { timeout: 10_000, interval: 5 }

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'petstore-projector-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

/** A log and a store in files of their own, with projectors that can be started and stopped. */
function openWorld(path = folder()) {
  const storeFile = join(path, 'read-models.db')
  const log = openSqliteEventLog({ file: join(path, 'log.db') })
  const store = openSqliteReadModels({ file: storeFile, version: 'test' })
  const running: Projector<unknown>[] = []

  async function start(over: { log?: EventLog; store?: ReadModels } = {}): Promise<Projector<unknown>> {
    const group = `group ${groups++}` // of its own, so that two projectors hold the partition at once
    const projector = await Projector.start({ log, store, definition: pets, group, logger, reconcileMs: 20, ...over })
    running.push(projector as Projector<unknown>)
    return projector as Projector<unknown>
  }
  async function stop(): Promise<void> {
    await Promise.all(running.splice(0).map((projector) => projector.close()))
  }
  async function append(records: readonly LogRecord[]): Promise<void> {
    // The service appends text only; records without key or value are the business of decide.unit.test.ts.
    const text = (bytes: Buffer | null) => bytes?.toString() ?? ''
    await log.append(
      0,
      records.map(({ key, value }) => ({ key: text(key), value: text(value), headers: {} })),
    )
  }
  /** Runs SQL for each table of the store, behind the back of whoever has it open. */
  function inEachTable(sql: (table: string) => string, before = ''): void {
    const db = new DatabaseSync(storeFile, { timeout: 5000 })
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all()
    db.exec(`${before}; BEGIN IMMEDIATE; ${tables.map(({ name }) => sql(String(name))).join('; ')}; COMMIT`)
    db.close()
  }
  const flush = () => inEachTable((table) => `DELETE FROM ${table}`)
  function snapshot(): { restore: () => void } {
    const file = join(path, `snapshot-${groups++}.db`)
    const db = new DatabaseSync(storeFile, { timeout: 5000 })
    db.exec(`VACUUM INTO '${file}'`)
    db.close()
    const copy = (table: string) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM old.${table}`
    return { restore: () => inEachTable(copy, `ATTACH '${file}' AS old`) }
  }
  async function close(): Promise<void> {
    await stop()
    await store.close()
    await log.close()
  }
  onTestFinished(close)
  return { path, log, store, start, stop, append, flush, snapshot, close }
}

/** Everything in the active generation. */
async function contents(store: ReadModels) {
  const generation = (await store.active())?.name ?? ''
  const states = await store.partitionStates(generation, [0])
  const inAll = async (index?: string) => {
    const { documents, count, last } = await store.range(generation, { index, from: 1, limit: 100_000 })
    return { documents, count, last }
  }
  return {
    documents: await inAll(),
    available: await inAll('status:available'),
    sold: await inAll('status:sold'),
    state: states?.get(0),
  }
}

async function untilCaughtUp({ log, store }: { log: EventLog; store: ReadModels }) {
  const [end] = await log.ends()
  await vi.waitFor(async () => {
    const { state } = await contents(store)
    expect(state?.checkpoint.next).toBe(end)
  }, until)
}

/** What a projector makes of the log when nothing disturbs it. */
async function undisturbed(log: EventLog) {
  const world = openWorld()
  await world.start({ log })
  await untilCaughtUp({ log, store: world.store })
  const expected = await contents(world.store)
  await world.stop()
  return expected
}

function somePets(from: number, count: number): LogRecord[] {
  return Array.from({ length: count }, (_, i) => petCreated(i, { id: from + i, status: i % 2 ? 'sold' : 'available' }))
}

describe('the projector', () => {
  it('applies what is in the log and what comes, across batches and applies', async () => {
    const world = openWorld()
    for (let i = 0; i < 3; i++) await world.append(somePets(1 + i * 900, 900))
    await world.start()
    await world.append(somePets(5000, 3))
    await untilCaughtUp(world)
    const { documents, sold, state } = await contents(world.store)
    expect([documents.count, sold.count]).toEqual([2703, 1351])
    expect(JSON.parse(`[${documents.documents}]`)).toHaveLength(2703)
    expect(state?.checkpoint).toMatchObject({ next: 2703, applied: 2703 })
  })

  it('heals an emptied store although nothing is written', async () => {
    const world = openWorld()
    await world.append(somePets(1, 20))
    await world.start()
    await untilCaughtUp(world)
    const before = { ...(await contents(world.store)), generation: await world.store.active() }
    world.flush()
    await untilCaughtUp(world)
    expect(await contents(world.store)).toEqual({ ...before, generation: undefined })
    expect((await world.store.active())?.name).not.toBe(before.generation?.name)
  })

  it('heals a store that was put back to an older state although nothing is written', async () => {
    const world = openWorld()
    await world.append(somePets(1, 20))
    await world.start()
    await untilCaughtUp(world)
    const { restore } = world.snapshot()
    await world.append(somePets(21, 20))
    await untilCaughtUp(world)
    const before = await contents(world.store)
    restore()
    await untilCaughtUp(world)
    expect(await contents(world.store)).toEqual(before)
  })

  it('waits while the store does not answer, and goes on when it does', async () => {
    const world = openWorld()
    let away = true
    const store = disturbed(world.store, (method) => {
      if (away && method !== 'listen') throw new ServiceError('read_model_unavailable', 'away')
    })
    await world.append(somePets(1, 5))
    const projector = await world.start({ store })
    await vi.waitFor(() => expect(projector.state.status).toBe('waiting'), until)
    away = false
    await untilCaughtUp(world)
    await vi.waitFor(() => expect(projector.state).toEqual({ status: 'up', partitions: [0] }), until)
  })

  it.each([
    ['holds other records', 20],
    ['is longer', 30],
    ['is shorter', 5],
    ['ends one record earlier', 19],
    ['is empty', 0],
  ])('starts a generation when the log %s than the one it knew', async (_, count) => {
    const world = openWorld()
    await world.append(somePets(1, 20))
    await world.start()
    await untilCaughtUp(world)
    await world.stop()
    // The epoch stays: as when the tail of the log was lost and other events came in its place.
    const other = openWorld()
    if (count > 0) await other.append(somePets(count === 19 ? 1 : 101, count))
    const log = Object.assign(Object.create(other.log), { epoch: world.log.epoch }) as EventLog
    bindMethods(log, other.log)
    await world.start({ log })
    const expected = await undisturbed(other.log)
    await vi.waitFor(async () => expect(await contents(world.store)).toEqual(expected), until)
  })

  it('starts a generation when the log has another epoch', async () => {
    const world = openWorld()
    await world.append(somePets(1, 3))
    await world.start()
    await untilCaughtUp(world)
    await world.stop()
    const other = openWorld()
    await other.append(somePets(1, 3))
    await world.start({ log: other.log })
    await vi.waitFor(async () => expect((await world.store.active())?.epoch).toBe(other.log.epoch), until)
    await untilCaughtUp({ log: other.log, store: world.store })
  })

  it('whatever is in the log and whatever disturbs it, the read models are those of an undisturbed run', async () => {
    const ids = fc.integer({ min: 1, max: 12 })
    const anyRecord = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.tuple(ids, ids).map(([id, event]) => petCreated(0, { id, name: `${event}` }, `event ${event}`)),
      },
      { weight: 1, arbitrary: fc.constant(record(0, null)) },
      { weight: 1, arbitrary: fc.constant(record(0, 'garbage', 'key')) },
      { weight: 1, arbitrary: ids.map((id) => foreignRecord(0, { type: 'petstore.PetCreated.v9', subject: `${id}` })) },
    )
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .array(anyRecord, { minLength: 1, maxLength: 8 })
          .map((records) => ({ kind: 'append' as const, records })),
      },
      ...(
        [
          'restart',
          'second projector',
          'flush',
          'snapshot',
          'restore',
          'lose replies',
          'fail applies',
          'be late',
        ] as const
      ).map((kind) => ({
        weight: 1,
        arbitrary: fc.constant({ kind }),
      })),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (script) => {
        const world = openWorld()
        let fault: string | undefined
        let old: { restore: () => void } | undefined
        const store = disturbed(
          world.store,
          faultOnce(() => {
            const now = fault
            fault = undefined
            return now
          }),
        )
        await world.start({ store })
        for (const each of script) {
          if (each.kind === 'append') await world.append(each.records)
          else if (each.kind === 'restart') await world.stop().then(() => world.start({ store }))
          else if (each.kind === 'second projector') await world.start({ store })
          else if (each.kind === 'flush') world.flush()
          else if (each.kind === 'snapshot') old = world.snapshot()
          else if (each.kind === 'restore') old?.restore()
          else fault = each.kind
        }
        await untilCaughtUp(world)
        expect(await contents(world.store)).toEqual(await undisturbed(world.log))
        await world.close()
      }),
      { numRuns: 60 },
    )
  }, 120_000)
})

type Method = keyof ReadModels

function disturbed(store: ReadModels, disturb: (method: Method) => void | (() => void | Promise<void>)): ReadModels {
  return new Proxy(store, {
    get(target, method: Method) {
      return (...args: never[]) => {
        if (method === 'listen' || method === 'close') return (target[method] as (...args: never[]) => unknown)(...args)
        return (async () => {
          const after = disturb(method)
          const result = await (target[method] as (...args: never[]) => Promise<unknown>)(...args)
          await after?.()
          return result
        })()
      }
    },
  })
}

/** The fault in waiting strikes the next apply. */
function faultOnce(next: () => string | undefined) {
  return (method: Method): void | (() => void | Promise<void>) => {
    if (method !== 'apply') return undefined
    const lost = () => new ServiceError('read_model_unavailable', 'lost')
    switch (next()) {
      case 'fail applies':
        throw lost()
      case 'lose replies':
        return () => {
          throw lost()
        }
      case 'be late':
        return () => new Promise((resolve) => setTimeout(resolve, 30))
    }
    return undefined
  }
}

function bindMethods(target: EventLog, source: EventLog): void {
  for (const method of ['append', 'ends', 'subscribe', 'claimBlock', 'partitionFor', 'close'] as const) {
    Object.assign(target, { [method]: source[method].bind(source) })
  }
}
