import { expect } from 'vitest'
import type { Batch } from '../../../../src/engine/read-models/ports/projection.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { startOfPartition } from '../../../../src/engine/read-models/stored-texts.ts'
import { eventually } from '../../../lib/eventually.ts'
import { clockMoved, listed, statesOf, timeOf } from './clock.ts'
import { contentOf, versionContent } from './contents.ts'
import { type ReadModelsFixture, topic } from './fixture.ts'
import { fullBatch } from './full.ts'
import { added, applyAll, batchAfter, firstBatch, idsIn, newGeneration, seat, started } from './samples.ts'

const records: readonly Batch[] = [fullBatch(), firstBatch({}, 1), firstBatch({}, 10)]

/** An active generation and one that is being built, both where `records` end. */
async function rebuilt(fixture: ReadModelsFixture) {
  const { store, generation: old } = await started(fixture)
  const { name: next } = await store.generations.build(newGeneration())
  for (const name of [old, next]) await applyAll(store, name, ...records)
  return { store, old, next }
}

async function expectRefused(store: ReadModelStore, names: string[], name: string, refusal: string) {
  const before = await versionContent(store, ...names)
  expect(await store.generations.activate(name)).toBe(refusal)
  expect(await versionContent(store, ...names)).toEqual(before)
}

export const activating = topic('activating', {
  'one that is where the active one is takes over from it, with what it holds': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    await clockMoved(store)
    const names = [old, next]
    const before = await versionContent(store, ...names)
    expect(await store.generations.activate(next)).toBe('activated')
    expect(await store.generations.active()).toEqual({ name: next, logId: 'log-1', continues: old })
    expect(await statesOf(store)).toEqual({ [next]: 'active', [old]: 'replaced' })
    const after = await versionContent(store, ...names)
    expect(after.all[0]?.name).toBe(next)
    expect(after.contents).toEqual(before.contents)
    for (const { name, since } of before.all) expect((await listed(store, name))?.since).toBeGreaterThan(since)
    const further = batchAfter(fullBatch(), { documents: added(seat(9)) })
    expect(await store.projection.apply(old, further)).toEqual({ outcome: 'generation_gone' })
    await applyAll(store, next, further)
    expect([await idsIn(store, old), await idsIn(store, next)]).toEqual([
      [1, 2],
      [1, 2, 9],
    ])
  },

  'one that is behind in a single partition is refused, by numbers, whatever it is ahead in': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    const to = (next: number) => ({ ...firstBatch({}, 2), checkpoint: { ...firstBatch().checkpoint, next } })
    await applyAll(store, next, batchAfter(fullBatch(), { documents: added(seat(100, ['new'])) }), firstBatch({}, 11))
    await applyAll(store, old, to(10))
    await expectRefused(store, [old, next], next, 'behind')
    await applyAll(store, next, to(9))
    await expectRefused(store, [old, next], next, 'behind')
    await applyAll(store, next, { ...to(100), expected: to(9).checkpoint })
    expect(await store.generations.activate(next)).toBe('activated')
  },

  'one found behind stops the active one for one second, at most every 5 s, so that it can catch up': async (
    fixture,
  ) => {
    const { store, old, next } = await rebuilt(fixture)
    const batch = firstBatch({}, 2)
    await applyAll(store, old, batch)
    const begin = await timeOf(store)
    expect(await store.generations.activate(next)).toBe('behind')
    const end = await timeOf(store)
    const before = await contentOf(store, old)
    const other = await fixture.open()
    const further = batchAfter(batch, { documents: added(seat(7)) })
    const tooLate: number[] = []
    await eventually(async () => {
      const at = await timeOf(store)
      const { outcome } = await other.projection.apply(old, further)
      if (outcome === 'later' && at > end + 1000) tooLate.push(at - end)
      if (outcome === 'later') expect(await contentOf(store, old)).toEqual(before)
      expect(outcome).toBe('applied')
    })
    expect(tooLate).toEqual([])
    expect(await timeOf(store)).toBeGreaterThanOrEqual(begin + 1000)
    expect(await store.generations.activate(next)).toBe('behind')
    const again = await store.projection.apply(old, batchAfter(further))
    if ((await timeOf(store)) < begin + 5000) expect(again).toEqual({ outcome: 'applied' })
  },

  'the one that is to catch up is never stopped': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    await applyAll(store, old, firstBatch({}, 2))
    expect(await store.generations.activate(next)).toBe('behind')
    await applyAll(store, next, firstBatch({}, 2))
    expect(await store.generations.activate(next)).toBe('activated')
    await applyAll(store, next, firstBatch({}, 3))
  },

  'one is not activated that is not being built, or is made from another log than the active one': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    for (const name of [old, newGeneration().name]) await expectRefused(store, [old, next], name, 'not_building')
    await store.generations.activate(next)
    for (const name of [old, next]) await expectRefused(store, [old, next], name, 'not_building')
    const { name: other } = await store.generations.build(newGeneration('log-2'))
    await expectRefused(store, [next, other], other, 'not_building')
  },

  'it continues the one before it, if any, also once that is removed': async (fixture) => {
    const store = await fixture.open()
    let before: string | undefined
    for (const generation of [newGeneration(), newGeneration(), newGeneration()]) {
      expect(await store.generations.build(generation)).toEqual(generation)
      expect((await store.generations.active())?.name).toBe(before)
      expect(await store.generations.activate(generation.name)).toBe('activated')
      expect(await store.generations.active()).toEqual({ ...generation, continues: before })
      if (before !== undefined) await store.generations.remove(before)
      expect((await store.generations.active())?.continues).toBe(before)
      before = generation.name
    }
    const fresh = newGeneration()
    await store.generations.start(fresh, before)
    expect(await store.generations.active()).toEqual({ ...fresh, continues: undefined })
  },

  'of several that activate at once one does': async (fixture) => {
    const { store, old, next } = await rebuilt(fixture)
    const stores = [store, await fixture.open(), await fixture.open()]
    const results = await Promise.all(stores.map(({ generations }) => generations.activate(next)))
    expect(results.sort()).toEqual(['activated', 'not_building', 'not_building'])
    const seen = await Promise.all(stores.map(({ generations }) => generations.active()))
    expect(seen).toEqual(stores.map(() => ({ name: next, logId: 'log-1', continues: old })))
  },

  'what is applied to the active one meanwhile is not left behind': async (fixture) => {
    const { store, generation } = await started(fixture)
    const other = await fixture.open()
    let old = generation
    await applyAll(store, old, firstBatch())
    for (let round = 1; round <= 20; round++) {
      const { name: next } = await store.generations.build(newGeneration())
      const checkpoint = (await store.generations.checkpoints(old))?.get(0) ?? startOfPartition
      const batch = batchAfter({ partition: 0, checkpoint })
      await applyAll(store, next, { ...firstBatch(), checkpoint })
      const early = round % 2 === 0 ? store.generations.activate(next) : undefined
      const applying = other.projection.apply(old, batch)
      const activated = await (early ?? store.generations.activate(next))
      const together = `${activated}, ${(await applying).outcome}`
      expect(['activated, generation_gone', 'activated, later', 'behind, applied', 'behind, later']).toContain(together)
      if (activated === 'activated') old = next
      for (const { name } of await store.generations.all()) await store.generations.remove(name)
    }
  },
})
