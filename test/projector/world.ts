import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pino } from 'pino'
import { expect, onTestFinished, vi } from 'vitest'
import { pets } from '../../projections/pets.ts'
import type { PetEvent } from '../../src/domain/pet-created.ts'
import type { EventLog, LogRecord } from '../../src/event-log/event-log.ts'
import { openSqliteEventLog } from '../../src/event-log/sqlite/sqlite-event-log.ts'
import { ServiceError } from '../../src/lib/errors.ts'
import type { ReadModelDefinition } from '../../src/projector/definition.ts'
import { Projector, type ProjectorOptions } from '../../src/projector/projector.ts'
import type { ReadModels } from '../../src/read-models/read-models.ts'
import { openSqliteReadModels } from '../../src/read-models/sqlite/sqlite-read-models.ts'
import { allParked } from '../read-models/contract/samples.ts'
import { petCreated } from './records.ts'

export const logger = pino({ level: 'silent' })
let groups = 0
/** Of waits for what a projector does. */
export const until = { timeout: 10_000, interval: 5 }

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'petstore-projector-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

/** `pets`, with a counter for each status. */
export const countedPets: ReadModelDefinition<PetEvent> = {
  ...pets,
  countings: [{ name: 'pets', version: 1, by: { status: ({ pet }) => pet.status } }],
}

/** A log and a store in files of their own, with projectors that can be started and stopped. */
export function openWorld(path = folder()) {
  const storeFile = join(path, 'read-models.db')
  const log = openSqliteEventLog({ file: join(path, 'log.db') })
  const store = openSqliteReadModels({ file: storeFile, version: 'test' })
  const running: Projector<unknown>[] = []

  async function start(over: Partial<ProjectorOptions<PetEvent>> = {}): Promise<Projector<unknown>> {
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
  /** Runs SQL on the store, behind the back of whoever has it open. */
  function sql(text: string): void {
    const db = new DatabaseSync(storeFile, { timeout: 5000 })
    db.exec(text)
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
  return { path, log, store, start, stop, append, sql, flush, snapshot, close }
}

/** Everything in the active generation. */
export async function contents(store: ReadModels) {
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

/** Everything there is in a generation, the active one unless told otherwise. */
export async function everything(store: ReadModels, generation?: string) {
  const name = generation ?? (await store.active())?.name ?? ''
  const found = await store.contents(name)
  if (found === undefined) return undefined
  const { moment, ...rest } = found
  const entries = async (index?: string) =>
    (await store.entries(name, { index, from: 1, limit: 100_000 }))?.entries.map(({ id, text }) => ({ id, text }))
  return {
    ...rest,
    parkedEvents: (await allParked(store, name)) ?? [],
    checkpoints: moment.checkpoints,
    entries: await entries(),
    byIndex: await Promise.all([...rest.indexes.keys()].sort().map(async (index) => [index, await entries(index)])),
    decided: (await store.decisions(name, '', 100_000))?.decisions.toSorted((a, b) => a.offset - b.offset),
  }
}

export async function untilCaughtUp({ log, store }: { log: EventLog; store: ReadModels }) {
  const [end] = await log.ends()
  await vi.waitFor(async () => {
    const { state } = await contents(store)
    expect(state?.checkpoint.next).toBe(end)
  }, until)
}

/** What a projector makes of the log when nothing disturbs it. */
export async function undisturbed(log: EventLog) {
  const world = openWorld()
  await world.start({ log })
  await untilCaughtUp({ log, store: world.store })
  const expected = await contents(world.store)
  await world.stop()
  return expected
}

export function somePets(from: number, count: number): LogRecord[] {
  return Array.from({ length: count }, (_, i) => petCreated(i, { id: from + i, status: i % 2 ? 'sold' : 'available' }))
}

export type Method = keyof ReadModels
type After = void | (() => void | Promise<void>)

/** A store that does before and after each call what `disturb` says. */
export function disturbed(store: ReadModels, disturb: (method: Method) => After | Promise<After>): ReadModels {
  return new Proxy(store, {
    get(target, method: Method) {
      return (...args: never[]) => {
        if (method === 'listen' || method === 'close') return (target[method] as (...args: never[]) => unknown)(...args)
        return (async () => {
          const after = await disturb(method)
          const result = await (target[method] as (...args: never[]) => Promise<unknown>)(...args)
          await after?.()
          return result
        })()
      }
    },
  })
}

/** `store`, where each method fails a few times before it answers. */
export function silentAtFirst(store: ReadModels): ReadModels {
  const asked = new Map<Method, number>()
  return disturbed(store, (method) => {
    const times = (asked.get(method) ?? 0) + 1
    asked.set(method, times)
    if (times <= 3) throw new ServiceError('read_model_unavailable', 'away')
  })
}

/** `log`, as if it had the epoch of another. */
export function underEpoch(epoch: string, log: EventLog): EventLog {
  return withMethods(log, { epoch })
}

/** `log` with some of it replaced. */
export function withMethods(log: EventLog, over: Partial<EventLog>): EventLog {
  const { partitions, epoch, replaced } = log
  const methods = ['append', 'ends', 'subscribe', 'claimBlock', 'partitionFor', 'close'] as const
  const bound = Object.fromEntries(methods.map((method) => [method, log[method].bind(log)]))
  return { epoch, partitions, replaced, ...bound, ...over } as EventLog
}
