import type { ReadModelStore } from '../../../src/read-models/store.ts'
import { added, firstBatch, newGeneration, pet } from './samples.ts'

const request = { partition: 0, streams: ['1'], keys: ['k'], queues: ['1'] }

/** Every method that asks the store, with what does no harm where the call is carried out after it was given up. */
export const everyCall: Record<string, (store: ReadModelStore, generation: string) => Promise<unknown>> = {
  find: ({ reads }, name) => reads.find(name, pet(1)),
  page: ({ reads }, name) => reads.page(name, { collection: 'pets', after: 0, limit: 1 }),
  'load of a request': ({ reads }, name) =>
    reads.load(name, { stream: '1', key: { partition: 0, key: 'k' }, event: { partition: 0, offset: 0 } }),
  'load of a projector': ({ projection }, name) => projection.load(name, request),
  apply: ({ projection }, name) => projection.apply(name, firstBatch({ documents: added(pet(1, ['a'])) })),
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
  contents: ({ inspection }, name) => inspection.contents(name),
  scan: ({ inspection }, name) => inspection.scan(name, 'pets', undefined, 1),
  'find for an operator': ({ inspection }, name) => inspection.find(name, 'keys', ['0/k']),
}
