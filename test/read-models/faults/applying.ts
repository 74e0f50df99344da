import { encodeCheckpoint } from '../../../src/read-models/checkpoint.ts'
import type { Batch, ReadModels } from '../../../src/read-models/read-models.ts'
import { type Faults, fails } from './fault.ts'

export const applyingFaults: Faults = {
  'starts whatever is active': (store) => ({
    start: async (generation) => store.start(generation, (await store.active())?.name),
  }),
  'never starts in place of another': (store) => ({
    start: async (generation, instead) => (instead === undefined ? store.start(generation, instead) : undefined),
  }),
  'forgets the epoch': (store) => ({ start: ({ name }, instead) => store.start({ name, epoch: '' }, instead) }),
  'has checkpoints of what is not there': (store) => ({
    checkpoints: async (generation) => (await store.checkpoints(generation)) ?? new Map(),
  }),
  'has states of what is not there': (store) => ({
    partitionStates: async (generation, partitions) =>
      (await store.partitionStates(generation, partitions)) ?? new Map(),
  }),
  'leaves partitions out of the states': (store) => ({
    partitionStates: async (generation, partitions) => {
      const states = await store.partitionStates(generation, partitions)
      return states && new Map([...states].filter(([, { checkpoint }]) => checkpoint.next > 0))
    },
  }),
  'mixes the parked subjects of all partitions': (store) => ({
    partitionStates: async (generation, partitions) => {
      const states = await store.partitionStates(generation, [0, 1, 2, 10])
      const parkedSubjects = new Set([...(states?.values() ?? [])].flatMap((state) => [...state.parkedSubjects]))
      return states && new Map(partitions.map((p) => [p, { ...(states.get(p) ?? fails()), parkedSubjects }]))
    },
  }),
  'applies whatever is expected': (store) => ({
    apply: async (generation, batch) => store.apply(generation, await agreeing(store, generation, batch, () => true)),
  }),
  'compares positions only': (store) => ({
    apply: async (generation, batch) =>
      store.apply(
        generation,
        await agreeing(store, generation, batch, (stored) => stored.next === batch.expected.next),
      ),
  }),
  'says that a repeated batch was applied': (store) => ({
    apply: async (generation, batch) => {
      const stored = (await store.checkpoints(generation))?.get(batch.partition)
      const isRepeated = stored && encodeCheckpoint(stored) === encodeCheckpoint(batch.checkpoint)
      return isRepeated ? { outcome: 'applied' } : store.apply(generation, batch)
    },
  }),
  'starts the generation that is gone': (store) => ({
    apply: async (generation, batch) => {
      if ((await store.checkpoints(generation)) === undefined) {
        await store.start({ name: generation, epoch: '' }, (await store.active())?.name)
      }
      return store.apply(generation, batch)
    },
  }),
  'writes the documents that are free': (store) => ({
    apply: async (generation, batch) => {
      const result = await store.apply(generation, batch)
      if (result.outcome !== 'ids_taken') return result
      await store.apply(generation, { ...batch, inserts: batch.inserts.filter(({ id }) => !result.tags.has(id)) })
      return result
    },
  }),
  'leaves out the tags': (store) => ({
    apply: async (generation, batch) => {
      const result = await store.apply(generation, batch)
      return result.outcome === 'ids_taken' ? { ...result, tags: new Map() } : result
    },
  }),
  'decides keys anew': (store) => ({
    apply: async (generation, batch) => {
      const result = await store.apply(generation, batch)
      return result.outcome === 'keys_decided' ? store.apply(generation, { ...batch, decisions: [] }) : result
    },
  }),
  'tells one decided key': (store) => ({
    apply: async (generation, batch) => {
      const result = await store.apply(generation, batch)
      return result.outcome === 'keys_decided' ? { ...result, keys: result.keys.slice(0, 1) } : result
    },
  }),
  'forgets decisions': (store) => ({
    apply: (generation, batch) => store.apply(generation, { ...batch, decisions: [] }),
  }),
  'forgets where a key was decided': (store) => ({
    decision: async (generation, key) => {
      const decision = await store.decision(generation, key)
      return decision && { ...decision, offset: 0 }
    },
  }),
  'takes spaces out of keys': (store) => ({
    decision: (generation, key) => store.decision(generation, key.trim()),
  }),
  'decides for all generations': (store) => {
    const names: string[] = []
    return {
      start: async (generation, instead) => {
        names.push(generation.name)
        return store.start(generation, instead)
      },
      decision: async (_generation, key) => {
        for (const name of names) {
          const decision = await store.decision(name, key)
          if (decision !== undefined) return decision
        }
        return undefined
      },
    }
  },
  'forgets what is parked': (store) => ({
    apply: (generation, batch) => store.apply(generation, { ...batch, parked: [] }),
  }),
  'keeps five hundred documents of a batch': (store) => ({
    apply: (generation, batch) => store.apply(generation, { ...batch, inserts: batch.inserts.slice(0, 500) }),
  }),
  'keeps four indexes of a document': (store) => ({
    apply: (generation, batch) =>
      store.apply(generation, {
        ...batch,
        inserts: batch.inserts.map((insert) => ({ ...insert, indexes: insert.indexes.slice(0, 4) })),
      }),
  }),
}

async function agreeing(
  store: ReadModels,
  generation: string,
  batch: Batch,
  agrees: (stored: Batch['expected']) => boolean,
): Promise<Batch> {
  const stored = (await store.checkpoints(generation))?.get(batch.partition)
  return stored && agrees(stored) ? { ...batch, expected: stored } : batch
}
