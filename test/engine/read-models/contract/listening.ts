import { expect, vi } from 'vitest'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { eventually } from '../../../lib/eventually.ts'
import { topic } from './fixture.ts'
import { fullBatch } from './full.ts'
import { listenerOn, progressOf, settled } from './hearing.ts'
import { added, applyAll, batchAfter, checkpointsAfter, firstBatch, newGeneration, seat } from './samples.ts'
import { numbers } from './values.ts'

/** Waits for as much, not for this: what is heard wrongly fails at once. */
async function expectHears(heard: unknown[], expected: unknown[]): Promise<void> {
  await eventually(() => expect(heard.length).toBeGreaterThanOrEqual(expected.length))
  expect(heard).toEqual(expected)
}

/** Applies one more batch, in a partition of its own, and hears of it: nothing else can be under way then. */
async function expectHeard(store: ReadModelStore, generation: string, heard: unknown[], expected: unknown[]) {
  const mark = firstBatch({}, 99)
  await applyAll(store, generation, mark)
  await expectHears(heard, ['connected', ...expected, progressOf(generation, mark)])
}

export const listening = topic('listening', {
  'every listener hears of each batch in order: its records, and those without effect': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const listeners = [await listenerOn(store), await listenerOn(store)]
    const first = firstBatch({ documents: added(seat(1)), parked: ['s', 't', 'u'], withoutEffect: [0, 1, 2] }, 3)
    const second = batchAfter(first, { unparked: ['s', 't', 'u'] })
    const third = {
      ...firstBatch({ withoutEffect: numbers(1000) }),
      checkpoint: { ...first.checkpoint, next: 2 ** 53 - 1 },
    }
    await applyAll(store, generation, first, second, third)
    const expected = [first, second, third].map((batch) => progressOf(generation, batch))
    for (const { heard } of listeners) await expectHears(heard, ['connected', ...expected])
    expect(expected[1]).toEqual([generation, { partition: 3, from: 4, next: 5, withoutEffect: [] }])
  },

  'every listener hears of a generation that is started or activated, without progress': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const { heard } = await listenerOn(store)
    const [next, last] = [newGeneration(), newGeneration()]
    await store.generations.start(next, generation)
    await store.generations.build(last)
    await store.generations.activate(last.name)
    await expectHeard(store, last.name, heard, [[next.name], [last.name]])
  },

  'nothing is heard of what was refused': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const { heard } = await listenerOn(store)
    const first = firstBatch({ documents: added(seat(1)) })
    await applyAll(store, generation, first)
    await store.projection.apply(generation, first)
    await store.projection.apply(generation, firstBatch({ documents: added(seat(1)) }, 1))
    await store.projection.apply(newGeneration().name, firstBatch())
    await store.generations.start(newGeneration(), undefined)
    const { name } = await store.generations.build(newGeneration('log-2'))
    await store.generations.activate(name)
    await expectHeard(store, generation, heard, [progressOf(generation, first)])
  },

  'nothing is heard of a generation that is being built, nor of upkeep': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const { heard } = await listenerOn(store)
    const { name } = await store.generations.build(newGeneration())
    await applyAll(store, name, fullBatch())
    await store.generations.build(newGeneration('log-2'))
    await store.generations.remove(name)
    await (await fixture.open('v2')).generations.start(newGeneration(), undefined)
    await store.generations.renew()
    await store.generations.prune(0)
    await expectHeard(store, generation, heard, [])
  },

  'an announced batch can be read': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const read = new Promise((resolve) => {
      const progress = (name: string) => resolve(store.generations.checkpoints(name))
      store.generations.listen({ progress, connected: () => {}, disconnected: () => {} })
    })
    await listenerOn(store)
    const batch = firstBatch()
    await applyAll(store, generation, batch)
    expect(await read).toEqual(checkpointsAfter(batch))
  },

  'progress and activation of another store are heard of where the adapter says so': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const other = await fixture.open()
    const { heard } = await listenerOn(store)
    const batch = firstBatch()
    await applyAll(other, generation, batch)
    const next = newGeneration()
    await other.generations.start(next, generation)
    const isHeard = fixture.progressIsHeardBy === 'every store on the data'
    await expectHeard(store, next.name, heard, isHeard ? [progressOf(generation, batch), [next.name]] : [])
  },

  'who unsubscribed hears nothing more, and who does so at once nothing at all': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const never = { progress: vi.fn(), connected: vi.fn(), disconnected: vi.fn() }
    store.generations.listen(never)()
    const [gone, there] = [await listenerOn(store), await listenerOn(store)]
    gone.end()
    gone.end()
    await expectHeard(store, generation, there.heard, [])
    await store.close()
    await eventually(() => expect(there.heard).toContain('disconnected'))
    expect(gone.heard).toEqual(['connected'])
    for (const method of Object.values(never)) expect(method).not.toHaveBeenCalled()
  },

  'closing calls disconnected, once, and nobody is called connected after it': async (fixture) => {
    const { store } = await settled(fixture)
    const { heard } = await listenerOn(store)
    await store.close()
    const connected = vi.fn()
    store.generations.listen({ progress: vi.fn(), connected, disconnected: vi.fn() })
    await store.close()
    await expectHears(heard, ['connected', 'disconnected'])
    expect(connected).not.toHaveBeenCalled()
  },
})
