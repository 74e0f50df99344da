import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished } from 'vitest'
import type { Definition } from '../../../src/engine/definition/definition.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import type { EventLog } from '../../../src/engine/log/event-log.ts'
import { openSqliteEventLog } from '../../../src/engine/log/sqlite/sqlite-event-log.ts'
import { Projector, type ProjectorOptions } from '../../../src/engine/projector/projector.ts'
import type { ReadModelStore } from '../../../src/engine/read-models/ports/store.ts'
import { openSqliteReadModels } from '../../../src/engine/read-models/sqlite/sqlite-read-models.ts'
import { Tracker, type TrackerOptions } from '../../../src/engine/read-models/tracker.ts'
import { eventually } from '../../lib/eventually.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { theatre } from '../theatre/theatre.ts'
import { everything, logger } from './projecting.ts'
import { type AnyRecord, asText, seatAdded } from './records.ts'

let groups = 0
/** A look interval so long that only announcements take effect in time. */
export const never = 3_600_000

export interface StartOptions extends Partial<ProjectorOptions> {
  readonly store?: ReadModelStore
  readonly tracking?: TrackerOptions
}

/** A log and a store in files of their own, with projectors that can be started and stopped. */
export function openWorld(definition: Definition = theatre) {
  const path = temporaryFolder()
  const storeFile = join(path, 'read-models.db')
  const log = openSqliteEventLog({ file: join(path, 'log.db') })
  const store = openSqliteReadModels({ file: storeFile, version: 'test', names: definition.names })
  const running: { close(): Promise<void> }[] = []

  async function start({ tracking = { lookMs: 20 }, ...over }: StartOptions = {}) {
    const tracker = new Tracker((over.store ?? store).generations, tracking)
    const group = `group ${groups++}` // of its own, so that two projectors hold the partition at once
    const projector = await Projector.start({ log, store, tracker, definition, group, logger, ...over })
    running.push(projector, tracker)
    return projector
  }
  async function stop(): Promise<void> {
    for (const each of running.splice(0)) await each.close()
  }
  async function append(records: readonly AnyRecord[]): Promise<void> {
    await log.append(0, asText(records))
  }
  /** Behind the back of whoever has the store open. */
  function inDatabase<Result>(use: (db: DatabaseSync) => Result): Result {
    using db = new DatabaseSync(storeFile, { timeout: 5000 })
    return use(db)
  }
  const sql = (text: string) => inDatabase((db) => db.exec(text))
  /** The table of a set of documents in the only generation. */
  const tableOf = (set: string) =>
    inDatabase((db) => `collection_${db.prepare('SELECT key FROM collection WHERE name = ?').get(set)?.key}`)
  /** Runs SQL for each table of the store at once. */
  const inEachTable = (statement: (table: string) => string, before = '') =>
    inDatabase((db) => {
      const names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all()
      db.exec(`${before}; BEGIN IMMEDIATE; ${names.map(({ name }) => statement(String(name))).join('; ')}; COMMIT`)
    })
  const flush = () => inEachTable((table) => `DELETE FROM ${table}`)
  /** Returns what puts the store back to what it is now. */
  function snapshot(): () => void {
    const file = join(path, `snapshot-${groups++}.db`)
    sql(`VACUUM INTO '${file}'`)
    const copy = (table: string) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM old.${table}`
    return () => inEachTable(copy, `ATTACH '${file}' AS old`)
  }
  async function close(): Promise<void> {
    await stop()
    await store.close()
    await log.close()
  }
  onTestFinished(close)
  return { path, log, store, start, stop, append, sql, tableOf, flush, snapshot, close }
}

export type World = ReturnType<typeof openWorld>

export async function positionOf({ generations }: Pick<ReadModelStore, 'generations'>): Promise<number | undefined> {
  const active = await generations.active()
  return active && ((await generations.checkpoints(active.name))?.get(0)?.next ?? 0)
}

export async function untilCaughtUp({ log, store }: Pick<World, 'log' | 'store'>) {
  const [end] = await log.endOffsets()
  await eventually(async () => expect(await positionOf(store)).toBe(end))
}

/** A world with some seats, and a projector that has applied them. */
export async function runningWorld(count: number): Promise<World> {
  const world = openWorld()
  await world.append(someSeats(1, count))
  await world.start()
  await untilCaughtUp(world)
  return world
}

/** What a projector makes of the log when nothing disturbs it. */
export async function undisturbed(log: EventLog) {
  const world = openWorld()
  await world.start({ log })
  await untilCaughtUp({ log, store: world.store })
  const expected = await everything(world.store)
  await world.close()
  return expected
}

export function someSeats(from: number, count: number): AnyRecord[] {
  return Array.from({ length: count }, (_, i) => seatAdded({ id: from + i, status: i % 2 ? 'sold' : 'available' }))
}

type Port = 'reads' | 'projection' | 'generations' | 'inspection'
export type Method = { [Name in Port]: keyof ReadModelStore[Name] }[Port]
type After = void | (() => void | Promise<void>)

/** `store`, whose requests are made by `carry`. */
export function carried(
  store: ReadModelStore,
  carry: <T>(request: () => Promise<T>, method: Method) => Promise<T>,
): ReadModelStore {
  function port<Port extends object>(target: Port): Port {
    return new Proxy(target, {
      get(_, name) {
        const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>
        if (name === 'listen') return method
        return (...args: unknown[]) => carry(() => method(...args), name as Method)
      },
    })
  }
  const { reads, projection, generations, inspection } = store
  return {
    ...store,
    reads: port(reads),
    projection: port(projection),
    generations: port(generations),
    inspection: port(inspection),
  }
}

/** A store that does before and after each call what `disturb` says. */
export function disturbed(store: ReadModelStore, disturb: (method: Method) => After | Promise<After>): ReadModelStore {
  return carried(store, async (request, method) => {
    const after = await disturb(method)
    const result = await request()
    await after?.()
    return result
  })
}

/** `store`, where each method fails a few times before it answers. */
export function silentAtFirst(store: ReadModelStore): ReadModelStore {
  const asked = new Map<Method, number>()
  return disturbed(store, (method) => {
    const times = (asked.get(method) ?? 0) + 1
    asked.set(method, times)
    if (times <= 3) throw new ServiceError('read_model_unavailable', 'away')
  })
}

/** `log`, as if it had the log id of another. */
export function underLogId(logId: string, log: EventLog): EventLog {
  return withMethods(log, { logId })
}

/** `log` with some of it replaced. */
export function withMethods(log: EventLog, over: Partial<EventLog>): EventLog {
  const { partitions, logId, replaced } = log
  const methods = [
    'append',
    'read',
    'endOffsets',
    'subscribe',
    'reserveIdBlock',
    'partitionFor',
    'confirm',
    'close',
  ] as const
  const bound = Object.fromEntries(methods.map((method) => [method, log[method].bind(log)]))
  return { logId, partitions, replaced, ...bound, ...over } as EventLog
}
