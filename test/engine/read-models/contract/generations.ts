import { expect } from 'vitest'
import { textSets } from '../../../../src/engine/read-models/document.ts'
import { type Checkpoint, startOfPartition } from '../../../../src/engine/read-models/stored-texts.ts'
import { clockMoved, listed, statesOf, timeOf } from './clock.ts'
import { contentOf, expectGone, versionContent } from './contents.ts'
import { topic } from './fixture.ts'
import { fullBatch } from './full.ts'
import { added, applyAll, batchAfter, changed, firstBatch, idsIn, newGeneration, seat, started } from './samples.ts'

/** Every field at its limits. */
const unusual: Checkpoint = {
  next: 2 ** 53 - 1,
  last: { offset: 2 ** 53 - 2, identity: 'a "b"\n[1,2] é🐕' },
  counts: { applied: 1, duplicate: 2, superseded: 3, parked: 4, discarded: 5, skipped: 2 ** 53 - 16 },
}

export const generations = topic('generations', {
  'a started one is active and empty, and of one that was not there is nothing': async (fixture) => {
    const store = await fixture.open()
    expect([await store.generations.active(), await store.generations.all()]).toEqual([undefined, []])
    const generation = newGeneration('a log é🐕')
    expect(await store.generations.start(generation, undefined)).toBe(true)
    expect(await store.generations.active()).toEqual({ ...generation, continues: undefined })
    const sets = new Map(textSets.map((set) => [set, new Map()]))
    expect(await contentOf(store, generation.name)).toEqual({ checkpoints: new Map(), sizes: new Map(), sets })
    const { size } = (await store.inspection.contents(generation.name))?.sizes ?? new Map()
    expect(size).toBeGreaterThan(0) // the sizes of an empty generation are not lost
    await expectGone(store, newGeneration().name)
  },

  'one is started in place of the active one, which is kept as it was, and is gone for projectors': async (fixture) => {
    const { store, generation: old } = await started(fixture)
    await applyAll(store, old, fullBatch())
    const before = await contentOf(store, old)
    const next = newGeneration('log-2')
    await store.generations.start(next, old)
    expect(await store.generations.active()).toEqual({ ...next, continues: undefined })
    expect((await contentOf(store, next.name))?.sizes).toEqual(new Map())
    for (const batch of [batchAfter(fullBatch()), firstBatch({}, 1)]) {
      expect(await store.projection.apply(old, batch)).toEqual({ outcome: 'generation_gone' })
    }
    expect(await contentOf(store, old)).toEqual(before)
    expect(await idsIn(store, old, 'a')).toEqual([1, 2])
  },

  'nothing is started unless what it is to replace is active': async (fixture) => {
    const store = await fixture.open()
    const loser = newGeneration('log-2')
    expect(await store.generations.start(loser, 'another')).toBe(false)
    expect(await store.generations.active()).toBeUndefined()
    const generation = newGeneration()
    await store.generations.start(generation, undefined)
    await applyAll(store, generation.name, fullBatch())
    const before = await versionContent(store, generation.name)
    for (const instead of [undefined, 'another']) expect(await store.generations.start(loser, instead)).toBe(false)
    expect(await versionContent(store, generation.name)).toEqual(before)
    await expectGone(store, loser.name)
  },

  'of several started at once one wins, and every store sees which': async (fixture) => {
    const stores = await Promise.all([fixture.open(), fixture.open(), fixture.open()])
    const candidates = stores.map((_, i) => ({ ...newGeneration(`log-${i}`), continues: undefined }))
    const starts = stores.map((store, i) => store.generations.start(candidates[i] ?? newGeneration(), undefined))
    expect((await Promise.all(starts)).sort()).toEqual([false, false, true])
    const [first, ...others] = await Promise.all(stores.map((store) => store.generations.active()))
    expect(candidates).toContainEqual(first)
    expect(others).toEqual([first, first])
    expect(await stores[0].generations.all()).toHaveLength(1)
  },

  'are listed with log, state and since when, the active one first': async (fixture) => {
    const { store, generation: old } = await started(fixture)
    const building = await store.generations.build(newGeneration('log-2'))
    const before = [await listed(store, old), await listed(store, building.name)]
    await clockMoved(store)
    const begin = await timeOf(store)
    await applyAll(store, old, firstBatch())
    const active = newGeneration('log-2')
    await store.generations.start(active, old)
    const end = await timeOf(store)
    const [first, ...others] = await store.generations.all()
    expect(first).toMatchObject({ ...active, state: 'active' })
    expect(others).toHaveLength(2)
    expect(others).toContainEqual(before[1])
    expect(before[1]).toMatchObject({ ...building, state: 'building' })
    const replaced = others.find(({ name }) => name === old)
    expect(replaced).toMatchObject({ logId: 'log-1', state: 'replaced' })
    expect(before[0]?.since).toBeLessThan(begin)
    for (const since of [first?.since, replaced?.since]) {
      expect(since).toBeGreaterThanOrEqual(begin)
      expect(since).toBeLessThanOrEqual(end)
    }
  },

  'each version has its own': async (fixture) => {
    const { store, generation } = await started(fixture)
    const building = await store.generations.build(newGeneration())
    await applyAll(store, generation, fullBatch())
    const before = await versionContent(store, generation)
    const other = await fixture.open('v2')
    await expectGone(other, generation)
    expect(await other.generations.activate(building.name)).toBe('not_building')
    for (const name of [generation, building.name]) expect(await other.generations.remove(name)).toBe(false)
    const own = newGeneration()
    expect(await other.generations.build(own)).toEqual(own)
    await other.generations.start(newGeneration(), undefined)
    expect(await statesOf(other)).toMatchObject({ [own.name]: 'building' })
    expect(await versionContent(store, generation)).toEqual(before)
  },

  'are gone once the store was emptied, which begins anew': async (fixture) => {
    const { store, generation } = await started(fixture)
    const building = await store.generations.build(newGeneration())
    for (const name of [generation, building.name]) await applyAll(store, name, fullBatch())
    await fixture.empty()
    for (const name of [generation, building.name]) await expectGone(store, name)
    expect(await store.projection.apply(generation, batchAfter(fullBatch()))).toEqual({ outcome: 'generation_gone' })
    expect([await store.generations.active(), await store.generations.all()]).toEqual([undefined, []])
    const next = newGeneration()
    await store.generations.start(next, undefined)
    await applyAll(store, next.name, fullBatch())
    expect(await statesOf(store)).toEqual({ [next.name]: 'active' })
  },

  'checkpoints are given back exactly, and are what the next batch has to expect': async (fixture) => {
    const { store, generation } = await started(fixture)
    const zero = { ...firstBatch(), checkpoint: unusual }
    const [one, ten] = [firstBatch({}, 1), firstBatch({}, 10)]
    await applyAll(store, generation, ten, one, zero)
    const stored = (checkpoint: Checkpoint) =>
      new Map([one, ten].map((batch) => [batch.partition, batch.checkpoint])).set(0, checkpoint)
    expect(await store.generations.checkpoints(generation)).toEqual(stored(unusual))
    const withoutLast = { ...unusual, last: null }
    await applyAll(store, generation, { ...zero, expected: unusual, checkpoint: withoutLast })
    expect(await store.generations.checkpoints(generation)).toEqual(stored(withoutLast))
    const nothing = { streams: [], keys: [], waiting: [] }
    for (const [partition, checkpoint] of [
      [0, withoutLast],
      [1, one.checkpoint],
      [2, startOfPartition],
    ] as const) {
      const state = await store.projection.load(generation, { partition, ...nothing })
      expect(state?.checkpoint).toEqual(checkpoint)
    }
  },
})

export const building = topic('building', {
  'one is built, empty, beside the active one, which stays as it was': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, fullBatch())
    const [before, active] = [await contentOf(store, generation), await store.generations.active()]
    const next = newGeneration() // of the same log as the active one
    expect(await store.generations.build(next)).toEqual(next)
    expect((await contentOf(store, next.name))?.sizes).toEqual(new Map())
    const documents = changed([seat(1, ['a', 'b'])], [seat(1, [], 2)])
    await applyAll(store, next.name, fullBatch(), batchAfter(fullBatch(), { documents, unparked: ['parked'] }))
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
    const before = await versionContent(store, generation, name)
    const again = { documents: added(seat(1)), newStreams: ['1'] }
    const outcomes = []
    for (const batch of [{ ...first, expected: startOfPartition }, batchAfter(first, again), firstBatch(again, 1)]) {
      outcomes.push((await store.projection.apply(name, batch)).outcome)
    }
    expect(outcomes).toEqual(['checkpoint_mismatch', 'exist', 'exist'])
    expect(await versionContent(store, generation, name)).toEqual(before)
  },
})
