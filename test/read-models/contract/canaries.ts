import { setImmediate } from 'node:timers/promises'
import type { Batch } from '../../../src/read-models/projection-store.ts'
import type { ReadModelStore } from '../../../src/read-models/store.ts'
import { MemoryData } from '../memory-data.ts'
import { memoryReadModels } from '../memory-store.ts'
import type { ReadModelsFixture } from './fixture.ts'

type Ports = Omit<ReadModelStore, 'close'>
type Fault = (store: ReadModelStore, data: MemoryData) => ReadModelStore

/** A store one method of which does something else. */
function breaking<Port extends keyof Ports, Method extends keyof Ports[Port]>(
  port: Port,
  method: Method,
  broken: (store: ReadModelStore, data: MemoryData) => Ports[Port][Method],
): Fault {
  return (store, data) => ({ ...store, [port]: { ...store[port], [method]: broken(store, data) } })
}

/** Applies other batches than it is given. */
function applying(change: (batch: Batch) => Batch): Fault {
  return breaking(
    'projection',
    'apply',
    ({ projection }) =>
      (name, batch) =>
        projection.apply(name, change(batch)),
  )
}

/** Stores that break one sentence each, by the topic that finds them. */
export const canaries: Readonly<Record<string, Readonly<Record<string, Fault>>>> = {
  generations: {
    'starts a generation whatever is active': breaking('generations', 'start', ({ generations }) => async (next) => {
      return await generations.start(next, (await generations.active())?.name)
    }),
  },
  building: {
    'never goes on with the generation that is being built': breaking(
      'generations',
      'build',
      ({ generations }) =>
        async (next) => {
          const building = (await generations.all()).find(({ state }) => state === 'building')
          if (building !== undefined) await generations.remove(building.name)
          return generations.build(next)
        },
    ),
  },
  activating: {
    'never answers later': breaking('projection', 'apply', ({ projection }, data) => (name, batch) => {
      const generation = data.version('v1').generations.get(name)
      if (generation !== undefined) generation.paused = 0
      return projection.apply(name, batch)
    }),
  },
  upkeep: {
    'has no grace': breaking(
      'generations',
      'prune',
      ({ generations }) =>
        () =>
          generations.prune(0),
    ),
    'removes the versions of other logs': breaking('generations', 'removeVersion', ({ generations }, data) => {
      return (listed, logId) => {
        const found = data.version(listed.version).stored()[0]
        return generations.removeVersion(listed, found?.logId ?? logId)
      }
    }),
  },
  listening: {
    'does not tell where progress began': breaking(
      'generations',
      'listen',
      ({ generations }) =>
        ({ progress, ...listener }) => {
          return generations.listen({ ...listener, progress: (name, at) => progress(name, at && { ...at, from: 0 }) })
        },
    ),
  },
  applying: {
    'changes no document whose text stays the same': applying(({ documents, ...batch }) => {
      return { ...batch, documents: documents.filter(({ before, after }) => before?.json !== after.json) }
    }),
    'records what it counts': breaking('inspection', 'contents', ({ inspection }) => async (name) => {
      const contents = await inspection.contents(name)
      const counted = [...(contents?.sizes ?? [])].map(
        ([set, { actual }]) => [set, { actual, recorded: actual }] as const,
      )
      return contents && { ...contents, sizes: new Map(counted) }
    }),
  },
  streams: {
    'takes 07 for 7': breaking('reads', 'load', ({ reads }) => (name, query) => {
      return reads.load(name, { ...query, stream: query.stream?.replace(/^0*(\d+)$/, '$1') })
    }),
  },
  refusing: {
    'compares positions alone': breaking(
      'projection',
      'apply',
      ({ projection, generations }) =>
        async (name, batch) => {
          const stored = (await generations.checkpoints(name))?.get(batch.partition)
          const expected = stored?.next === batch.expected.next ? stored : batch.expected
          return projection.apply(name, { ...batch, expected })
        },
    ),
    'writes what is new of a batch that it refuses': breaking(
      'projection',
      'apply',
      ({ projection }) =>
        async (name, batch) => {
          const result = await projection.apply(name, batch)
          if (result.outcome === 'exist') await projection.apply(name, { ...batch, newStreams: [], documents: [] })
          return result
        },
    ),
  },
  'the model': {
    'leaves a document in the indexes that it was in': applying(({ documents, ...batch }) => {
      const all = documents.map(({ before, after }) => {
        return { before, after: { ...after, indexes: [...new Set([...after.indexes, ...(before?.indexes ?? [])])] } }
      })
      return { ...batch, documents: all }
    }),
    'keeps rows that documents show': applying((batch) => ({ ...batch, rowsShown: [] })),
    'decides keys for all partitions': breaking(
      'projection',
      'load',
      ({ projection, generations }) =>
        async (name, request) => {
          const partitions = [...((await generations.checkpoints(name))?.keys() ?? [])]
          const all = await Promise.all(partitions.map((partition) => projection.load(name, { ...request, partition })))
          const state = await projection.load(name, request)
          return state && { ...state, decidedKeys: new Set(all.flatMap((each) => [...(each?.decidedKeys ?? [])])) }
        },
    ),
    'has one record for each key': breaking('reads', 'load', ({ reads }) => (name, query) => {
      return reads.load(name, { ...query, key: query.key && { ...query.key, partition: 1 } })
    }),
  },
  together: {
    'reads documents later than what proves them': breaking('reads', 'page', ({ reads }) => async (name, query) => {
      const { proof } = await reads.page(name, query)
      await setImmediate()
      return { ...(await reads.page(name, query)), proof }
    }),
  },
  reading: {
    'begins a page with the id that it is to begin after': breaking(
      'reads',
      'page',
      ({ reads }) =>
        (name, query) =>
          reads.page(name, { ...query, after: query.after - 1 }),
    ),
    'finds everything complete': breaking('reads', 'load', ({ reads }) => async (name, query) => {
      const loaded = await reads.load(name, query)
      return { ...loaded, proof: { ...loaded.proof, isComplete: true } }
    }),
  },
  inspecting: {
    'begins a page as far on as the one before ended': breaking(
      'inspection',
      'scan',
      ({ inspection }) =>
        async (name, set, from = '0', limit) => {
          const all = await inspection.scan(name, set, undefined, 10_000)
          const end = Number(from) + limit
          const next = end < (all?.items.length ?? 0) ? `${end}` : undefined
          return all && { ...all, items: all.items.slice(Number(from), end), next }
        },
    ),
    'finds a document by the beginning of its id': breaking(
      'inspection',
      'find',
      ({ inspection }) =>
        (name, set, ids) => {
          const cut = ids.map((id) => id.slice(0, 1))
          return inspection.find(name, set, cut)
        },
    ),
  },
  stores: {
    'answers when it is closed': breaking('inspection', 'find', ({ inspection }) => (...place) => {
      return inspection.find(...place).catch(() => undefined)
    }),
  },
}

export function memoryFixture(fault: Fault = (store) => store): ReadModelsFixture {
  const data = new MemoryData()
  return {
    progressIsHeardBy: 'the store that made it',
    provesSizes: true,
    open: async (version = 'v1') => fault(memoryReadModels({ data, version }), data),
    empty: async () => data.versions.clear(),
    damage: async (generation, set, entry) => {
      data.version('v1').generations.get(generation)?.set(set).delete(entry)
    },
    remove: async () => {},
  }
}
