import { expect } from 'vitest'
import type { Batch } from '../../../../src/engine/read-models/ports/projection.ts'
import { topic } from './fixture.ts'
import { fullBatch, fullSets } from './full.ts'
import { added, applyAll, batchAfter, checkpointsAfter, firstBatch, newGeneration, seat, started } from './samples.ts'
import { numbers } from './values.ts'

const nothing = { active: undefined, checkpoints: undefined, isComplete: true, building: undefined }

export const looking = topic('looking', {
  'a look finds the active generation and the one being built, each with its checkpoints': async (fixture) => {
    const store = await fixture.open()
    expect(await store.generations.look()).toEqual(nothing)
    const [old, next] = [newGeneration(), newGeneration()]
    await store.generations.start(old, undefined)
    const active = { ...old, continues: undefined }
    expect(await store.generations.look()).toEqual({ ...nothing, active, checkpoints: new Map() })
    await applyAll(store, old.name, fullBatch())
    const checkpoints = checkpointsAfter(fullBatch())
    expect(await store.generations.look()).toEqual({ ...nothing, active, checkpoints })
    await store.generations.build(next)
    const building = { ...next, checkpoints: new Map() }
    expect(await store.generations.look()).toEqual({ active, checkpoints, isComplete: true, building })
    await applyAll(store, next.name, fullBatch(), firstBatch({}, 1))
    const further = checkpointsAfter(fullBatch(), firstBatch({}, 1))
    const both = { active, checkpoints, isComplete: true, building: { ...next, checkpoints: further } }
    expect(await store.generations.look()).toEqual(both)
    expect(await (await fixture.open()).generations.look()).toEqual(both)
    expect(await (await fixture.open('v2')).generations.look()).toEqual(nothing)
  },

  'a look finds what came of them: another log is built from, one took over, one was removed, all are gone': async (
    fixture,
  ) => {
    const { store, generation } = await started(fixture)
    const [looker, next] = [await fixture.open(), newGeneration()]
    const active = { name: generation, logId: 'log-1', continues: undefined }
    for (const { logId } of [newGeneration('log-2'), newGeneration()]) {
      await store.generations.build({ ...next, logId, name: `${next.name} ${logId}` })
      const building = { name: `${next.name} ${logId}`, logId, checkpoints: new Map() }
      expect(await looker.generations.look()).toEqual({ ...nothing, active, checkpoints: new Map(), building })
    }
    const name = `${next.name} log-1`
    await applyAll(store, name, fullBatch())
    expect(await store.generations.activate(name)).toBe('activated')
    const tookOver = { ...active, name, continues: generation }
    const checkpoints = checkpointsAfter(fullBatch())
    expect(await looker.generations.look()).toEqual({ ...nothing, active: tookOver, checkpoints })
    await store.generations.build(next)
    await store.generations.remove(next.name)
    expect(await looker.generations.look()).toEqual({ ...nothing, active: tookOver, checkpoints })
    await fixture.empty()
    expect(await looker.generations.look()).toEqual(nothing)
  },

  'a look tells that any set of the active generation lost an entry, and of no other one': async (fixture) => {
    const { store, generation } = await started(fixture)
    let active = generation
    for (const [set, entry] of fullSets) {
      const { name } = await store.generations.build(newGeneration())
      for (const each of [active, name]) await applyAll(store, each, fullBatch())
      await fixture.damage(name, set, entry)
      expect(await store.generations.look(), set).toMatchObject({ isComplete: true, building: { name } })
      await fixture.damage(active, set, entry)
      for (const looker of [store, await fixture.open()]) {
        expect(await looker.generations.look(), set).toMatchObject({ isComplete: !fixture.provesSizes })
      }
      await store.generations.remove(name)
      const next = newGeneration()
      await store.generations.start(next, active)
      expect(await store.generations.look()).toMatchObject({ active: next, isComplete: true })
      active = next.name
    }
  },

  'a look is of one moment, whatever takes over and whichever sets are added meanwhile': async (fixture) => {
    const { store, generation } = await started(fixture)
    const looker = await fixture.open()
    const batches: Batch[] = []
    const counts = new Map([[generation, 0]])
    for (const partition of numbers(10, 0)) {
      batches.push(firstBatch({ documents: added(seat(partition + 1, [`index ${partition}`])) }, partition))
      const { name } = await store.generations.build(newGeneration())
      counts.set(name, batches.length)
      const looks = [looker.generations.look()]
      for (const batch of batches) {
        await applyAll(store, name, batch)
        looks.push(looker.generations.look())
      }
      expect(await store.generations.activate(name)).toBe('activated')
      looks.push(looker.generations.look())
      for (const { active, checkpoints, isComplete } of await Promise.all(looks)) {
        expect([checkpoints?.size, isComplete]).toEqual([counts.get(active?.name ?? ''), true])
      }
    }
  },

  'a look finds the sets of the active generation complete while batches add some': async (fixture) => {
    const { store, generation } = await started(fixture)
    const looker = await fixture.open()
    let [batch, reached] = [fullBatch(), 0]
    await applyAll(store, generation, batch)
    for (const id of numbers(20, 100)) {
      batch = batchAfter(batch, { documents: added(seat(id, [`index ${id}`])) })
      const looks = [looker.generations.look(), looker.generations.look()]
      await applyAll(store, generation, batch)
      for (const { checkpoints, isComplete } of [...(await Promise.all(looks)), await looker.generations.look()]) {
        const next = checkpoints?.get(0)?.next ?? 0
        expect([next >= reached, isComplete]).toEqual([true, true])
        reached = next
      }
      expect(reached).toBe(batch.checkpoint.next)
    }
  },
})
