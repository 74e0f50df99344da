import { expect, vi } from 'vitest'
import type { ReadModels } from '../../../src/read-models/read-models.ts'
import { clockMoved, statesOf, timeOf } from './clock.ts'
import { type ReadModelsFixture, topic } from './fixture.ts'
import { listenerOn, progressOf, settled } from './hearing.ts'
import { applyAll, contents, expectGone, firstBatch, idsIn, insert, newGeneration, started } from './samples.ts'

const hourMs = 3_600_000
const content = () =>
  firstBatch({ inserts: [insert(1, ['a'])], counters: [['c', 1]], keys: ['k'], parked: ['subject'] })

/** A generation in each state, all of them with documents. */
async function inAllStates(fixture: ReadModelsFixture) {
  const { store, generation: replaced } = await started(fixture)
  await applyAll(store, replaced, content())
  const { name: active } = newGeneration()
  await store.start({ name: active, epoch: 'epoch-1' }, replaced)
  const { name: building } = await store.build(newGeneration())
  for (const name of [active, building]) await applyAll(store, name, content())
  return { store, replaced, active, building }
}

/** Another version with documents, in use until now. */
async function otherVersion(fixture: ReadModelsFixture, version: string) {
  const store = await fixture.open(version)
  const generation = newGeneration()
  await store.renew()
  await store.start(generation, undefined)
  await applyAll(store, generation.name, content())
  return { store, generation: generation.name }
}

async function versionsIn(store: ReadModels): Promise<string[]> {
  return (await store.versions()).map(({ version }) => version).sort()
}

export const upkeep = topic('upkeep', {
  'one that is being built is removed with all it holds': async (fixture) => {
    const { store, active, replaced, building } = await inAllStates(fixture)
    const before = [await contents(store, active), await contents(store, replaced)]
    expect(await store.remove(building)).toBe(true)
    await expectGone(store, building)
    expect(await store.activate(building)).toBe('not_building')
    expect([await contents(store, active), await contents(store, replaced)]).toEqual(before)
    const next = newGeneration()
    expect(await store.build(next)).toEqual(next)
    expect(await idsIn(store, next.name)).toEqual([])
  },

  'one that was replaced is removed with all it holds': async (fixture) => {
    const { store, active, replaced, building } = await inAllStates(fixture)
    const before = [await contents(store, active), await contents(store, building)]
    expect(await store.remove(replaced)).toBe(true)
    await expectGone(store, replaced)
    expect([await contents(store, active), await contents(store, building)]).toEqual(before)
  },

  'the active one is not removed': async (fixture) => {
    const { store, active } = await inAllStates(fixture)
    const before = [await contents(store, active), await store.generations()]
    expect(await store.remove(active)).toBe(false)
    expect([await contents(store, active), await store.generations()]).toEqual(before)
  },

  'one that is not there is not removed, nor is one twice': async (fixture) => {
    const { store, building } = await inAllStates(fixture)
    expect(await store.remove(newGeneration().name)).toBe(false)
    const results = await Promise.all([store, await fixture.open()].map((each) => each.remove(building)))
    expect(results.sort()).toEqual([false, true])
    expect(await store.remove(building)).toBe(false)
  },

  'versions are those that were renewed, with the time when each last was': async (fixture) => {
    const [store, other] = [await fixture.open(), await fixture.open('v2')]
    const begin = await timeOf(store)
    await other.renew()
    const first = await store.versions()
    expect(first.map(({ version }) => version).sort()).toEqual(['v1', 'v2'])
    expect(await other.versions()).toHaveLength(2)
    const renewed = (versions: typeof first, name: string) =>
      versions.find(({ version }) => version === name)?.renewed ?? Number.NaN
    expect(renewed(first, 'v1')).toBe(begin)
    expect(renewed(first, 'v2')).toBeGreaterThanOrEqual(begin)
    await clockMoved(store)
    const second = await store.versions()
    expect(renewed(second, 'v1')).toBeGreaterThan(begin)
    expect(renewed(second, 'v2')).toBe(renewed(first, 'v2'))
    await other.renew()
    expect(renewed(await store.versions(), 'v2')).toBeGreaterThan(renewed(first, 'v2'))
  },

  'the clock of a store is of this time': async (fixture) => {
    const store = await fixture.open()
    // Stores on other machines may be off by a little; a unit or an epoch of another kind is off by far more.
    expect(Math.abs((await timeOf(store)) - Date.now())).toBeLessThan(hourMs)
  },

  'pruning removes other versions that are out of use, with all they hold': async (fixture) => {
    const { store, active } = await inAllStates(fixture)
    await store.renew()
    const [two, three] = [await otherVersion(fixture, 'v2'), await otherVersion(fixture, 'v3')]
    const { name: built } = await two.store.build(newGeneration())
    const before = await contents(store, active)
    expect(await store.prune(0)).toEqual(expect.arrayContaining(['v2', 'v3']))
    expect(await versionsIn(store)).toEqual(['v1'])
    for (const [other, name] of [
      [two, two.generation],
      [two, built],
      [three, three.generation],
    ] as const) {
      await expectGone(other.store, name)
      expect(await other.store.active()).toBeUndefined()
    }
    expect(await contents(store, active)).toEqual(before)
  },

  'a version that was removed begins anew': async (fixture) => {
    const store = await fixture.open()
    const { store: other } = await otherVersion(fixture, 'v2')
    await store.prune(0)
    const next = newGeneration()
    await other.start(next, undefined)
    expect(await idsIn(other, next.name)).toEqual([])
    await applyAll(other, next.name, content())
    await other.renew()
    expect(await versionsIn(store)).toContain('v2')
    expect(await idsIn(other, next.name)).toEqual([1])
  },

  'pruning removes what is not active of this version, and tells all that it removed': async (fixture) => {
    const { store, replaced, active, building } = await inAllStates(fixture)
    await otherVersion(fixture, 'v2')
    const before = await contents(store, active)
    expect([...(await store.prune(0))].sort()).toEqual([`v1/${replaced}`, `v1/${building}`, 'v2'].sort())
    for (const name of [replaced, building]) await expectGone(store, name)
    expect(await contents(store, active)).toEqual(before)
    expect(await statesOf(store)).toEqual({ [active]: 'active' })
    expect(await store.prune(0)).toEqual([])
  },

  'pruning never removes the own version, renewed or not': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, content())
    const before = await contents(store, generation)
    await store.prune(0)
    await store.renew()
    await clockMoved(store)
    expect(await store.prune(0)).toEqual([])
    expect(await contents(store, generation)).toEqual(before)
    expect(await versionsIn(store)).toEqual(['v1'])
  },

  'pruning removes nothing that was in use within the grace': async (fixture) => {
    const { store, replaced, active, building } = await inAllStates(fixture)
    const two = await otherVersion(fixture, 'v2')
    await store.renew()
    const seen = async () => [
      ...(await Promise.all([replaced, active, building].map((name) => contents(store, name)))),
      await contents(two.store, two.generation),
      await store.generations(),
      await store.versions(),
    ]
    const before = await seen()
    expect(await store.prune(hourMs)).toEqual([])
    expect(await seen()).toEqual(before)
  },

  'what is renewed, or asked for again, outlives what is not': async (fixture) => {
    const { store, replaced, building } = await inAllStates(fixture)
    await otherVersion(fixture, 'v2')
    const used = await fixture.open('v3')
    const graceMs = 300
    const [removed, removedInUse]: [string[], string[]] = [[], []]
    await vi.waitFor(
      async () => {
        const begin = performance.now()
        await used.renew()
        await store.build(newGeneration())
        const pruned = await store.prune(graceMs)
        // Where the machine stood still between these lines, all was rightly removed.
        const isInUse = performance.now() - begin < graceMs / 2
        if (isInUse) removedInUse.push(...pruned.filter((name) => ['v3', `v1/${building}`].includes(name)))
        removed.push(...pruned)
        expect(removed).toEqual(expect.arrayContaining(['v2', `v1/${replaced}`]))
      },
      { timeout: 3000, interval: 20 },
    )
    expect(removedInUse).toEqual([])
  },

  'no upkeep is heard of': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const { heard } = await listenerOn(store)
    await otherVersion(fixture, 'v2')
    await store.build(newGeneration())
    await store.renew()
    await store.prune(0)
    const batch = firstBatch()
    await applyAll(store, generation, batch)
    await vi.waitFor(() => expect(heard).toEqual(['connected', progressOf(generation, batch)]))
  },
})
