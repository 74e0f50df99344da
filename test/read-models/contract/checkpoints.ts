import { expect } from 'vitest'
import { type Checkpoint, startOfPartition } from '../../../src/read-models/checkpoint.ts'
import { topic } from './fixture.ts'
import { applyAll, batchAfter, firstBatch, greatestId, newGeneration, started } from './samples.ts'

const unusual: Checkpoint = {
  next: greatestId,
  last: { offset: greatestId - 1, identity: '"\\ \u0000 é 🐕 / {}' },
  applied: greatestId - 5,
  dropped: 1,
  parked: 2,
  skipped: 3,
}

export const checkpoints = topic('checkpoints and parked subjects', {
  'those of a generation that is not there are undefined': async (fixture) => {
    const { store } = await started(fixture)
    const missing = newGeneration().name
    expect(await store.checkpoints(missing)).toBeUndefined()
    expect(await store.partitionStates(missing, [0])).toBeUndefined()
  },

  'partitions with nothing stored are left out': async (fixture) => {
    const { store, generation } = await started(fixture)
    const [zero, ten] = [firstBatch(), firstBatch({ partition: 10 })]
    await applyAll(store, generation, ten, zero)
    expect(await store.checkpoints(generation)).toEqual(
      new Map([
        [0, zero.checkpoint],
        [10, ten.checkpoint],
      ]),
    )
  },

  'each is given back exactly, and is what the next batch has to expect': async (fixture) => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, { ...firstBatch(), checkpoint: unusual })
    expect(await store.checkpoints(generation)).toEqual(new Map([[0, unusual]]))
    const withoutLast = { ...unusual, last: null }
    await applyAll(store, generation, { ...firstBatch(), expected: unusual, checkpoint: withoutLast })
    expect(await store.checkpoints(generation)).toEqual(new Map([[0, withoutLast]]))
  },

  'every partition asked for is in the partition states, and no other': async (fixture) => {
    const { store, generation } = await started(fixture)
    const batch = firstBatch({ partition: 1 })
    await applyAll(store, generation, batch, firstBatch({ partition: 2 }))
    const nothing = { checkpoint: startOfPartition, parkedSubjects: new Set() }
    expect(await store.partitionStates(generation, [0, 1])).toEqual(
      new Map([
        [0, nothing],
        [1, { ...nothing, checkpoint: batch.checkpoint }],
      ]),
    )
    expect(await store.partitionStates(generation, [])).toEqual(new Map())
  },

  'parked subjects are those of their partition, once each, whatever their text': async (fixture) => {
    const { store, generation } = await started(fixture)
    const subjects = ['7', '7/8', '/', 'é 🐕', '\u0000', '0', '1']
    const one = firstBatch({ partition: 1, parked: subjects })
    await applyAll(
      store,
      generation,
      one,
      batchAfter(one.checkpoint, { partition: 1, parked: ['7', 'later'] }),
      firstBatch({ partition: 10, parked: ['of ten'] }),
      firstBatch({ partition: 0, parked: ['1/of zero'] }),
    )
    const states = await store.partitionStates(generation, [0, 1, 2, 10])
    expect([...(states ?? [])].map(([partition, { parkedSubjects }]) => [partition, parkedSubjects])).toEqual([
      [0, new Set(['1/of zero'])],
      [1, new Set([...subjects, 'later'])],
      [2, new Set()],
      [10, new Set(['of ten'])],
    ])
  },

  'parked subjects of one generation are not those of another': async (fixture) => {
    const { store, generation: old } = await started(fixture)
    await applyAll(store, old, firstBatch({ parked: ['subject'] }))
    const next = newGeneration()
    await store.start(next, old)
    expect((await store.partitionStates(next.name, [0]))?.get(0)?.parkedSubjects).toEqual(new Set())
  },
})
