import { expect, vi } from 'vitest'
import { clockMoved, listed, statesOf, timeOf } from './clock.ts'
import { topic } from './fixture.ts'
import { listenerOn, progressOf, settled } from './hearing.ts'
import {
  applyAll,
  batchAfter,
  contents,
  expectGone,
  firstBatch,
  idsIn,
  insert,
  newGeneration,
  started,
} from './samples.ts'

export const building = topic('building', {
  'no generation is listed at first, nor once the store was emptied': async (fixture) => {
    const store = await fixture.open()
    expect(await store.generations()).toEqual([])
    await store.build(newGeneration())
    await store.start(newGeneration(), undefined)
    await fixture.empty()
    expect(await store.generations()).toEqual([])
  },

  'generations are listed with their epochs and states, the active one first': async (fixture) => {
    const store = await fixture.open()
    const [first, second, third] = [newGeneration('epoch-1'), newGeneration('epoch-2'), newGeneration('epoch-2')]
    const begin = await timeOf(store)
    await store.start(first, undefined)
    await store.build(third)
    await store.start(second, first.name)
    const end = await timeOf(store)
    const [active, ...others] = await store.generations()
    const since = expect.any(Number)
    expect(active).toEqual({ ...second, state: 'active', since })
    expect(others).toHaveLength(2)
    expect(others).toContainEqual({ ...first, state: 'replaced', since })
    expect(others).toContainEqual({ ...third, state: 'building', since })
    for (const generation of [active, ...others]) {
      expect(generation?.since).toBeGreaterThanOrEqual(begin)
      expect(generation?.since).toBeLessThanOrEqual(end)
    }
  },

  'a generation is active, and replaced, since it became so': async (fixture) => {
    const { store, generation: old } = await started(fixture)
    const active = await listed(store, old)
    await clockMoved(store)
    const batch = firstBatch()
    await applyAll(store, old, batch)
    expect(await listed(store, old)).toEqual(active)
    await store.start(newGeneration(), old)
    const replaced = await listed(store, old)
    expect(replaced?.since).toBeGreaterThan(active?.since ?? Infinity)
    await clockMoved(store)
    await store.build(newGeneration())
    expect(await listed(store, old)).toEqual(replaced)
  },

  'one that is built is empty, and leaves the active one as it was': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, firstBatch({ inserts: [insert(1, ['a'])], keys: ['k'], parked: ['subject'] }))
    const before = await contents(store, generation)
    const next = newGeneration('epoch-2')
    expect(await store.build(next)).toEqual(next)
    expect(await contents(store, generation)).toEqual(before)
    expect(await store.checkpoints(next.name)).toEqual(new Map())
    expect(await idsIn(store, next.name)).toEqual([])
    expect(await store.decision(next.name, 'k')).toBeUndefined()
    expect(await statesOf(store)).toEqual({ [generation]: 'active', [next.name]: 'building' })
  },

  'one is built where none is active too, which does not make it active': async (fixture) => {
    const store = await fixture.open()
    const generation = newGeneration()
    expect(await store.build(generation)).toEqual(generation)
    await applyAll(store, generation.name, firstBatch({ inserts: [insert(1)] }))
    expect(await store.active()).toBeUndefined()
    expect(await statesOf(store)).toEqual({ [generation.name]: 'building' })
  },

  'one of the same epoch that is being built is gone on with, and is being built since then': async (fixture) => {
    const { store, generation } = await started(fixture)
    const first = await store.build(newGeneration('epoch-2'))
    await applyAll(store, first.name, firstBatch({ inserts: [insert(1, ['a'])], keys: ['k'], parked: ['subject'] }))
    const [before, earlier] = [await contents(store, first.name), await listed(store, first.name)]
    await clockMoved(store)
    const other = await fixture.open()
    const second = newGeneration('epoch-2')
    expect(await other.build(second)).toEqual(first)
    expect(await contents(store, first.name)).toEqual(before)
    expect((await listed(store, first.name))?.since).toBeGreaterThan(earlier?.since ?? Infinity)
    expect(await store.checkpoints(second.name)).toBeUndefined()
    expect(await statesOf(store)).toEqual({ [generation]: 'active', [first.name]: 'building' })
  },

  'of several that are to be built at once one is, and all are told which': async (fixture) => {
    const stores = await Promise.all([fixture.open(), fixture.open(), fixture.open()])
    const candidates = stores.map(() => newGeneration())
    const built = await Promise.all(stores.map((store, i) => store.build(candidates[i] ?? newGeneration())))
    expect(candidates).toContainEqual(built[0])
    expect(built).toEqual([built[0], built[0], built[0]])
    expect(await statesOf(stores[0])).toEqual({ [built[0]?.name ?? '']: 'building' })
  },

  'one of the epoch of the active one is built, not taken for it': async (fixture) => {
    const { store, generation } = await started(fixture)
    const epoch = (await store.active())?.epoch ?? ''
    const next = newGeneration(epoch)
    expect(await store.build(next)).toEqual(next)
    expect(await store.activate(next.name)).toBe('activated')
    const third = newGeneration(epoch)
    expect(await store.build(third)).toEqual(third)
    expect(await statesOf(store)).toEqual({ [generation]: 'replaced', [next.name]: 'active', [third.name]: 'building' })
  },

  'one of another epoch that was being built is removed': async (fixture) => {
    const { store, generation } = await started(fixture)
    const old = await store.build(newGeneration('epoch-2'))
    await applyAll(store, old.name, firstBatch({ inserts: [insert(1, ['a'])], keys: ['k'], parked: ['subject'] }))
    const next = newGeneration('epoch-3')
    expect(await store.build(next)).toEqual(next)
    await expectGone(store, old.name)
    expect(await store.checkpoints(next.name)).toEqual(new Map())
    expect(await statesOf(store)).toEqual({ [generation]: 'active', [next.name]: 'building' })
  },

  'one that is being built is filled, and is not what is read as the active one': async (fixture) => {
    const { store, generation } = await started(fixture)
    const { name } = await store.build(newGeneration())
    const active = await store.active()
    const batch = firstBatch({ inserts: [insert(1, ['a']), insert(2)], keys: ['k'], parked: ['subject'] })
    await applyAll(store, name, batch)
    expect(await store.active()).toEqual(active)
    expect(await idsIn(store, generation)).toEqual([])
    const answer = await store.range(name, { index: 'a', from: 1, limit: 5 })
    const moment = { active: generation, checkpoints: new Map([[0, batch.checkpoint]]) }
    expect(answer).toMatchObject({ count: 1, held: 1, added: 1, moment })
    expect(await store.decision(name, 'k')).toEqual(batch.decisions[0])
    expect((await store.partitionStates(name, [0]))?.get(0)?.parkedSubjects).toEqual(new Set(['subject']))
  },

  'what is refused in one that is active is refused in one that is being built': async (fixture) => {
    const { store } = await started(fixture)
    const { name } = await store.build(newGeneration())
    const first = firstBatch({ inserts: [insert(1)], keys: ['k'] })
    await applyAll(store, name, first)
    const before = await contents(store, name)
    const refused = [
      first,
      firstBatch({ partition: 1, inserts: [insert(1)] }),
      batchAfter(first.checkpoint, { keys: ['k'] }),
    ]
    const results = []
    for (const batch of refused) results.push((await store.apply(name, batch)).outcome)
    expect(results).toEqual(['checkpoint_mismatch', 'ids_taken', 'keys_decided'])
    expect(await contents(store, name)).toEqual(before)
  },

  'nothing is heard of one that is being built or removed': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const { heard } = await listenerOn(store)
    const { name } = await store.build(newGeneration())
    await applyAll(store, name, firstBatch({ inserts: [insert(1)], parked: ['subject'] }))
    await store.build(newGeneration())
    const other = await store.build(newGeneration('epoch-2'))
    await store.remove(other.name)
    const batch = firstBatch()
    await applyAll(store, generation, batch)
    await vi.waitFor(() => expect(heard).toEqual(['connected', progressOf(generation, batch)]))
  },

  'each version builds for itself': async (fixture) => {
    const [store, other] = [await fixture.open(), await fixture.open('v2')]
    const [own, others] = [newGeneration(), newGeneration()]
    expect([await store.build(own), await other.build(others)]).toEqual([own, others])
    await applyAll(store, own.name, firstBatch({ inserts: [insert(1)] }))
    expect([await statesOf(store), await statesOf(other)]).toEqual([
      { [own.name]: 'building' },
      { [others.name]: 'building' },
    ])
    expect(await other.apply(own.name, firstBatch())).toEqual({ outcome: 'generation_gone' })
    expect([await other.activate(own.name), await other.remove(own.name)]).toEqual(['not_building', false])
    expect(await idsIn(store, own.name)).toEqual([1])
  },
})
