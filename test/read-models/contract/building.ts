import { expect } from 'vitest'
import { startOfPartition } from '../../../src/read-models/checkpoint.ts'
import { clockMoved, listed, statesOf } from './clock.ts'
import { contentOf, everything, expectGone } from './contents.ts'
import { topic } from './fixture.ts'
import { fullBatch } from './full.ts'
import { added, applyAll, batchAfter, changed, firstBatch, newGeneration, pet, started } from './samples.ts'

export const building = topic('building', {
  'one is built, empty, beside the active one, which stays as it was': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, fullBatch())
    const [before, active] = [await contentOf(store, generation), await store.generations.active()]
    const next = newGeneration() // of the same log as the active one
    expect(await store.generations.build(next)).toEqual(next)
    expect((await contentOf(store, next.name))?.sizes).toEqual(new Map())
    const documents = changed([pet(1, ['a', 'b'])], [pet(1, [], 2)])
    await applyAll(store, next.name, fullBatch(), batchAfter(fullBatch(), { documents, unparked: fullBatch().parked }))
    expect(await contentOf(store, generation)).toEqual(before)
    expect(await store.generations.active()).toEqual(active)
    expect(await statesOf(store)).toEqual({ [generation]: 'active', [next.name]: 'building' })
  },

  'one of the same log that is being built is gone on with, and is being built since then': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = await store.generations.build(newGeneration('log-2'))
    await applyAll(store, first.name, fullBatch())
    const [before, earlier] = [await contentOf(store, first.name), await listed(store, first.name)]
    await clockMoved(store)
    const second = newGeneration('log-2')
    expect(await (await fixture.open()).generations.build(second)).toEqual(first)
    expect(await contentOf(store, first.name)).toEqual(before)
    expect((await listed(store, first.name))?.since).toBeGreaterThan(earlier?.since ?? Infinity)
    await expectGone(store, second.name)
    expect(await statesOf(store)).toEqual({ [generation]: 'active', [first.name]: 'building' })
  },

  'of several that are to be built at once one is, and all are told which': async (fixture) => {
    const stores = await Promise.all([fixture.open(), fixture.open(), fixture.open()])
    const candidates = stores.map(() => newGeneration())
    const asked = stores.map(({ generations }, i) => generations.build(candidates[i] ?? newGeneration()))
    const [first, ...others] = await Promise.all(asked)
    expect(candidates).toContainEqual(first)
    expect(others).toEqual([first, first])
    expect(await statesOf(stores[0])).toEqual({ [first?.name ?? '']: 'building' })
  },

  'one of another log that was being built is removed': async (fixture) => {
    const { store, generation } = await started(fixture)
    const old = await store.generations.build(newGeneration('log-2'))
    await applyAll(store, old.name, fullBatch())
    const next = newGeneration('log-3')
    expect(await store.generations.build(next)).toEqual(next)
    await expectGone(store, old.name)
    expect((await contentOf(store, next.name))?.sizes).toEqual(new Map())
    expect(await statesOf(store)).toEqual({ [generation]: 'active', [next.name]: 'building' })
  },

  'what is refused in one that is active is refused in one that is being built': async (fixture) => {
    const { store, generation } = await started(fixture)
    const { name } = await store.generations.build(newGeneration())
    const first = fullBatch()
    await applyAll(store, name, first)
    const before = await everything(store, generation, name)
    const again = { documents: added(pet(1)), newStreams: ['1'] }
    const outcomes = []
    for (const batch of [{ ...first, expected: startOfPartition }, batchAfter(first, again), firstBatch(again, 1)]) {
      outcomes.push((await store.projection.apply(name, batch)).outcome)
    }
    expect(outcomes).toEqual(['checkpoint_mismatch', 'exist', 'exist'])
    expect(await everything(store, generation, name)).toEqual(before)
  },
})
