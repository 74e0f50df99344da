import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import type { EventLog } from '../../../src/engine/log/event-log.ts'
import { MemoryEventLog, MemoryLogData } from '../../../src/engine/testing/memory/memory-event-log.ts'
import { eventually } from '../../lib/eventually.ts'
import { startRebuild } from '../rebuilding/rebuilding.ts'
import { startVerify } from '../rebuilding/verifying.ts'
import { everything, parkedIn } from './projecting.ts'
import { type AnyRecord, altered, bookingEvent, discard, newerEvent, seatAdded } from './records.ts'
import {
  disturbed,
  openWorld,
  positionOf,
  type StartOptions,
  someSeats,
  undisturbed,
  untilCaughtUp,
  withMethods,
} from './world.ts'

/** Bookings of seat 1 from a version on: placed and cancelled in turn, each with so many characters more. */
function waitingBookings(count: number, characters = 0, from = 3): AnyRecord[] {
  const padding = 'x'.repeat(characters)
  return Array.from({ length: count }, (_, i) => {
    const type = i % 2 === 0 ? 'BookingPlaced' : 'BookingCancelled'
    const event = bookingEvent(type, 1, 1000 + from + Math.floor(i / 2), from + i)
    return characters === 0 ? event : altered(event, { padding })
  })
}

/** A log in memory with a projector, and what comes between. */
async function worldOf(records: readonly AnyRecord[], over: StartOptions & { readonly read?: EventLog['read'] } = {}) {
  const data = new MemoryLogData(1)
  const memory = new MemoryEventLog(data)
  data.add(0, records)
  const world = openWorld()
  const { read, ...options } = over
  const log = read === undefined ? memory : withMethods(memory, { read })
  const start = () => world.start({ log, ...options })
  const projector = await start()
  return { world: { ...world, log }, memory, data, projector, start }
}

const firstParked = [seatAdded({ id: 1 }), newerEvent('1', 2)]

describe('a discard', () => {
  it('takes up thousands that wait, in pages and with one apply', async () => {
    let applies = 0
    let [pages, isDiscarding] = [0, false]
    const seen: unknown[] = []
    const data = new MemoryLogData(1)
    const log = new MemoryEventLog(data)
    const world = openWorld()
    const stateOfSeat = async (id: number) => {
      const { name } = (await world.store.generations.active()) ?? { name: '' }
      const { row, parked } = await world.store.reads.load(name, { stream: String(id) })
      return { version: row?.version, isParked: parked !== undefined }
    }
    const store = disturbed(world.store, (method) => {
      if (method === 'apply' && isDiscarding) applies++
    })
    const read: EventLog['read'] = async (...place) => {
      pages++
      if (pages % 4 === 0) seen.push(await stateOfSeat(1), await stateOfSeat(50))
      return await log.read(...place)
    }
    data.add(0, [...firstParked, ...someSeats(50, 5), ...waitingBookings(4999, 15_000)])
    const projector = await world.start({ log: withMethods(log, { read }), store })
    await untilCaughtUp({ log, store: world.store })
    expect(parkedIn(await everything(world.store))).toHaveLength(5000)
    isDiscarding = true
    data.add(0, [discard('1', 1), ...someSeats(60, 1)])
    await untilCaughtUp({ log, store: world.store })
    expect(applies).toBeLessThanOrEqual(2) // the last record may come in a batch of its own
    expect(projector.takenUp(0)).toBe(5000 / 500) // each page is full, so that one record more would need another
    for (const [i, state] of seen.entries()) {
      expect(state).toEqual(i % 2 === 0 ? { version: 1, isParked: true } : { version: 1, isParked: false })
    }
    expect([await stateOfSeat(1), await stateOfSeat(60)]).toEqual([
      { version: 5001, isParked: false },
      { version: 1, isParked: false },
    ])
    const found = await everything(world.store)
    expect([found.parked, found.waiting, found.history.length]).toEqual([[], [], Math.floor((5001 - 65) / 64)])
    expect((await startVerify({ log, store: world.store })).differences).toEqual([])
    await startRebuild({ log, store: world.store })
    expect(await everything(world.store)).toEqual(found)
  }, 60_000)

  it('that is broken off on the way changes nothing, and is done once what broke it off is over', async () => {
    const records = [...firstParked, ...waitingBookings(1200), discard('1', 1), ...someSeats(50, 3)]
    for (const fault of ['the log fails', 'a reply is lost', 'the projector ends', 'a rebalance'] as const) {
      let strikes = 2
      const log = new MemoryEventLog(new MemoryLogData(1))
      const world = openWorld()
      const store = disturbed(world.store, (method) => {
        if (fault !== 'a reply is lost' || method !== 'apply') return undefined
        return () => {
          if (strikes-- > 0) throw new ServiceError('read_model_unavailable', 'lost')
        }
      })
      const {
        world: filled,
        start,
        memory,
        projector,
      } = await worldOf(records, {
        store,
        read: async (partition, from, limit) => {
          if (fault === 'the log fails' && from > 900 && strikes-- > 0)
            throw new ServiceError('event_log_unavailable', '')
          if (fault === 'the projector ends' && from > 900 && strikes-- === 1) void filled.stop().then(start)
          if (fault === 'a rebalance' && from > 900 && strikes-- > 0) projector.assigned([0])
          return await memory.read(partition, from, limit)
        },
      })
      await untilCaughtUp({ log: memory, store: world.store })
      expect(await everything(world.store), fault).toEqual(await undisturbed(memory))
      expect(strikes, fault).toBeLessThan(2)
      await log.close()
    }
  })

  it('holds up no verification, which finds nothing on the way or afterwards', async () => {
    const found: unknown[] = []
    let verifying: Promise<unknown> | undefined
    const { world, memory } = await worldOf([...firstParked, ...waitingBookings(1200), discard('1', 1)], {
      read: async (partition, from, limit) => {
        if (from > 900) {
          verifying ??= startVerify(world).then(({ differences }) => found.push(differences))
          await verifying
        }
        return await memory.read(partition, from, limit)
      },
    })
    await untilCaughtUp(world)
    expect((await everything(world.store)).parked).toEqual([])
    expect([...found, (await startVerify(world)).differences]).toEqual([[], []])
  })

  it('and another one, of what parked again behind it, come to the same at once and one after the other', async () => {
    const again = { version: 701 }
    const waiting = [
      ...waitingBookings(again.version - 3),
      newerEvent('1', again.version),
      ...waitingBookings(600, 0, again.version + 1),
    ]
    const before = [...firstParked, ...waiting]
    const discards = [discard('1', 1), discard('1', 1), discard('1', again.version - 1), discard('1', 1)]
    const { world, data } = await worldOf(before)
    await untilCaughtUp(world)
    for (const each of discards) {
      data.add(0, [each])
      await untilCaughtUp(world)
      if (each !== discards[0]) continue
      const { waiting: chunks, parked } = await everything(world.store)
      expect(parked).toEqual([['1', `0 ${again.version - 1} 600 type theatre.SeatMoved.v1 is unknown`]])
      expect(chunks.map(([id, text]) => [id, text.split(',').length])).toEqual([
        ['0/1', 500],
        ['1/1', 100],
      ])
    }
    const found = await everything(world.store)
    expect(found.parked).toEqual([])
    const atOnce = await worldOf([...before, ...discards])
    await untilCaughtUp(atOnce.world)
    expect(await everything(atOnce.world.store)).toEqual(found)
  })

  it('of any other event loads nothing that waits', async () => {
    const { world, data } = await worldOf([...firstParked, ...waitingBookings(1500)])
    await untilCaughtUp(world)
    await world.stop()
    const loaded: number[] = []
    const { projection } = world.store
    const load: typeof projection.load = (name, request) => {
      loaded.push(request.waiting.length)
      return projection.load(name, request)
    }
    const store = { ...world.store, projection: { ...projection, load } }
    await world.start({ log: world.log, store })
    data.add(0, [discard('1', 2), discard('1', 1400)])
    await untilCaughtUp(world)
    expect(Math.max(...loaded)).toBe(0)
    data.add(0, [discard('1', 1)])
    await untilCaughtUp(world)
    expect(Math.max(...loaded)).toBe(3)
    expect((await everything(world.store)).parked).toEqual([])
  })

  it('waits while the log does not answer, says so, and holds up nothing that was applied', async () => {
    const lines: Record<string, unknown>[] = []
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
    let isAway = true
    const { world, memory, data } = await worldOf([...firstParked, ...waitingBookings(3)], {
      logger,
      read: async (...place) => {
        if (isAway) throw new ServiceError('event_log_unavailable', 'The log is away.')
        return await memory.read(...place)
      },
    })
    await untilCaughtUp(world)
    data.add(0, [discard('1', 1), ...someSeats(50, 1)])
    await eventually(() =>
      expect(lines.map(({ msg }) => msg)).toContain('projector is waiting for log and read models'),
    )
    expect(lines.at(-1)).toMatchObject({ err: { message: 'The log is away.' } })
    expect(await positionOf(world.store)).toBe(5)
    isAway = false
    await untilCaughtUp(world)
    expect(await everything(world.store)).toEqual(await undisturbed(memory))
    expect(lines.map(({ msg }) => msg)).toContain('projector continues')
  })

  it.each([
    ['another record', seatAdded({ id: 9 })],
    ['another stream', newerEvent('2', 1)],
  ])('of what the log has lost, with %s in its place, makes the read models anew', async (_, record) => {
    const { world, data, memory } = await worldOf([...firstParked, ...waitingBookings(3)])
    await untilCaughtUp(world)
    const before = await world.store.generations.active()
    const records = data.records[0] ?? []
    records[2] = { ...record, offset: 2, leaderEpoch: 0 }
    data.add(0, [discard('1', 1), ...someSeats(50, 1)])
    await eventually(async () => expect((await world.store.generations.active())?.name).not.toBe(before?.name))
    await untilCaughtUp(world)
    expect(await everything(world.store)).toEqual(await undisturbed(memory))
  })
})
