import { setImmediate } from 'node:timers/promises'
import { isKeyed, type StoredDocument } from '../../../../src/engine/read-models/document.ts'
import { MemoryData } from '../../../../src/engine/testing/memory/memory-data.ts'
import { memoryReadModels } from '../memory-read-models.ts'
import { applying, breaking, type Fault } from './faults.ts'
import type { ReadModelsFixture } from './fixture.ts'
import { keyedCanaries } from './keyed-canaries.ts'

/** Stores that break one sentence each, by the topic that finds them. */
export const canaries: Readonly<Record<string, Readonly<Record<string, Fault>>>> = {
  generations: {
    'starts a generation whatever is active': breaking('generations', (own) => ({
      start: async (next) => own.start(next, (await own.active())?.name),
    })),
  },
  building: {
    'never goes on with the generation that is being built': breaking('generations', (own) => ({
      async build(next) {
        const building = (await own.all()).find(({ state }) => state === 'building')
        if (building !== undefined) await own.remove(building.name)
        return own.build(next)
      },
    })),
  },
  activating: {
    'never answers later': breaking('projection', (own, data) => ({
      apply(name, batch) {
        const generation = data.version('v1').generations.get(name)
        if (generation !== undefined) generation.paused = 0
        return own.apply(name, batch)
      },
    })),
  },
  upkeep: {
    'never lowers the time of a renewal': breaking('generations', (own, data) => ({
      async renew() {
        const before = data.version('v1').renewed ?? 0
        await own.renew()
        data.version('v1').renewed = Math.max(before, data.version('v1').renewed ?? 0)
      },
    })),
    'has no grace': breaking('generations', (own) => ({ prune: () => own.prune(0) })),
    'removes the versions of other logs': breaking('generations', (own, data) => ({
      removeVersion(listed, logId) {
        const found = data.version(listed.version).stored()[0]
        return own.removeVersion(listed, found?.logId ?? logId)
      },
    })),
  },
  listening: {
    'does not tell where progress began': breaking('generations', (own) => ({
      listen: ({ progress, ...others }) =>
        own.listen({ ...others, progress: (name, at) => progress(name, at && { ...at, from: 0 }) }),
    })),
  },
  looking: {
    'looks at one thing after the other': breaking('generations', (own) => ({
      async look() {
        const { active } = await own.look()
        await setImmediate()
        return { ...(await own.look()), active }
      },
    })),
    'counts nothing': breaking('generations', (own) => ({
      look: async () => ({ ...(await own.look()), isComplete: true }),
    })),
    'does not see what is being built': breaking('generations', (own) => ({
      look: async () => ({ ...(await own.look()), building: undefined }),
    })),
  },
  applying: {
    'changes no document whose text stays the same': applying(({ documents, ...batch }) => {
      return { ...batch, documents: documents.filter(({ before, after }) => before?.json !== after?.json) }
    }),
    'records what it counts': breaking('inspection', (own) => ({
      async contents(name) {
        const found = await own.contents(name)
        return (
          found && {
            ...found,
            sizes: new Map([...found.sizes].map(([set, { actual }]) => [set, { actual, recorded: actual }])),
          }
        )
      },
    })),
  },
  streams: {
    'takes 07 for 7': breaking('reads', (own) => ({
      load: (name, query) => own.load(name, { ...query, stream: query.stream?.replace(/^0*(\d+)$/, '$1') }),
    })),
  },
  'long rows': {
    'takes a mark for a row': breaking('projection', (own) => ({
      async load(name, request) {
        const state = await own.load(name, request)
        const isShort = (stream: string) => (state?.rows.get(stream)?.hidden.length ?? 0) < 100
        return state && { ...state, rows: new Map([...state.rows].filter(([stream]) => isShort(stream))) }
      },
    })),
    'misses no row': breaking('reads', (own) => ({
      async load(name, query) {
        const loaded = await own.load(name, query)
        return { ...loaded, proof: { ...loaded.proof, isComplete: true } }
      },
    })),
  },
  removal: {
    'forgets that a document was removed': applying((batch) => {
      const put = batch.texts.rows.put.map(([id, text]) => [id, text.replace('x', '')] as const)
      return { ...batch, texts: { ...batch.texts, rows: { ...batch.texts.rows, put } } }
    }),
  },
  refusing: {
    'compares positions alone': breaking('projection', (own, _, { generations }) => ({
      async apply(name, batch) {
        const stored = (await generations.checkpoints(name))?.get(batch.partition)
        const expected = stored?.next === batch.expected.next ? stored : batch.expected
        return own.apply(name, { ...batch, expected })
      },
    })),
    'writes what is new of a batch that it refuses': breaking('projection', (own) => ({
      async apply(name, batch) {
        const result = await own.apply(name, batch)
        if (result.outcome === 'exist') await own.apply(name, { ...batch, newStreams: [], documents: [] })
        return result
      },
    })),
  },
  'the model': {
    'leaves a document in the indexes that it was in': applying(({ documents, ...batch }) => {
      const all = documents.map(({ before, after }) => {
        const indexKeys = new Set([...(after?.indexKeys ?? []), ...(before?.indexKeys ?? [])])
        return { before, after: after && { ...after, indexKeys: [...indexKeys] } }
      })
      return { ...batch, documents: all }
    }),
    'keeps rows that documents show': applying((batch) => {
      return { ...batch, texts: { ...batch.texts, rows: { ...batch.texts.rows, removed: [] } } }
    }),
    'keeps what is removed': applying((batch) => {
      return { ...batch, documents: batch.documents.filter(({ after }) => after !== undefined) }
    }),
    'decides keys for all partitions': breaking('projection', (own, _, { generations }) => ({
      async load(name, request) {
        const partitions = [...((await generations.checkpoints(name))?.keys() ?? [])]
        const all = await Promise.all(partitions.map((partition) => own.load(name, { ...request, partition })))
        const state = await own.load(name, request)
        return state && { ...state, decidedKeys: new Set(all.flatMap((each) => [...(each?.decidedKeys ?? [])])) }
      },
    })),
    'has one record for each key': breaking('reads', (own) => ({
      load: (name, query) => own.load(name, { ...query, key: query.key && { ...query.key, partition: 1 } }),
    })),
  },
  together: {
    'reads documents later than what proves them': breaking('reads', (own) => ({
      async page(name, query) {
        const { proof } = await own.page(name, query)
        await setImmediate()
        return { ...(await own.page(name, query)), proof }
      },
    })),
  },
  reading: {
    'begins a page with the id that it is to begin after': breaking('reads', (own) => ({
      page: (name, query) => own.page(name, { ...query, after: query.after - 1 }),
    })),
    'holds what it has parked under no id': breaking('reads', (own) => ({
      async heldIds(name, range) {
        const { parked } = await own.load(name, { stream: '1003' })
        return { ...(await own.heldIds(name, range)), ...(parked && range.first === 1003 && { holdsAny: false }) }
      },
    })),
    'records what it lost': breaking('inspection', (own) => ({
      async recorded(name) {
        const found = await own.contents(name)
        return found && { ...found, sizes: new Map([...found.sizes].map(([set, { actual }]) => [set, actual])) }
      },
    })),
    'finds everything complete': breaking('reads', (own) => ({
      async load(name, query) {
        const loaded = await own.load(name, query)
        return { ...loaded, proof: { ...loaded.proof, isComplete: true } }
      },
    })),
  },
  inspecting: {
    'begins a page as far on as the one before ended': breaking('inspection', (own) => ({
      async scan(name, set, from = '0', limit) {
        const all = await own.scan(name, set, undefined, 10_000)
        const end = Number(from) + limit
        const next = end < (all?.items.length ?? 0) ? `${end}` : undefined
        return all && { ...all, items: all.items.slice(Number(from), end), next }
      },
    })),
    'finds a document by the beginning of its id': breaking('inspection', (own) => ({
      find(name, set, ids) {
        const cut = ids.map((id) => id.slice(0, 1))
        return own.find(name, set, cut)
      },
    })),
  },
  'keyed sets': keyedCanaries,
  stores: {
    'answers when it is closed': breaking('inspection', (own) => ({
      find: (...place) => own.find(...place).catch(() => undefined),
    })),
  },
}

export function memoryFixture(fault: Fault = (store) => store): ReadModelsFixture {
  const data = new MemoryData()
  return {
    progressIsHeardBy: 'the store that made it',
    provesSizes: true,
    open: async (version = 'v1') => fault(memoryReadModels(data, version), data),
    empty: async () => data.versions.clear(),
    damage: async (generation, set, entry) => {
      data.version('v1').generations.get(generation)?.set(set).delete(entry)
    },
    async overwrite(name, piece, text) {
      const generation = data.version('v1').generations.get(name)
      if ('checkpoint' in piece) generation?.checkpointTexts.set(piece.checkpoint, text)
      else if ('size' in piece) generation?.recorded.set(piece.size, Number(text))
      else if (isKeyed(piece.set)) overwriteEntry(generation?.documents(piece.set), piece.entry, text)
      else if (typeof piece.entry === 'string') generation?.set(piece.set).set(piece.entry, text)
      else {
        const [json = '', behind = ''] = text.split('\0')
        const id = piece.entry
        generation?.documents(piece.set).set(id, { collection: piece.set, id, json, behind, indexKeys: [] })
      }
    },
    async setClockBack(ms) {
      for (const version of data.versions.values()) {
        if (version.renewed !== undefined) version.renewed += ms
        for (const generation of version.generations.values()) generation.since += ms
      }
    },
    remove: async () => {},
  }
}

function overwriteEntry(set: Map<string | number, StoredDocument> | undefined, entry: string | number, json: string) {
  const document = set?.get(entry)
  if (document !== undefined) set?.set(entry, { ...document, json })
}
