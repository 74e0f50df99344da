import { expect } from 'vitest'
import type { ReadModels } from '../../../src/read-models/read-models.ts'
import { topic } from './fixture.ts'
import { applyAll, batchAfter, contents, firstBatch, idsIn, insert, newGeneration, started } from './samples.ts'

const calls: Record<
  Exclude<keyof ReadModels, 'listen' | 'close'>,
  (store: ReadModels, generation: string) => Promise<unknown>
> = {
  active: (store) => store.active(),
  start: (store, generation) => store.start(newGeneration(), generation),
  checkpoints: (store, generation) => store.checkpoints(generation),
  partitionStates: (store, generation) => store.partitionStates(generation, [0]),
  apply: (store, generation) => store.apply(generation, firstBatch()),
  range: (store, generation) => store.range(generation, { from: 1, limit: 1 }),
  decision: (store, generation) => store.decision(generation, 'k'),
  parkedUnder: (store, generation) => store.parkedUnder(generation, 0, 'subject'),
  contents: (store, generation) => store.contents(generation),
  entries: (store, generation) => store.entries(generation, { from: 1, limit: 1 }),
  decisions: (store, generation) => store.decisions(generation, '', 1),
  parked: (store, generation) => store.parked(generation, '', 1),
  parkedAt: (store, generation) => store.parkedAt(generation, { partition: 0, offset: 0 }),
  generations: (store) => store.generations(),
  build: (store) => store.build(newGeneration()),
  activate: (store, generation) => store.activate(generation),
  remove: (store) => store.remove(newGeneration().name),
  renew: (store) => store.renew(),
  versions: (store) => store.versions(),
  prune: (store) => store.prune(0),
}

export const stores = topic('stores', {
  'two on the same data see what the other wrote': async (fixture) => {
    const { store, generation } = await started(fixture)
    const other = await fixture.open()
    const first = firstBatch({ inserts: [insert(1, ['a'])], parked: ['subject'] })
    await applyAll(store, generation, first)
    expect(await contents(other, generation)).toEqual(await contents(store, generation))
    await applyAll(other, generation, batchAfter(first.checkpoint, { inserts: [insert(2, ['a'])] }))
    expect(await contents(other, generation)).toEqual(await contents(store, generation))
    expect(await idsIn(store, generation, 'a')).toEqual([1, 2])
  },

  'a closed one answers every call with read_model_unavailable, and may be closed again': async (fixture) => {
    const { store, generation } = await started(fixture)
    await store.close()
    for (const [name, call] of Object.entries(calls)) {
      await expect(call(store, generation), name).rejects.toMatchObject({ code: 'read_model_unavailable' })
    }
    await store.close()
  },

  'a closed one leaves the data to those opened after it': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, firstBatch({ inserts: [insert(1, ['a'])], parked: ['subject'] }))
    const before = await contents(store, generation)
    await store.close()
    expect(await contents(await fixture.open(), generation)).toEqual(before)
  },

  'what was asked before closing is answered, one way or the other': async (fixture) => {
    const { store, generation } = await started(fixture)
    const asked = Object.values(calls).flatMap((call) => Array.from({ length: 100 }, () => call(store, generation)))
    const answers = Promise.allSettled(asked)
    await store.close()
    for (const result of await answers) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'read_model_unavailable' })
    }
  },
})
