import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import type { ApplyResult } from '../../../src/engine/read-models/ports/projection.ts'
import { MemoryEventLog, MemoryLogData } from '../../../src/engine/testing/memory/memory-event-log.ts'
import { eventually } from '../../lib/eventually.ts'
import { anyLog } from './any-log.ts'
import { everything } from './projecting.ts'
import { bookingEvent } from './records.ts'
import {
  disturbed,
  type Method,
  openWorld,
  positionOf,
  runningWorld,
  someSeats,
  underLogId,
  undisturbed,
  untilCaughtUp,
  withMethods,
} from './world.ts'

describe('the projector', () => {
  it('loads only what it needs: nothing if the batch has all of a stream', async () => {
    const world = openWorld()
    const asked: Method[] = []
    const store = disturbed(world.store, (method) => void asked.push(method))
    await world.append(someSeats(1, 300))
    await world.append(someSeats(1, 100).map((_, at) => bookingEvent('BookingPlaced', 1 + 2 * at, at + 1, 2)))
    await world.start({ store })
    await untilCaughtUp(world)
    expect(asked).toContain('apply')
    expect(asked).not.toContain('load')
    await world.append([bookingEvent('BookingApproved', 1, 1, 3)])
    await untilCaughtUp(world)
    expect(asked.filter((method) => method === 'load')).toHaveLength(1)
  })

  it.each(['is emptied', 'is put back to an older state'])(
    'heals a store that %s although nothing is written',
    async (what) => {
      const world = await runningWorld(20)
      const restore = world.snapshot()
      await world.append(someSeats(21, 20))
      await untilCaughtUp(world)
      const before = await everything(world.store)
      if (what === 'is emptied') world.flush()
      else restore()
      await untilCaughtUp(world)
      expect(await everything(world.store)).toEqual(before)
    },
  )

  it('waits while the store does not answer, and goes on when it does', async () => {
    const world = openWorld()
    let away = true
    const store = disturbed(world.store, () => {
      if (away) throw new ServiceError('read_model_unavailable', 'away')
    })
    await world.append(someSeats(1, 5))
    const projector = await world.start({ store })
    await eventually(() => expect(projector.state.status).toBe('waiting'))
    away = false
    await untilCaughtUp(world)
    await eventually(() => expect(projector.state).toEqual({ status: 'up', partitions: [0] }))
  })

  it.each<[string, ApplyResult, 'up' | 'waiting']>([
    ['is about to be replaced: tries again', { outcome: 'later' }, 'up'],
    ['refuses what it does not show: waits', { outcome: 'exist', streams: ['1'], documents: [] }, 'waiting'],
  ])('of a generation that %s', async (_, result, status) => {
    const world = openWorld()
    let isOver = false
    const { projection } = world.store
    const load: typeof projection.load = (...request) => projection.load(...request)
    const apply = vi.fn<typeof projection.apply>(async (...batch) => (isOver ? projection.apply(...batch) : result))
    await world.append(someSeats(1, 5))
    const projector = await world.start({ store: { ...world.store, projection: { apply, load } } })
    await eventually(() => expect(apply.mock.calls.length).toBeGreaterThan(2))
    expect(projector.state.status).toBe(status)
    isOver = true
    await untilCaughtUp(world)
  })

  it.each([
    ['holds other records', 20],
    ['is longer', 30],
    ['is shorter', 5],
    ['ends one record earlier', 19],
    ['is empty', 0],
  ])('starts a generation when the log %s than the one it knew', async (_, count) => {
    const world = await runningWorld(20)
    await world.stop()
    // The log id stays: as when the tail of the log was lost and other events came in its place.
    const other = openWorld()
    if (count > 0) await other.append(someSeats(count === 19 ? 1 : 101, count))
    await world.start({ log: underLogId(world.log.logId, other.log) })
    const expected = await undisturbed(other.log)
    await eventually(async () => expect(await everything(world.store)).toEqual(expected))
  })

  it('replaces nothing where another log has come in the place of the one that was opened', async () => {
    const world = await runningWorld(20)
    const before = await world.store.generations.active()
    await world.stop()
    const other = openWorld()
    await other.append(someSeats(101, 5))
    let confirmed = 0
    const confirm = async () => {
      confirmed++
      throw new ServiceError('event_log_unavailable', 'it is another one')
    }
    await world.start({ log: withMethods(underLogId(world.log.logId, other.log), { confirm }) })
    await eventually(() => expect(confirmed).toBeGreaterThan(2))
    expect(await world.store.generations.active()).toEqual(before)
  })

  it('starts a generation when the log has another id', async () => {
    const [world, other] = [await runningWorld(3), openWorld()]
    await other.append(someSeats(1, 3))
    await world.stop()
    await world.start({ log: other.log })
    const active = () => world.store.generations.active()
    await eventually(async () => expect((await active())?.logId).toBe(other.log.logId))
    await untilCaughtUp({ log: other.log, store: world.store })
  })

  it('starts a generation when the log lost its end, and grew again before that was noticed', async () => {
    const { world, data, log } = await worldOfFour()
    data.loseFrom(0, 2)
    data.add(0, someSeats(101, 4)) // the projector reads on at offset 4
    await eventually(async () => expect(await everything(world.store)).toEqual(await undisturbed(log)))
  })

  it('goes on with its generation when another leader takes over, which has all records', async () => {
    const { world, data, log } = await worldOfFour()
    const before = await world.store.generations.active()
    data.loseFrom(0, 4)
    data.add(0, someSeats(101, 4))
    await untilCaughtUp({ log, store: world.store })
    expect(await world.store.generations.active()).toEqual(before)
    expect(await everything(world.store)).toEqual(await undisturbed(log))
  })

  it('starts a generation when the active one has lost its checkpoints', async () => {
    const world = await runningWorld(3)
    const { generations } = world.store
    const lost = (await generations.active())?.name
    const look = generations.look.bind(generations)
    vi.spyOn(generations, 'look').mockImplementation(async () => {
      const found = await look()
      return found.active?.name === lost ? { ...found, checkpoints: undefined } : found
    })
    await eventually(async () => expect((await generations.active())?.name).not.toBe(lost))
    await untilCaughtUp(world)
  })

  it('whatever is in the log and whatever disturbs it, the read models are those of an undisturbed run', async () => {
    const disturbances = [
      ...(['restart', 'second projector', 'flush', 'snapshot', 'restore'] as const),
      ...(['lose replies', 'fail applies', 'be late'] as const),
    ]
    const anyScript = fc.array(fc.tuple(fc.nat(8), fc.option(fc.constantFrom(...disturbances))), { maxLength: 15 })
    await fc.assert(
      fc.asyncProperty(anyLog({ isSound: false }), anyScript, async (records, script) => {
        const world = openWorld()
        let fault: string | undefined
        let restore = () => {}
        const store = disturbed(world.store, (method) => {
          if (method !== 'apply' || fault === undefined) return undefined
          const strikes = faults[fault]
          fault = undefined
          return strikes?.()
        })
        await world.start({ store })
        let at = 0
        for (const [count, disturbance] of [...script, [records.length, null] as const]) {
          const next = records.slice(at, at + count)
          if (next.length > 0) await world.append(next)
          at += count
          if (disturbance === 'restart') await world.stop().then(() => world.start({ store }))
          else if (disturbance === 'second projector') await world.start({ store })
          else if (disturbance === 'flush') world.flush()
          else if (disturbance === 'snapshot') restore = world.snapshot()
          else if (disturbance === 'restore') restore()
          else if (disturbance !== null) fault = disturbance
        }
        await untilCaughtUp(world)
        expect(await positionOf(world.store)).toBe(records.length)
        expect(await everything(world.store)).toEqual(await undisturbed(world.log))
        await world.close()
      }),
      { numRuns: 30 },
    )
  }, 120_000)
})

/** A world whose projector has applied four records of a log that can lose some. */
async function worldOfFour() {
  const data = new MemoryLogData(1)
  const [world, log] = [openWorld(), new MemoryEventLog(data)]
  data.add(0, someSeats(1, 4))
  await world.start({ log })
  await untilCaughtUp({ log, store: world.store })
  return { world, data, log }
}

const lost = () => {
  throw new ServiceError('read_model_unavailable', 'lost')
}

/** What strikes the next apply: before it, or what it returns after it. */
const faults: Readonly<Record<string, () => undefined | (() => void | Promise<void>)>> = {
  'fail applies': lost,
  'lose replies': () => lost,
  'be late': () => () => new Promise((resolve) => setTimeout(resolve, 30)),
}
