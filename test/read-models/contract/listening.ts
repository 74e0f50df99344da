import { expect, vi } from 'vitest'
import { topic } from './fixture.ts'
import { listenerOn, progressOf, settled } from './hearing.ts'
import { applyAll, batchAfter, firstBatch, insert, newGeneration } from './samples.ts'

export const listening = topic('listening', {
  'connected is called on subscribing, for each listener': async (fixture) => {
    const { store } = await settled(fixture)
    await listenerOn(store)
    await listenerOn(store)
  },

  'every listener hears of each batch applied, in order': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const [one, two] = [await listenerOn(store), await listenerOn(store)]
    const first = firstBatch({ partition: 3, inserts: [insert(1)] })
    const second = batchAfter(first.checkpoint, { partition: 3 })
    const third = firstBatch({ partition: 0 })
    await applyAll(store, generation, first, second, third)
    const expected = ['connected', ...[first, second, third].map((batch) => progressOf(generation, batch))]
    await vi.waitFor(() => expect([one.heard, two.heard]).toEqual([expected, expected]))
  },

  'progress tells which of its records were parked, again or for the first time': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const { heard } = await listenerOn(store)
    const first = firstBatch({ partition: 2, inserts: [insert(1)], parked: ['one', 'two', 'one'] })
    const second = batchAfter(first.checkpoint, { partition: 2, parked: ['three'] })
    const again = { ...second, parked: [...first.parked.slice(1, 2), ...second.parked] }
    const third = batchAfter(second.checkpoint, { partition: 2, unparked: [0] })
    await applyAll(store, generation, first, again, third)
    const expected = [
      { partition: 2, next: first.checkpoint.next, parked: [0, 1, 2] },
      { partition: 2, next: second.checkpoint.next, parked: [1, first.checkpoint.next] },
      { partition: 2, next: third.checkpoint.next, parked: [] },
    ]
    await vi.waitFor(() => expect(heard).toEqual(['connected', ...expected.map((at) => [generation, at])]))
  },

  'every listener hears of a generation that is started, without a partition': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const { heard } = await listenerOn(store)
    const next = newGeneration()
    await store.start(next, generation)
    await vi.waitFor(() => expect(heard).toEqual(['connected', [next.name]]))
  },

  'nothing is heard of what was refused': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const { heard } = await listenerOn(store)
    const first = firstBatch({ inserts: [insert(1)] })
    await applyAll(store, generation, first)
    await store.apply(generation, first)
    await store.apply(generation, firstBatch({ partition: 1, inserts: [insert(1)] }))
    await store.apply(newGeneration().name, firstBatch())
    await store.start(newGeneration(), undefined)
    const last = batchAfter(first.checkpoint)
    await applyAll(store, generation, last)
    const expected = ['connected', progressOf(generation, first), progressOf(generation, last)]
    await vi.waitFor(() => expect(heard).toEqual(expected))
  },

  'what is heard of can be read': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const batch = firstBatch({ inserts: [insert(1)] })
    const read = new Promise((resolve) => {
      store.listen({
        progress: (name) => resolve(store.checkpoints(name)),
        connected: () => {},
        disconnected: () => {},
      })
    })
    await listenerOn(store)
    await applyAll(store, generation, batch)
    expect(await read).toEqual(new Map([[0, batch.checkpoint]]))
  },

  'who unsubscribed hears nothing more': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const [gone, there] = [await listenerOn(store), await listenerOn(store)]
    gone.end()
    gone.end()
    const batch = firstBatch()
    await applyAll(store, generation, batch)
    await vi.waitFor(() => expect(there.heard).toEqual(['connected', progressOf(generation, batch)]))
    await store.close()
    await vi.waitFor(() => expect(there.heard).toContain('disconnected'))
    expect(gone.heard).toEqual(['connected'])
  },

  'who unsubscribes at once hears nothing at all': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const listener = { progress: vi.fn(), connected: vi.fn(), disconnected: vi.fn() }
    store.listen(listener)()
    const { heard } = await listenerOn(store)
    await applyAll(store, generation, firstBatch())
    await vi.waitFor(() => expect(heard).toHaveLength(2))
    for (const method of Object.values(listener)) expect(method).not.toHaveBeenCalled()
  },

  'progress made by another store is heard where the adapter says so': async (fixture) => {
    const { store, generation } = await settled(fixture)
    const other = await fixture.open()
    const { heard } = await listenerOn(store)
    const first = firstBatch()
    const second = batchAfter(first.checkpoint)
    await applyAll(other, generation, first)
    await applyAll(store, generation, second)
    const [byOther, byOwn] = [first, second].map((batch) => progressOf(generation, batch))
    const everything = fixture.progressIsHeardBy === 'every store on the data'
    await vi.waitFor(() => expect(heard).toEqual(['connected', ...(everything ? [byOther] : []), byOwn]))
  },

  'closing calls disconnected': async (fixture) => {
    const { store } = await settled(fixture)
    const { heard } = await listenerOn(store)
    await store.close()
    await vi.waitFor(() => expect(heard).toEqual(['connected', 'disconnected']))
  },

  'after closing nobody is called connected': async (fixture) => {
    const { store } = await settled(fixture)
    const connected = vi.fn()
    const { heard } = await listenerOn(store)
    await store.close()
    store.listen({ progress: vi.fn(), connected, disconnected: vi.fn() })
    await vi.waitFor(() => expect(heard).toContain('disconnected'))
    expect(connected).not.toHaveBeenCalled()
  },
})
