import { expect } from 'vitest'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { versionContent } from './contents.ts'
import { topic } from './fixture.ts'
import { fullBatch } from './full.ts'
import { added, applyAll, batchAfter, booking, firstBatch, newGeneration, seat, started } from './samples.ts'
import { numbers } from './values.ts'

const request = { partition: 0, streams: ['1'], keys: ['k'], waiting: ['0/1'] }

/** Every method that asks the store, with what does no harm where the call is carried out after it was given up. */
export const everyCall: Record<string, (store: ReadModelStore, generation: string) => Promise<unknown>> = {
  find: ({ reads }, name) => reads.find(name, seat(1)),
  page: ({ reads }, name) => reads.page(name, { collection: 'seats', after: 0, limit: 1 }),
  count: ({ reads }, name) => reads.count(name, { collection: 'seats', indexKeys: ['a'] }),
  'load of a request': ({ reads }, name) =>
    reads.load(name, { stream: '1', key: { partition: 0, key: 'k' }, versions: { first: 1, last: 2 } }),
  'load by document': ({ reads }, name) => reads.load(name, { document: { collection: 'bookings', id: 1 } }),
  'load of a projector': ({ projection }, name) => projection.load(name, request),
  apply: ({ projection }, name) => projection.apply(name, firstBatch({ documents: added(seat(1, ['a'])) })),
  look: ({ generations }) => generations.look(),
  active: ({ generations }) => generations.active(),
  checkpoints: ({ generations }, name) => generations.checkpoints(name),
  start: ({ generations }) => generations.start(newGeneration(), 'one that is not active'),
  all: ({ generations }) => generations.all(),
  build: ({ generations }) => generations.build(newGeneration()),
  activate: ({ generations }) => generations.activate('one that is not built'),
  remove: ({ generations }) => generations.remove('one that is not there'),
  renew: ({ generations }) => generations.renew(),
  versions: ({ generations }) => generations.versions(),
  prune: ({ generations }) => generations.prune(1000),
  removeVersion: ({ generations }) => generations.removeVersion({ version: 'v2', renewed: 1 }, 'log'),
  contents: ({ inspection }, name) => inspection.contents(name),
  recorded: ({ inspection }, name) => inspection.recorded(name),
  scan: ({ inspection }, name) => inspection.scan(name, 'seats', undefined, 1),
  'find for an operator': ({ inspection }, name) => inspection.find(name, 'keys', ['0/k']),
}

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
    expect(await versionContent(other, generation)).toEqual(await versionContent(store, generation))
    await applyAll(other, generation, batchAfter(fullBatch(), { documents: added(booking(6, ['b'])) }))
    const both = await versionContent(store, generation)
    expect(await versionContent(other, generation)).toEqual(both)
    await Promise.all([store.close(), other.close()])
    expect(await versionContent(await fixture.open(), generation)).toEqual(both)
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
