import { expect } from 'vitest'
import { everyCall } from './calls.ts'
import { topic } from './fixture.ts'
import { applyAll, batchAfter, contents, firstBatch, idsIn, insert, started } from './samples.ts'

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
    for (const [name, call] of Object.entries(everyCall)) {
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
    const asked = Object.values(everyCall).flatMap((call) => Array.from({ length: 100 }, () => call(store, generation)))
    const answers = Promise.allSettled(asked)
    await store.close()
    for (const result of await answers) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'read_model_unavailable' })
    }
  },
})
