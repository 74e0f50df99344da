import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { LimitedLog } from '../../src/projector/limited-log.ts'
import { ProvenReads } from '../../src/read-models/proven-reads.ts'
import { filledWorld, interrupted, names, startRebuild } from './rebuilding.ts'
import { petCreated } from './records.ts'
import {
  countedPets as definition,
  everything,
  openWorld,
  somePets,
  until,
  untilCaughtUp,
  withMethods,
} from './world.ts'

const never = 3_600_000

describe('a rebuild', () => {
  it('builds the same read models anew, and has them take over', async () => {
    const world = await filledWorld()
    const [before, old] = [await everything(world.store), await world.store.active()]
    const progress = vi.fn()
    expect(await startRebuild(world, { progress })).toBe('activated')
    const active = await world.store.active()
    expect(active).toMatchObject({ epoch: world.log.epoch, continues: old?.name })
    expect(await names(world)).toEqual([
      { name: active?.name, state: 'active' },
      { name: old?.name, state: 'replaced' },
    ])
    expect(await everything(world.store)).toEqual(before)
    expect(progress).toHaveBeenLastCalledWith(20, 20)
  })

  it('takes over only with all that the log held, however little the active one has', async () => {
    const world = openWorld()
    await world.append(somePets(1, 2500))
    await world.store.start({ name: 'active', epoch: world.log.epoch }, undefined)
    expect(await startRebuild(world)).toBe('activated')
    expect((await everything(world.store))?.documents).toEqual({ held: 2500, added: 2500 })
  })

  it('begins the read models where there are none, of an empty log too', async () => {
    const world = openWorld()
    expect(await startRebuild(world)).toBe('activated')
    expect(await world.store.active()).toMatchObject({ continues: undefined })
    expect((await everything(world.store))?.documents).toEqual({ held: 0, added: 0 })
  })

  it.each([
    ['a document', (key: string) => `UPDATE ${key} SET document = replace(document, 'pet', 'pest') WHERE id = 7`],
    ['a document that is gone', (key: string) => `DELETE FROM ${key} WHERE id = 7`],
    ['one too many', (key: string) => `INSERT INTO ${key} VALUES (99, '{"id":99}', 'tag')`],
    ['the checkpoint', () => `UPDATE checkpoint SET checkpoint = replace(checkpoint, ',20,', ',19,')`],
  ])('heals what was damaged: %s', async (_, damage) => {
    const world = await filledWorld()
    const before = await everything(world.store)
    world.sql(damage('collection_1'))
    expect(await everything(world.store)).not.toEqual(before)
    await startRebuild(world)
    expect(await everything(world.store)).toEqual(before)
  })

  it('loses nothing while writes go on: the projector follows to what took over, at once', async () => {
    const world = await filledWorld(2500)
    await world.start({ definition, reconcileMs: never })
    let next = 10_000
    let done = false
    let position = 0
    const writing = (async () => {
      while (!done) {
        next += 3
        await world.append(somePets(next, 3))
        await nextTurn()
        const active = (await world.store.active())?.name ?? ''
        const at = (await world.store.checkpoints(active))?.get(0)?.next ?? 0
        expect(at).toBeGreaterThanOrEqual(position)
        position = at
      }
    })()
    const old = await world.store.active()
    for (let turn = 0; turn < 3; turn++) {
      expect(await startRebuild(world)).toBe('activated')
      const rebuilt = position
      await vi.waitFor(() => expect(position).toBeGreaterThan(rebuilt + 5), until)
    }
    done = true
    await writing
    await untilCaughtUp(world)
    expect(await world.store.active()).not.toMatchObject({ name: old?.name })
    const found = await everything(world.store)
    expect(found?.checkpoints.get(0)).toMatchObject({ applied: 2500 + (next - 10_000), parked: 0, dropped: 0 })
    await world.stop()
    await startRebuild(world)
    expect(await everything(world.store)).toEqual(found)
  }, 30_000)

  it('is followed by a projector that has nothing to write', async () => {
    const world = await filledWorld()
    const looks = vi.fn()
    const partitionStates: typeof world.store.partitionStates = (generation, partitions) => {
      looks(generation)
      return world.store.partitionStates(generation, partitions)
    }
    const store = new Proxy(world.store, {
      get: (target, name) => (name === 'partitionStates' ? partitionStates : Reflect.get(target, name).bind(target)),
    })
    await world.start({ definition, store, reconcileMs: never })
    await startRebuild(world)
    const active = await world.store.active()
    await vi.waitFor(() => expect(looks).toHaveBeenLastCalledWith(active?.name), until)
  })

  it('waits while the active generation is further, although it has what there was when it began', async () => {
    const world = await filledWorld(5)
    const limited = new LimitedLog(world.log)
    limited.raise(new Map([[0, 3]]))
    let asked = 0
    const log = withMethods(world.log, {
      ends: async () => [asked++ === 0 ? 3 : 5],
      subscribe: (group, subscriber) => limited.subscribe(group, subscriber),
    })
    const activate = vi.spyOn(world.store, 'activate')
    const rebuilding = startRebuild({ log, store: world.store })
    await vi.waitFor(() => expect(activate).toHaveResolvedWith('behind'), until)
    limited.raise(new Map([[0, 5]]))
    expect(await rebuilding).toBe('activated')
    expect((await everything(world.store))?.checkpoints.get(0)).toMatchObject({ next: 5, applied: 5 })
  })

  it('that was interrupted is gone on with from where it was', async () => {
    const world = await filledWorld(2600)
    const [before, active] = [await everything(world.store), await world.store.active()]
    const building = await interrupted(world)
    expect(await world.store.active()).toEqual(active)
    const reached = (await world.store.checkpoints(building))?.get(0)?.next ?? 0
    expect(reached).toBeGreaterThan(0)
    expect(reached).toBeLessThan(2600)
    const dones: number[] = []
    expect(await startRebuild(world, { progress: (done) => dones.push(done) })).toBe('activated')
    expect(Math.min(...dones)).toBeGreaterThanOrEqual(reached)
    expect((await world.store.active())?.name).toBe(building)
    expect(await everything(world.store)).toEqual(before)
  })

  it('that is interrupted before it begins changes nothing that is read', async () => {
    const world = await filledWorld()
    const active = await world.store.active()
    expect(await startRebuild(world, { signal: AbortSignal.abort() })).toBe('interrupted')
    expect(await world.store.active()).toEqual(active)
  })

  it('and another one at once build the same generation, and both end well', async () => {
    const world = await filledWorld(2600)
    const before = await everything(world.store)
    const outcomes = await Promise.all([startRebuild(world), startRebuild(world), startRebuild(world)])
    expect(outcomes).toEqual(['activated', 'activated', 'activated'])
    expect((await names(world)).map(({ state }) => state)).toEqual(['active', 'replaced'])
    expect(await everything(world.store)).toEqual(before)
  })

  it('is not noticed by who reads: nothing is missing, nothing is older, no error', async () => {
    const world = await filledWorld(1200)
    await world.start({ definition, reconcileMs: never })
    const reads = new ProvenReads(world.store, world.log)
    onTestFinished(() => reads.close())
    await expect.poll(() => reads.state.status, until).toBe('up')
    let done = false
    let [greatest, answers] = [0, 0]
    const read = async () => {
      while (!done) {
        const least = greatest
        const all = await reads.range({ from: 1, limit: 100_000 })
        const [last, first] = [await reads.range({ from: least, limit: 1 }), await reads.range({ from: 1, limit: 1 })]
        const ids = [...all.documents.matchAll(/"id":(\d+)/g)].map(([, id]) => Number(id))
        expect(ids).toEqual(ids.map((_, at) => at + 1)) // without a gap
        expect(ids.length).toBeGreaterThanOrEqual(least)
        expect([last.count, first.count]).toEqual([least === 0 ? 1 : Math.min(1, least), 1])
        greatest = Math.max(greatest, ids.length)
        answers++
        await nextTurn()
      }
    }
    let next = 1201
    const write = async () => {
      while (!done) {
        await world.append([petCreated(0, { id: next++ })])
        await nextTurn()
      }
    }
    const all = Promise.all([read(), read(), read(), write()])
    for (let turn = 0; turn < 4; turn++) {
      expect(await startRebuild(world)).toBe('activated')
      for (const { name } of await world.store.generations()) await world.store.remove(name)
      const before = answers
      await Promise.race([all, vi.waitFor(() => expect(answers).toBeGreaterThan(before + 3), until)])
    }
    done = true
    await all
    expect(greatest).toBeGreaterThan(1200)
  }, 30_000)
})
