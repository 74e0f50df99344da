import type { ReadModels } from '../../../src/read-models/read-models.ts'
import { firstBatch, insert, newGeneration } from './samples.ts'

type Asking = Exclude<keyof ReadModels, 'listen' | 'close'>

/** Every method that asks the store, with what does no harm where the call is carried out after it was given up. */
export const everyCall: Record<Asking, (store: ReadModels, generation: string) => Promise<unknown>> = {
  active: (store) => store.active(),
  start: (store) => store.start(newGeneration(), 'one that is not active'),
  checkpoints: (store, generation) => store.checkpoints(generation),
  partitionStates: (store, generation) => store.partitionStates(generation, [0]),
  apply: (store, generation) => store.apply(generation, firstBatch({ inserts: [insert(1, ['a'])] })),
  range: (store, generation) => store.range(generation, { from: 1, limit: 1 }),
  decision: (store, generation) => store.decision(generation, 'key'),
  parkedUnder: (store, generation) => store.parkedUnder(generation, 0, 'subject'),
  contents: (store, generation) => store.contents(generation),
  entries: (store, generation) => store.entries(generation, { from: 1, limit: 1 }),
  decisions: (store, generation) => store.decisions(generation, '', 1),
  parked: (store, generation) => store.parked(generation, '', 1),
  parkedAt: (store, generation) => store.parkedAt(generation, { partition: 0, offset: 0 }),
  generations: (store) => store.generations(),
  build: (store) => store.build(newGeneration()),
  activate: (store) => store.activate('one that is not built'),
  remove: (store) => store.remove('one that is not there'),
  renew: (store) => store.renew(),
  versions: (store) => store.versions(),
  prune: (store) => store.prune(1000),
}
