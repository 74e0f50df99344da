import type { ReadModels } from '../../../src/read-models/read-models.ts'
import type { Faults } from './fault.ts'

export const listeningFaults: Faults = {
  'is never connected': (store) => ({ listen: (listener) => store.listen({ ...listener, connected: () => {} }) }),
  'is never disconnected': (store) => ({ listen: (listener) => store.listen({ ...listener, disconnected: () => {} }) }),
  'tells those who unsubscribed': (store) => ({
    listen: (listener) => {
      store.listen(listener)
      return () => {}
    },
  }),
  'keeps a start to itself': (store) => ({
    listen: (listener) =>
      store.listen({ ...listener, progress: (generation, at) => at && listener.progress(generation, at) }),
  }),
  'tells the last position instead of the next': (store) => ({
    listen: (listener) =>
      store.listen({
        ...listener,
        progress: (generation, at) => listener.progress(generation, at && { ...at, next: at.next - 1 }),
      }),
  }),
  'tells of what was refused': (store) => {
    const told = new Set<Parameters<ReadModels['listen']>[0]>()
    return {
      listen: (listener) => {
        told.add(listener)
        return store.listen(listener)
      },
      apply: async (generation, batch) => {
        const result = await store.apply(generation, batch)
        const at = { partition: batch.partition, next: batch.checkpoint.next, parked: [] }
        if (result.outcome !== 'applied') for (const listener of told) listener.progress(generation, at)
        return result
      },
    }
  },
  'answers after it was closed': () => ({ close: async () => {} }),
}
