import { expect } from 'vitest'
import { everyCall } from './calls.ts'
import { everything } from './contents.ts'
import { topic } from './fixture.ts'
import { fullBatch } from './full.ts'
import { added, applyAll, batchAfter, order, started } from './samples.ts'
import { numbers } from './values.ts'

export const stores = topic('stores', {
  'a closed one answers every call with read_model_unavailable, and may be closed again': async (fixture) => {
    const { store, generation } = await started(fixture)
    await store.close()
    for (const [name, call] of Object.entries(everyCall)) {
      await expect(call(store, generation), name).rejects.toMatchObject({ code: 'read_model_unavailable' })
    }
    await store.close()
  },

  'two on the same data see what the other wrote, and one opened later what both did': async (fixture) => {
    const { store, generation } = await started(fixture)
    const other = await fixture.open()
    await applyAll(store, generation, fullBatch())
    expect(await everything(other, generation)).toEqual(await everything(store, generation))
    await applyAll(other, generation, batchAfter(fullBatch(), { documents: added(order(6, ['b'])) }))
    const both = await everything(store, generation)
    expect(await everything(other, generation)).toEqual(both)
    await Promise.all([store.close(), other.close()])
    expect(await everything(await fixture.open(), generation)).toEqual(both)
  },

  'what was asked before closing is answered, one way or the other': async (fixture) => {
    const { store, generation } = await started(fixture)
    const asked = Object.values(everyCall).flatMap((call) => numbers(100).map(() => call(store, generation)))
    const answers = Promise.allSettled(asked)
    await store.close()
    for (const result of await answers) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'read_model_unavailable' })
    }
  },
})
