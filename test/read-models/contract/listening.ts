import { expect, vi } from 'vitest'
import type { ReadModels } from '../../../src/read-models/read-models.ts'
import { type ReadModelsFixture, topic } from './fixture.ts'
import { applyAll, batchAfter, firstBatch, insert, newGeneration, started } from './samples.ts'

/** A listener that keeps what it hears, and what ends it. Connected once this resolves. */
async function listenerOn(store: ReadModels) {
  const heard: unknown[] = []
  const end = store.listen({
    progress: (generation, at) => heard.push(at === undefined ? [generation] : [generation, at.partition, at.next]),
    connected: () => heard.push('connected'),
    disconnected: () => heard.push('disconnected'),
  })
  await vi.waitFor(() => expect(heard).toContain('connected'))
  return { heard, end }
}

/** A store whose active generation is a new one, with nothing under way that a listener could still hear of. */
async function settled(fixture: ReadModelsFixture) {
  const { store, generation: first } = await started(fixture)
  const { heard, end } = await listenerOn(store)
  const generation = newGeneration()
  await store.start(generation, first)
  await vi.waitFor(() => expect(heard.at(-1)).toEqual([generation.name]))
  end()
  return { store, generation: generation.name }
}

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
    await applyAll(store, generation, first, second, firstBatch({ partition: 0 }))
    const expected = [
      'connected',
      [generation, 3, first.checkpoint.next],
      [generation, 3, second.checkpoint.next],
      [generation, 0, 1],
    ]
    await vi.waitFor(() => expect([one.heard, two.heard]).toEqual([expected, expected]))
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
    const expected = ['connected', [generation, 0, first.checkpoint.next], [generation, 0, last.checkpoint.next]]
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
    await applyAll(store, generation, firstBatch())
    await vi.waitFor(() => expect(there.heard).toEqual(['connected', [generation, 0, 1]]))
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
    const [byOther, byOwn] = [first, second].map(({ checkpoint }) => [generation, 0, checkpoint.next])
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
