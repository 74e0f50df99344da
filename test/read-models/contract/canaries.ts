import { setImmediate } from 'node:timers/promises'
import type { Batch } from '../../../src/read-models/projection-store.ts'
import type { ReadModelStore } from '../../../src/read-models/store.ts'
import { MemoryData } from '../memory-data.ts'
import { memoryReadModels } from '../memory-store.ts'
import type { ReadModelsFixture } from './fixture.ts'

type Ports = Omit<ReadModelStore, 'close'>
/** What a store does otherwise, method by method. */
type Fault = (store: ReadModelStore, data: MemoryData) => { [Port in keyof Ports]?: Partial<Ports[Port]> }

/** Applies other batches than it is given. */
function applying(change: (batch: Batch) => Batch): Fault {
  return ({ projection }) => ({ projection: { apply: (name, batch) => projection.apply(name, change(batch)) } })
}

/** Stores that break one sentence each, by the topic that finds them. */
export const canaries: Readonly<Record<string, Readonly<Record<string, Fault>>>> = {
  generations: {
    'starts a generation whatever is active': ({ generations }) => ({
      generations: { start: async (next) => generations.start(next, (await generations.active())?.name) },
    }),
  },
  building: {
    'never goes on with the generation that is being built': ({ generations }) => ({
      generations: {
        async build(next) {
          const building = (await generations.all()).find(({ state }) => state === 'building')
          if (building !== undefined) await generations.remove(building.name)
          return generations.build(next)
        },
      },
    }),
  },
  activating: {
    'never answers later': ({ projection }, data) => ({
      projection: {
        apply(name, batch) {
          const generation = data.version('v1').generations.get(name)
          if (generation !== undefined) generation.paused = 0
          return projection.apply(name, batch)
        },
      },
    }),
  },
  upkeep: {
    'has no grace': ({ generations }) => ({ generations: { prune: () => generations.prune(0) } }),
  },
  listening: {
    'does not tell where progress began': ({ generations }) => ({
      generations: {
        listen: ({ progress, ...listener }) => {
          return generations.listen({ ...listener, progress: (name, at) => progress(name, at && { ...at, from: 0 }) })
        },
      },
    }),
  },
  applying: {
    'leaves a document in the indexes that it was in': applying(({ documents, ...batch }) => {
      const all = documents.map(({ before, after }) => {
        return { before, after: { ...after, indexes: [...new Set([...after.indexes, ...(before?.indexes ?? [])])] } }
      })
      return { ...batch, documents: all }
    }),
    'changes no document whose text stays the same': applying(({ documents, ...batch }) => {
      return { ...batch, documents: documents.filter(({ before, after }) => before?.json !== after.json) }
    }),
    'records what it counts': ({ inspection }) => ({
      inspection: {
        async contents(name) {
          const contents = await inspection.contents(name)
          const sizes = [...(contents?.sizes ?? [])].map(
            ([set, { actual }]) => [set, { actual, recorded: actual }] as const,
          )
          return contents && { ...contents, sizes: new Map(sizes) }
        },
      },
    }),
  },
  streams: {
    'takes 07 for 7': ({ reads }) => ({
      reads: {
        load(name, query) {
          return reads.load(name, { ...query, stream: query.stream?.replace(/^0*(\d+)$/, '$1') })
        },
      },
    }),
    'keeps rows that documents show': applying((batch) => ({ ...batch, rowsShown: [] })),
    'decides keys for all partitions': ({ projection, generations }) => ({
      projection: {
        async load(name, request) {
          const partitions = [...((await generations.checkpoints(name))?.keys() ?? [])]
          const all = await Promise.all(partitions.map((partition) => projection.load(name, { ...request, partition })))
          const state = await projection.load(name, request)
          return state && { ...state, decidedKeys: new Set(all.flatMap((each) => [...(each?.decidedKeys ?? [])])) }
        },
      },
    }),
    'has one record for each key': ({ reads }) => ({
      reads: {
        load: (name, query) => reads.load(name, { ...query, key: query.key && { ...query.key, partition: 1 } }),
      },
    }),
  },
  refusing: {
    'compares positions alone': ({ projection, generations }) => ({
      projection: {
        async apply(name, batch) {
          const stored = (await generations.checkpoints(name))?.get(batch.partition)
          const expected = stored?.next === batch.expected.next ? stored : batch.expected
          return projection.apply(name, { ...batch, expected })
        },
      },
    }),
    'writes what is new of a batch that it refuses': ({ projection }) => ({
      projection: {
        async apply(name, batch) {
          const result = await projection.apply(name, batch)
          if (result.outcome === 'exist') await projection.apply(name, { ...batch, newStreams: [], documents: [] })
          return result
        },
      },
    }),
  },
  together: {
    'reads documents later than what proves them': ({ reads }) => ({
      reads: {
        async page(name, query) {
          const { proof } = await reads.page(name, query)
          await setImmediate()
          return { ...(await reads.page(name, query)), proof }
        },
      },
    }),
  },
  reading: {
    'begins a page with the id that it is to begin after': ({ reads }) => ({
      reads: { page: (name, query) => reads.page(name, { ...query, after: query.after - 1 }) },
    }),
    'finds everything complete': ({ reads }) => ({
      reads: {
        async load(name, query) {
          const loaded = await reads.load(name, query)
          return { ...loaded, proof: { ...loaded.proof, isComplete: true } }
        },
      },
    }),
  },
  inspecting: {
    'begins a page as far on as the one before ended': ({ inspection }) => ({
      inspection: {
        async scan(name, set, from = '0', limit) {
          const all = await inspection.scan(name, set, undefined, 10_000)
          const end = Number(from) + limit
          const next = end < (all?.items.length ?? 0) ? `${end}` : undefined
          return all && { ...all, items: all.items.slice(Number(from), end), next }
        },
      },
    }),
    'finds a document by the beginning of its id': ({ inspection }) => ({
      inspection: {
        find: (name, set, ids) =>
          inspection.find(
            name,
            set,
            ids.map((id) => id.slice(0, 1)),
          ),
      },
    }),
  },
  stores: {
    'answers when it is closed': ({ inspection }) => ({
      inspection: { find: (...place) => inspection.find(...place).catch(() => undefined) },
    }),
  },
}

export function memoryFixture(fault: Fault = () => ({})): ReadModelsFixture {
  const data = new MemoryData()
  return {
    progressIsHeardBy: 'the store that made it',
    readsProveSizes: true,
    async open(version = 'v1') {
      const store = memoryReadModels({ data, version })
      const { reads, projection, generations, inspection } = fault(store, data)
      return {
        ...store,
        reads: { ...store.reads, ...reads },
        projection: { ...store.projection, ...projection },
        generations: { ...store.generations, ...generations },
        inspection: { ...store.inspection, ...inspection },
      }
    },
    empty: async () => data.versions.clear(),
    damage: async (generation, set, entry) => data.version('v1').generations.get(generation)?.damage(set, entry),
    remove: async () => {},
  }
}
