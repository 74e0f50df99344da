import { expect } from 'vitest'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { eventually } from '../../../lib/eventually.ts'
import { clockMoved, listed, listedIn, statesOf, timeOf } from './clock.ts'
import { expectGone, versionContent } from './contents.ts'
import { type ReadModelsFixture, topic } from './fixture.ts'
import { fullBatch } from './full.ts'
import { applyAll, newGeneration, ownLog, started } from './samples.ts'

const hourMs = 3_600_000

/** A generation in each state, all of them with something in every set. */
async function inAllStates(fixture: ReadModelsFixture) {
  const { store, generation: replaced } = await started(fixture)
  await applyAll(store, replaced, fullBatch())
  const active = newGeneration()
  await store.generations.start(active, replaced)
  const { name: building } = await store.generations.build(newGeneration())
  for (const name of [active.name, building]) await applyAll(store, name, fullBatch())
  return { store, replaced, active: active.name, building }
}

/** Another version, in use until now. */
async function otherVersion(fixture: ReadModelsFixture, version: string, logId = ownLog) {
  const store = await fixture.open(version)
  const generation = newGeneration(logId)
  await store.generations.renew()
  await store.generations.start(generation, undefined)
  await applyAll(store, generation.name, fullBatch())
  return { store, generation: generation.name }
}

async function renewedIn({ generations }: ReadModelStore): Promise<Record<string, number>> {
  return Object.fromEntries((await generations.versions()).map(({ version, renewed }) => [version, renewed]))
}

export const upkeep = topic('upkeep', {
  'one that is being built, or was replaced, is removed with all it holds': async (fixture) => {
    const { store, active, replaced, building } = await inAllStates(fixture)
    const before = await versionContent(store, active)
    for (const name of [building, replaced]) {
      expect(await store.generations.remove(name)).toBe(true)
      await expectGone(store, name)
      expect(await store.generations.activate(name)).toBe('not_building')
      expect(await store.generations.remove(name)).toBe(false)
    }
    expect(await versionContent(store, active)).toEqual({ ...before, all: before.all.slice(0, 1) })
    const next = newGeneration()
    expect(await store.generations.build(next)).toEqual(next)
  },

  'neither the active one is removed nor one that is not there, and each by one alone': async (fixture) => {
    const { store, active, building } = await inAllStates(fixture)
    const before = await versionContent(store, active, building)
    for (const name of [active, newGeneration().name]) expect(await store.generations.remove(name)).toBe(false)
    expect(await versionContent(store, active, building)).toEqual(before)
    const stores = [store, await fixture.open()]
    const results = await Promise.all(stores.map(({ generations }) => generations.remove(building)))
    expect(results.sort()).toEqual([false, true])
  },

  'versions are those that were renewed, with the time when each last was': async (fixture) => {
    const [store, other] = [await fixture.open(), await fixture.open('v2')]
    const begin = await timeOf(store)
    // Clocks of other machines may be off by a little; another unit is off by far more.
    expect(Math.abs(begin - Date.now())).toBeLessThan(hourMs)
    await other.generations.renew()
    const first = await renewedIn(other)
    expect(first).toEqual({ v1: begin, v2: expect.any(Number) })
    expect(first.v2).toBeGreaterThanOrEqual(begin)
    await clockMoved(store)
    const second = await renewedIn(store)
    expect(second).toEqual({ v1: expect.any(Number), v2: first.v2 })
    expect(second.v1).toBeGreaterThan(begin)
  },

  'a version that is renewed after the clock of the store was set back is renewed now': async (fixture) => {
    const store = await fixture.open()
    const begin = await timeOf(store)
    await fixture.setClockBack(hourMs)
    expect(await renewedIn(store)).toEqual({ v1: begin + hourMs })
    const after = await timeOf(store)
    expect(after).toBeGreaterThanOrEqual(begin)
    expect(after).toBeLessThan(begin + hourMs)
  },

  'another version is removed with all it holds': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, fullBatch())
    await store.generations.renew()
    const two = await otherVersion(fixture, 'v2')
    const { name: built } = await two.store.generations.build(newGeneration())
    await applyAll(two.store, built, fullBatch())
    const before = await versionContent(store, generation)
    const listed = await listedIn(store, 'v2')
    expect(await store.generations.removeVersion(listed, ownLog)).toBe(true)
    for (const name of [two.generation, built]) await expectGone(two.store, name)
    expect(Object.keys(await renewedIn(store))).toEqual(['v1'])
    expect(await versionContent(store, generation)).toEqual(before)
    expect(await store.generations.removeVersion(listed, ownLog)).toBe(false)
    const again = await otherVersion(fixture, 'v2')
    expect(await statesOf(again.store)).toEqual({ [again.generation]: 'active' })
  },

  'no version is removed that is the own one, was renewed since it was listed, or is of another log': async (
    fixture,
  ) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, fullBatch())
    await store.generations.renew()
    const two = await otherVersion(fixture, 'v2')
    const [own, before] = [await listedIn(store, 'v1'), await listedIn(store, 'v2')]
    await clockMoved(store)
    await two.store.generations.renew()
    const foreign = await otherVersion(fixture, 'v3', 'another log')
    const built = await fixture.open('v4')
    await built.generations.renew()
    await built.generations.build(newGeneration('another log'))
    const seen = async () => [
      await versionContent(store, generation),
      await versionContent(two.store, two.generation),
      await versionContent(foreign.store, foreign.generation),
      await statesOf(built),
      await renewedIn(store),
    ]
    const all = await seen()
    for (const listed of [own, before, await listedIn(store, 'v3'), await listedIn(store, 'v4')]) {
      expect(await store.generations.removeVersion(listed, ownLog), listed.version).toBe(false)
    }
    expect(await seen()).toEqual(all)
  },

  'pruning removes what is not active of this version, unless it was in use within the grace, and tells it': async (
    fixture,
  ) => {
    const { store, replaced, active, building } = await inAllStates(fixture)
    const all = await versionContent(store, replaced, active, building)
    expect(await store.generations.prune(hourMs)).toEqual([])
    expect(await versionContent(store, replaced, active, building)).toEqual(all)
    const before = await versionContent(store, active)
    const removed = await store.generations.prune(0)
    expect(removed.toSorted()).toEqual([replaced, building].sort())
    for (const name of [replaced, building]) await expectGone(store, name)
    expect(await versionContent(store, active)).toEqual({ ...before, all: before.all.slice(0, 1) })
    expect(await store.generations.prune(0)).toEqual([])
  },

  'what is not active goes after the grace although the clock of the store was set back, and at once if told': async (
    fixture,
  ) => {
    const { store, replaced, active, building } = await inAllStates(fixture)
    await fixture.setClockBack(hourMs)
    expect(await store.generations.prune(hourMs / 2)).toEqual([])
    const begin = await timeOf(store)
    for (const name of [replaced, building]) expect((await listed(store, name))?.since).toBeLessThanOrEqual(begin)
    await fixture.setClockBack(hourMs)
    expect(await store.generations.remove(building)).toBe(true)
    expect(await store.generations.prune(0)).toEqual([replaced])
    expect(await statesOf(store)).toEqual({ [active]: 'active' })
  },

  'one that is asked for again outlives what is not': async (fixture) => {
    const { store, replaced, building } = await inAllStates(fixture)
    const graceMs = 100
    const [removed, removedInUse]: [string[], string[]] = [[], []]
    await eventually(async () => {
      const begin = performance.now()
      await store.generations.build(newGeneration())
      const pruned = await store.generations.prune(graceMs)
      // Where the machine stood still between these lines, all was rightly removed.
      const isInUse = performance.now() - begin < graceMs / 2
      if (isInUse) removedInUse.push(...pruned.filter((name) => name === building))
      removed.push(...pruned)
      expect(removed).toContain(replaced)
    })
    expect(removedInUse).toEqual([])
  },
})
