import { expect } from 'vitest'
import { topic } from './fixture.ts'
import {
  applyAll,
  batchAfter,
  contents,
  firstBatch,
  found,
  foundIn,
  idsIn,
  insert,
  newGeneration,
  started,
} from './samples.ts'

export const generations = topic('generations', {
  'none is active at first': async (fixture) => {
    const store = await fixture.open()
    expect(await store.active()).toBeUndefined()
  },

  'a started one is active, with its epoch, and empty': async (fixture) => {
    const store = await fixture.open()
    const generation = newGeneration('epoch of the log')
    await store.start(generation, undefined)
    expect(await store.active()).toEqual(generation)
    expect(await store.checkpoints(generation.name)).toEqual(new Map())
    expect(await idsIn(store, generation.name)).toEqual([])
  },

  'one is started in place of the active one, which stays as it was': async (fixture) => {
    const { store, generation: old } = await started(fixture)
    await applyAll(store, old, firstBatch({ inserts: [insert(1)] }))
    const next = newGeneration('epoch-2')
    await store.start(next, old)
    expect(await store.active()).toEqual(next)
    expect(await idsIn(store, next.name)).toEqual([])
    expect(await idsIn(store, old)).toEqual([1])
  },

  'what one is started in place of is gone for those who would apply to it': async (fixture) => {
    const { store, generation: old } = await started(fixture)
    const first = firstBatch({ inserts: [insert(1)] })
    await applyAll(store, old, first)
    await store.start(newGeneration(), old)
    const before = await contents(store, old)
    for (const batch of [batchAfter(first.checkpoint), firstBatch({ partition: 1 })]) {
      expect(await store.apply(old, batch)).toEqual({ outcome: 'generation_gone' })
    }
    expect(await contents(store, old)).toEqual(before)
  },

  'starting in place of none changes nothing while one is active': async (fixture) => {
    const { store, generation } = await started(fixture)
    const before = await contents(store, generation)
    const loser = newGeneration('epoch-2')
    await store.start(loser, undefined)
    expect(await contents(store, generation)).toEqual(before)
    expect(await store.checkpoints(loser.name)).toBeUndefined()
  },

  'starting in place of one that is not active changes nothing': async (fixture) => {
    const { store, generation } = await started(fixture)
    const before = await contents(store, generation)
    const loser = newGeneration('epoch-2')
    await store.start(loser, newGeneration().name)
    expect(await contents(store, generation)).toEqual(before)
    expect(await store.checkpoints(loser.name)).toBeUndefined()
  },

  'starting in place of one changes nothing while none is active': async (fixture) => {
    const store = await fixture.open()
    const loser = newGeneration()
    await store.start(loser, newGeneration().name)
    expect(await store.active()).toBeUndefined()
    expect(await store.checkpoints(loser.name)).toBeUndefined()
  },

  'of several started at once one wins, and every store sees which': async (fixture) => {
    const stores = await Promise.all([fixture.open(), fixture.open(), fixture.open()])
    const candidates = stores.map((_, i) => newGeneration(`epoch-${i}`))
    await Promise.all(stores.map((store, i) => store.start(candidates[i] ?? newGeneration(), undefined)))
    const seen = await Promise.all(stores.map((store) => store.active()))
    expect(candidates).toContainEqual(seen[0])
    expect(seen).toEqual([seen[0], seen[0], seen[0]])
    const there = await Promise.all(candidates.map(({ name }) => stores[0].checkpoints(name)))
    expect(there.filter((checkpoints) => checkpoints !== undefined)).toHaveLength(1)
  },

  'the same id in two generations is two documents': async (fixture) => {
    const { store, generation: old } = await started(fixture)
    await applyAll(store, old, firstBatch({ inserts: [insert(1, ['a'], '{"id":1,"of":"old"}')] }))
    const next = newGeneration()
    await store.start(next, old)
    await applyAll(store, next.name, firstBatch({ inserts: [insert(1, ['a'], '{"id":1,"of":"next"}')] }))
    expect(foundIn(await store.range(old, { from: 1, limit: 5 }))).toEqual(found(['{"id":1,"of":"old"}']))
    const inNext = await store.range(next.name, { index: 'a', from: 1, limit: 5 })
    expect(foundIn(inNext)).toEqual(found(['{"id":1,"of":"next"}']))
  },

  'another version starts empty and leaves this one alone': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, firstBatch({ inserts: [insert(1)] }))
    const before = await contents(store, generation)
    const other = await fixture.open('v2')
    expect(await other.active()).toBeUndefined()
    expect(await other.checkpoints(generation)).toBeUndefined()
    expect(await idsIn(other, generation)).toEqual([])
    await other.start(newGeneration(), undefined)
    expect(await contents(store, generation)).toEqual(before)
  },

  'an emptied store has none, and none of what it held': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, firstBatch({ inserts: [insert(1)], parked: ['subject'] }))
    await fixture.empty()
    expect(await store.active()).toBeUndefined()
    expect(await store.checkpoints(generation)).toBeUndefined()
    expect(await store.partitionStates(generation, [0])).toBeUndefined()
    expect(await idsIn(store, generation)).toEqual([])
    const next = newGeneration()
    await store.start(next, undefined)
    expect(await store.active()).toEqual(next)
  },
})
