import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { documentsIn } from '../../../src/engine/read-models/document.ts'
import { ProvenReadModel } from '../../../src/engine/read-models/proven-read-model.ts'
import { Tracker } from '../../../src/engine/read-models/tracker.ts'
import { eventually } from '../../lib/eventually.ts'
import { everything } from '../projector/projecting.ts'
import { bookingEvent, seatAdded } from '../projector/records.ts'
import { never, openWorld, someSeats, untilCaughtUp, type World } from '../projector/world.ts'
import { under } from '../read-models/contract/samples.ts'
import { filledWorld, growingLog, interrupted, names, startRebuild } from './rebuilding.ts'
import { worldOfEveryKind } from './verifying.ts'

const activeIn = ({ store }: World) => store.generations.active()

describe('a rebuild', () => {
  it('builds the same read models anew, whatever became of them, and has them take over', async () => {
    const world = await worldOfEveryKind()
    const [before, old] = [await everything(world.store), await activeIn(world)]
    world.sql(`UPDATE ${world.tableOf('seats')} SET json = replace(json, 'seat', 'pest') WHERE id = 1`)
    expect(await everything(world.store)).not.toEqual(before)
    const progress = vi.fn()
    expect(await startRebuild(world, { progress })).toBe('activated')
    const active = await activeIn(world)
    expect(active).toMatchObject({ logId: world.log.logId, continues: old?.name })
    expect(await names(world)).toEqual([
      { name: active?.name, state: 'active' },
      { name: old?.name, state: 'replaced' },
    ])
    expect(await everything(world.store)).toEqual(before)
    expect(progress).toHaveBeenLastCalledWith(24, 24)
  })

  it('takes over only with all that the log held, however little the active one has', async () => {
    const world = openWorld()
    await world.append(someSeats(1, 2500))
    await world.store.generations.start({ name: 'active', logId: world.log.logId }, undefined)
    expect(await startRebuild(world)).toBe('activated')
    expect((await everything(world.store)).sizes).toContainEqual(['seats', 2500])
  })

  it('begins the read models where there are none, of an empty log too', async () => {
    const world = openWorld()
    expect(await startRebuild(world)).toBe('activated')
    expect(await activeIn(world)).toMatchObject({ continues: undefined })
    expect((await everything(world.store)).sizes).toEqual([])
  })

  it('is followed by a projector that has nothing to write', async () => {
    const world = await filledWorld()
    const checkpoints = vi.spyOn(world.store.generations, 'checkpoints')
    await world.start({ tracking: { lookMs: never } })
    await startRebuild(world)
    const active = await activeIn(world)
    await eventually(() => expect(checkpoints).toHaveBeenLastCalledWith(active?.name))
  })

  it('waits while the active generation is further, even after reaching its own goal', async () => {
    const world = await filledWorld(5)
    let asked = 0
    const { log, add } = growingLog(world, async () => [asked++ === 0 ? 3 : 5])
    add(someSeats(1, 5).slice(0, 3))
    const activate = vi.spyOn(world.store.generations, 'activate')
    const rebuilding = startRebuild({ log, store: world.store })
    await eventually(() => expect(activate).toHaveResolvedWith('behind'))
    add(someSeats(1, 5).slice(3))
    expect(await rebuilding).toBe('activated')
    expect((await everything(world.store)).checkpoints.get(0)).toMatchObject({ next: 5, counts: { applied: 5 } })
  })

  it('that was interrupted is gone on with from where it was', async () => {
    const world = await filledWorld(2600)
    const [before, active] = [await everything(world.store), await activeIn(world)]
    const building = await interrupted(world)
    expect(await activeIn(world)).toEqual(active)
    const reached = (await world.store.generations.checkpoints(building))?.get(0)?.next ?? 0
    expect(reached).toBeGreaterThan(0)
    expect(reached).toBeLessThan(2600)
    const dones: number[] = []
    expect(await startRebuild(world, { progress: (done) => dones.push(done) })).toBe('activated')
    expect(Math.min(...dones)).toBeGreaterThanOrEqual(reached)
    expect((await activeIn(world))?.name).toBe(building)
    expect(await everything(world.store)).toEqual(before)
  })

  it('that is interrupted before it begins changes nothing that is read', async () => {
    const world = await filledWorld()
    const active = await activeIn(world)
    expect(await startRebuild(world, { signal: AbortSignal.abort() })).toBe('interrupted')
    expect(await activeIn(world)).toEqual(active)
  })

  it('and another one at once build the same generation, and both end well', async () => {
    const world = await filledWorld(2600)
    const before = await everything(world.store)
    const outcomes = await Promise.all([startRebuild(world), startRebuild(world), startRebuild(world)])
    expect(outcomes).toEqual(['activated', 'activated', 'activated'])
    expect((await names(world)).map(({ state }) => state)).toEqual(['active', 'replaced'])
    expect(await everything(world.store)).toEqual(before)
  })

  it('is not noticed by who reads and writes: nothing is lost, missing or older, and the projector follows at once', async () => {
    const world = await filledWorld(1200)
    await world.start({ tracking: { lookMs: never } })
    const tracker = new Tracker(world.store.generations)
    onTestFinished(() => tracker.close())
    const readModel = new ProvenReadModel({ ...world.store, tracker, log: world.log })
    await eventually(() => expect(readModel.state.status).toBe('up'))
    const page = (index?: string) => readModel.page({ collection: 'seats', ...under(index), after: 0, limit: 100_000 })
    let done = false
    let [greatest, booked, answers, next] = [0, 0, 0, 1201]
    const read = async () => {
      while (!done) {
        const [least, leastBooked] = [greatest, booked]
        const ids = documentsIn((await page()).documents).map(({ id }) => id)
        const { count } = await page('status:pending')
        expect(ids).toEqual(ids.map((_, at) => at + 1)) // without a gap
        expect(ids.length).toBeGreaterThanOrEqual(least)
        expect(count).toBeGreaterThanOrEqual(leastBooked)
        greatest = Math.max(greatest, ids.length)
        booked = Math.max(booked, count)
        answers++
        await nextTurn()
      }
    }
    const write = async () => {
      for (; !done; next++) {
        await world.append([seatAdded({ id: next }), bookingEvent('BookingPlaced', next, next, 2)])
        await nextTurn()
      }
    }
    const all = Promise.all([read(), read(), read(), write()])
    for (let turn = 0; turn < 4; turn++) {
      expect(await startRebuild(world)).toBe('activated')
      for (const { name } of await world.store.generations.all()) await world.store.generations.remove(name)
      const [before, rebuilt] = [answers, greatest]
      const goesOn = () => expect([answers > before + 3, greatest > rebuilt + 3]).toEqual([true, true])
      await Promise.race([all, eventually(goesOn)])
    }
    done = true
    await all
    await untilCaughtUp(world)
    const found = await everything(world.store)
    expect(found.checkpoints.get(0)?.counts).toMatchObject({ applied: 1200 + 2 * (next - 1201), superseded: 0 })
    expect(booked).toBeGreaterThan(0)
    await world.stop()
    await startRebuild(world)
    expect(await everything(world.store)).toEqual(found)
  }, 30_000)
})
