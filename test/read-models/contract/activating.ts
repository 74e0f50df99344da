import { expect, vi } from 'vitest'
import type { Batch, ReadModels } from '../../../src/read-models/read-models.ts'
import { clockMoved, listed, statesOf } from './clock.ts'
import { type ReadModelsFixture, topic } from './fixture.ts'
import { listenerOn, progressOf } from './hearing.ts'
import { applyAll, batchAfter, contents, firstBatch, idsIn, insert, newGeneration, started } from './samples.ts'

const zero = firstBatch({ inserts: [insert(1, ['a', 'b']), insert(2, ['a'])], keys: ['k'] })
const one = firstBatch({ partition: 1, inserts: [insert(3)], parked: ['subject'] })
const records: readonly Batch[] = [zero, one, firstBatch({ partition: 10 })]

/** An active generation and one that is being built, both where `records` end. */
async function rebuilt(fixture: ReadModelsFixture) {
  const { store, generation: old } = await started(fixture)
  const { name: next } = await store.build(newGeneration())
  await applyAll(store, old, ...records)
  await applyAll(store, next, ...records)
  return { store, old, next }
}

async function everything(store: ReadModels, ...names: string[]) {
  const all = await Promise.all(names.map((name) => contents(store, name)))
  return { all, generations: await store.generations() }
}

async function expectRefused(store: ReadModels, old: string, next: string, refusal: 'behind' | 'incomplete') {
  const before = await everything(store, old, next)
  expect(await store.activate(next)).toBe(refusal)
  expect(await everything(store, old, next)).toEqual(before)
}

/** A damaged one is refused, whatever it was damaged in. */
function expectIncomplete(id: number, index?: string) {
  return async (fixture: ReadModelsFixture) => {
    const { store, old, next } = await rebuilt(fixture)
    if (fixture.damage === undefined) return
    await fixture.damage(next, id, index)
    await expectRefused(store, old, next, 'incomplete')
  }
}

export const activating = topic('activating', {
  'one that is where the active one is takes over from it': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    await clockMoved(store)
    const before = [await listed(store, old), await listed(store, next)]
    expect(await store.activate(next)).toBe('activated')
    expect(await store.active()).toEqual({ name: next, epoch: 'epoch-1', continues: old })
    expect(await statesOf(store)).toEqual({ [next]: 'active', [old]: 'replaced' })
    expect((await store.generations())[0]?.name).toBe(next)
    const after = [await listed(store, old), await listed(store, next)]
    for (const [i, generation] of after.entries()) {
      expect(generation?.since).toBeGreaterThan(before[i]?.since ?? Infinity)
    }
  },

  'the one that took over holds what it held, and goes on': async (fixture) => {
    const { store, next } = await rebuilt(fixture)
    const { active: _, ...before } = await contents(store, next)
    await store.activate(next)
    expect(await contents(store, next)).toMatchObject({
      checkpoints: before.checkpoints,
      states: before.states,
      decisions: before.decisions,
      documents: { documents: before.documents.documents, moment: { active: next } },
    })
    await applyAll(store, next, batchAfter(zero.checkpoint, { inserts: [insert(4)] }))
    expect(await idsIn(store, next)).toEqual([1, 2, 3, 4])
  },

  'the one that was taken over from is read as before, and gone for those who would apply to it': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    await store.activate(next)
    expect(await idsIn(store, old)).toEqual([1, 2, 3])
    expect(await idsIn(store, old, 'a')).toEqual([1, 2])
    const range = await store.range(old, { from: 1, limit: 1 })
    expect(range.moment).toEqual({ active: next, checkpoints: await store.checkpoints(old) })
    expect((await store.decision(old, 'k'))?.key).toBe('k')
    const before = await contents(store, old)
    const further = batchAfter(zero.checkpoint, { inserts: [insert(4)] })
    expect(await store.apply(old, further)).toEqual({ outcome: 'generation_gone' })
    expect(await contents(store, old)).toEqual(before)
  },

  'one that is ahead takes over too': async (fixture) => {
    const { store, next } = await rebuilt(fixture)
    const ahead = records.map(({ partition, checkpoint }) => batchAfter(checkpoint, { partition }))
    await applyAll(store, next, ...ahead, firstBatch({ partition: 11 }))
    expect(await store.activate(next)).toBe('activated')
  },

  'one that is behind in a single partition is refused, until it has caught up': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    const further = records.map(({ partition, checkpoint }) => batchAfter(checkpoint, { partition }))
    for (const batch of [...further, firstBatch({ partition: 2, inserts: [insert(9)] })]) {
      await applyAll(store, old, batch)
      await expectRefused(store, old, next, 'behind')
      await applyAll(store, next, batch)
    }
    expect(await store.activate(next)).toBe('activated')
  },

  'one that is ahead in one partition and behind in another is refused': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    await applyAll(store, old, batchAfter(one.checkpoint, { partition: 1 }))
    await applyAll(store, next, batchAfter(zero.checkpoint))
    await expectRefused(store, old, next, 'behind')
  },

  'positions are compared as numbers': async (fixture) => {
    const { store, generation: old } = await started(fixture)
    const { name: next } = await store.build(newGeneration())
    const to = (position: number): Batch => ({
      ...firstBatch(),
      checkpoint: { ...firstBatch().checkpoint, next: position },
    })
    await applyAll(store, old, to(10))
    await applyAll(store, next, to(9))
    await expectRefused(store, old, next, 'behind')
    await applyAll(store, next, { ...to(100), expected: to(9).checkpoint })
    expect(await store.activate(next)).toBe('activated')
  },

  'what an active one holds is no measure for the one that is to take over': async (fixture) => {
    const { store, generation: old } = await started(fixture)
    const { name: next } = await store.build(newGeneration())
    const full = firstBatch({ inserts: [insert(1, ['a']), insert(2, ['a'])], keys: ['k'] })
    await applyAll(store, old, full)
    await applyAll(store, next, { ...full, inserts: [insert(3, ['b'])] })
    expect(await store.activate(next)).toBe('activated')
    expect(await idsIn(store, next)).toEqual([3])
  },

  'one that lost a document is refused': expectIncomplete(3),
  'one that lost an entry of an index is refused': expectIncomplete(2, 'a'),
  'one that lost the only entry of an index is refused': expectIncomplete(1, 'b'),

  'one that is not being built is not activated': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    const removed = newGeneration().name
    expect([await store.activate(old), await store.activate(removed)]).toEqual(['not_building', 'not_building'])
    expect((await store.active())?.name).toBe(old)
    await store.activate(next)
    const before = await everything(store, old, next)
    expect([await store.activate(old), await store.activate(next)]).toEqual(['not_building', 'not_building'])
    expect(await everything(store, old, next)).toEqual(before)
  },

  'where none is active the one that is being built becomes it, and continues none': async (fixture) => {
    const store = await fixture.open()
    const generation = await store.build(newGeneration())
    await applyAll(store, generation.name, ...records)
    expect(await store.activate(generation.name)).toBe('activated')
    expect(await store.active()).toEqual({ ...generation, continues: undefined })
  },

  'it continues the one before it, also once that is removed': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    await store.activate(next)
    const { name: third } = await store.build(newGeneration())
    await applyAll(store, third, ...records)
    expect((await store.active())?.continues).toBe(old)
    await store.activate(third)
    expect((await store.active())?.continues).toBe(next)
    await store.remove(next)
    expect((await store.active())?.continues).toBe(next)
  },

  'one that is started afterwards continues none': async (fixture) => {
    const { store, next } = await rebuilt(fixture)
    await store.activate(next)
    const fresh = newGeneration()
    await store.start(fresh, next)
    expect(await store.active()).toEqual({ ...fresh, continues: undefined })
  },

  'it is heard of once, without a partition, and no refusal is': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    const { heard } = await listenerOn(store)
    // In Redis progress of before may still be under way: this is behind it.
    const mark = batchAfter(zero.checkpoint)
    await applyAll(store, old, mark)
    await vi.waitFor(() => expect(heard).toContainEqual(progressOf(old, mark)))
    const begin = heard.length
    await store.activate(next)
    await applyAll(store, next, mark)
    await store.activate(next)
    await store.activate(next)
    const further = batchAfter(mark.checkpoint)
    await applyAll(store, next, further)
    await vi.waitFor(() => expect(heard.slice(begin)).toEqual([[next], progressOf(next, further)]))
  },

  'one is not activated in place of a generation that is made from another log': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    const other = newGeneration('epoch-2')
    await store.start(other, old)
    expect(await store.activate(next)).toBe('not_building')
    expect((await store.active())?.name).toBe(other.name)
  },

  'other stores hear of it where the adapter says so': async (fixture) => {
    const { store, next } = await rebuilt(fixture)
    const other = await fixture.open()
    const { heard } = await listenerOn(other)
    await store.activate(next)
    const mark = batchAfter(zero.checkpoint)
    await applyAll(other, next, mark)
    await vi.waitFor(() => expect(heard.at(-1)).toEqual(progressOf(next, mark)))
    const times = fixture.progressIsHeardBy === 'every store on the data' ? 1 : 0
    expect(heard.filter((each) => JSON.stringify(each) === JSON.stringify([next]))).toHaveLength(times)
  },

  'of several that activate at once one does': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    const stores = [store, await fixture.open(), await fixture.open()]
    const results = await Promise.all(stores.map((each) => each.activate(next)))
    expect(results.sort()).toEqual(['activated', 'not_building', 'not_building'])
    expect(await Promise.all(stores.map((each) => each.active()))).toEqual(
      stores.map(() => ({ name: next, epoch: 'epoch-1', continues: old })),
    )
  },

  'what is applied to the active one meanwhile is not left behind': async (fixture) => {
    const { store, generation } = await started(fixture)
    const other = await fixture.open()
    let active = generation
    for (let round = 1; round <= 20; round++) {
      const { name: old } = newGeneration()
      await store.start({ name: old, epoch: 'epoch-1' }, active)
      const { name: next } = await store.build(newGeneration())
      for (const name of [old, next]) await applyAll(store, name, zero)
      const early = round % 2 === 0 ? store.activate(next) : undefined
      const applying = other.apply(old, batchAfter(zero.checkpoint))
      const activated = await (early ?? store.activate(next))
      const { outcome } = await applying
      expect(['activated, generation_gone', 'behind, applied']).toContain(`${activated}, ${outcome}`)
      active = activated === 'activated' ? next : old
      for (const { name } of await store.generations()) await store.remove(name)
    }
  },
})
