import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { byId } from '../../../src/engine/read-models/by-id.ts'
import { DamagedError } from '../../../src/engine/read-models/damaged.ts'
import {
  type DocumentId,
  isTextSet,
  type StoredDocument,
  setName,
  type TextSet,
  textSets,
} from '../../../src/engine/read-models/document.ts'
import { Listeners } from '../../../src/engine/read-models/listeners.ts'
import { loadedRows, loadedStream } from '../../../src/engine/read-models/loaded-stream.ts'
import type {
  ActiveGeneration,
  Generation,
  Generations,
  Look,
  Snapshot,
} from '../../../src/engine/read-models/ports/generations.ts'
import {
  type Inspection,
  type Item,
  type Size,
  scannedCharactersMax,
} from '../../../src/engine/read-models/ports/inspection.ts'
import type { ProjectionStore } from '../../../src/engine/read-models/ports/projection.ts'
import type { Proof, StoredReads } from '../../../src/engine/read-models/ports/reads.ts'
import type { ReadModelStore } from '../../../src/engine/read-models/ports/store.ts'
import { checkText, provenDocument, provenPage } from '../../../src/engine/read-models/proven-document.ts'
import { decodeOffsets, decodeParkedStream, keyId } from '../../../src/engine/read-models/stored-texts.ts'
import { chunkId } from '../../../src/engine/read-models/stream-history.ts'
import type { StreamNames } from '../../../src/engine/read-models/stream-names.ts'
import { names as sampleNames } from './contract/samples.ts'
import { GenerationData, MemoryData, type VersionData } from './memory-data.ts'

const pauseMs = 1000
const pauseEveryMs = 5000

/** The port, implemented as simply as can be: what the adapters are compared with. Several stores may share the data. */
export function memoryReadModels(data = new MemoryData(), version = 'v1', names = sampleNames): ReadModelStore {
  const store = new MemoryStore(data, version, names)
  return {
    reads: readsOf(store),
    projection: projectionOf(store),
    generations: generationsOf(store),
    inspection: inspectionOf(store),
    warnings: [],
    async close() {
      store.isClosed = true
      store.listeners.disconnected()
    },
  }
}

class MemoryStore {
  readonly data: MemoryData
  readonly version: string
  readonly names: StreamNames
  readonly listeners = new Listeners({ connected: true })
  isClosed = false

  constructor(data: MemoryData, version: string, names: StreamNames) {
    this.data = data
    this.version = version
    this.names = names
  }

  open(): VersionData {
    if (this.isClosed) throw new ServiceError('read_model_unavailable', 'The read models are closed.')
    return this.data.version(this.version)
  }

  generation(name: string): GenerationData | undefined {
    return this.open().generations.get(name)
  }

  snapshot(generation: GenerationData | undefined): Snapshot {
    return { active: this.open().inState('active')?.name, checkpoints: new Map(generation?.checkpoints) }
  }
}

function readsOf(store: MemoryStore): StoredReads {
  const proofOf = (generation: GenerationData | undefined, ...sets: string[]): Proof => {
    return { ...store.snapshot(generation), isComplete: generation?.isComplete(...sets) ?? true }
  }
  const findIn = (generation: GenerationData | undefined, { collection, id }: DocumentId) => {
    const found = generation?.documents(collection).get(id)
    return found && provenDocument({ collection, id }, found, store.names)
  }
  const load: StoredReads['load'] = async (name, query) => {
    const generation = store.generation(name)
    const document = query.document && findIn(generation, query.document)
    const stream = query.stream ?? document?.stream
    const read = [
      ...new Set([...store.names.collections, ...textSets, ...(query.document ? [query.document.collection] : [])]),
    ]
    const text = (set: TextSet, id: string | undefined) => (id === undefined ? undefined : generation?.text(set, id))
    const texts = {
      ...{ document, parked: text('parked', stream), record: text('keys', query.key && keyId(query.key)) },
      ...(stream === undefined ? {} : generation?.row(stream)),
      chunk: (number: number) => text('history', stream && chunkId(stream, number)),
    }
    return loadedStream(query, texts, proofOf(generation, ...read))
  }
  return {
    load,
    loadAll: (name, queries) => Promise.all(queries.map((query) => load(name, query))),

    async find(name, document) {
      const generation = store.generation(name)
      return { proof: proofOf(generation, document.collection), document: findIn(generation, document) }
    },

    async page(name, { collection, index, after, limit, ids }) {
      const generation = store.generation(name)
      const set = setName(collection, index)
      const behind = inOrder(generation, set).filter(({ id }) => id > after && (ids === undefined || ids.includes(id)))
      const shown = behind.slice(0, limit)
      const last = behind.length > limit ? shown.at(-1)?.id : undefined
      const documents = provenPage(set, shown.map(({ json }) => json).join(','), shown.length)
      if (ids !== undefined) for (const each of shown) checkText(each, each.json)
      return { proof: proofOf(generation, set), documents, count: shown.length, last }
    },

    async heldIds(name, { collections, first, last }) {
      const generation = store.generation(name)
      const isIn = (id: string | number) =>
        String(Number(id)) === String(id) && Number(id) >= first && Number(id) <= last
      const sets = [...collections, 'rows', 'parked']
      const holdsAny = sets.some((set) => [...(generation?.set(set).keys() ?? [])].some(isIn))
      return { proof: proofOf(generation, ...sets), holdsAny }
    },
  }
}

function projectionOf(store: MemoryStore): ProjectionStore {
  return {
    async load(name, { partition, streams, keys, waiting }) {
      const generation = store.generation(name)
      if (generation === undefined) return undefined
      return {
        checkpoint: generation.checkpoint(partition),
        ...loadedRows(streams, (stream) => generation.row(stream)),
        parked: byId(streams, (stream) => {
          const text = generation.text('parked', stream)
          return text === undefined ? undefined : decodeParkedStream(stream, text)
        }),
        decidedKeys: new Set(keys.filter((key) => generation.text('keys', keyId({ partition, key })) !== undefined)),
        waiting: byId(waiting, (chunk) => {
          const text = generation.text('waiting', chunk)
          return text === undefined ? undefined : decodeOffsets(text)
        }),
      }
    },

    async apply(name, batch) {
      const generation = store.generation(name)
      if (generation === undefined || generation.state === 'replaced') return { outcome: 'generation_gone' }
      const isActive = generation.state === 'active'
      if (isActive && Date.now() - generation.paused < pauseMs) return { outcome: 'later' }
      const result = generation.apply(batch)
      if (isActive && result.outcome === 'applied') {
        const { partition, expected, checkpoint, withoutEffect } = batch
        store.listeners.progress(name, { partition, from: expected.next, next: checkpoint.next, withoutEffect })
      }
      return result
    },
  }
}

function generationsOf(store: MemoryStore): Generations {
  return {
    async look() {
      const [active, building] = [store.open().inState('active'), store.open().inState('building')]
      const { checkpoints, damage } = checkpointsOf(active)
      const built = checkpointsOf(building).checkpoints
      return {
        active: active && activeOf(active),
        checkpoints,
        isComplete: damage === undefined && (active === undefined || active.isComplete(...active.sizes().keys())),
        damage,
        building: building && built && { ...generationOf(building), checkpoints: built },
      }
    },

    async active() {
      const active = store.open().inState('active')
      return active && activeOf(active)
    },

    async checkpoints(name) {
      const generation = store.generation(name)
      return generation && new Map(generation.checkpoints)
    },

    listen: (listener) => store.listeners.add(listener),

    async start(generation, instead) {
      const version = store.open()
      const active = version.inState('active')
      if (active?.name !== instead) return false
      active?.become('replaced')
      version.generations.set(generation.name, new GenerationData(generation, 'active', store.names))
      store.listeners.progress(generation.name)
      return true
    },

    all: async () => store.open().stored(),

    async build(generation): Promise<Generation> {
      const version = store.open()
      const building = version.inState('building')
      if (building?.logId === generation.logId) {
        building.become('building')
        return generationOf(building)
      }
      if (building !== undefined) version.generations.delete(building.name)
      version.generations.set(generation.name, new GenerationData(generation, 'building', store.names))
      return generation
    },

    async activate(name) {
      const building = store.generation(name)
      const active = store.open().inState('active')
      if (building?.state !== 'building' || (active?.logId ?? building.logId) !== building.logId) return 'not_building'
      const reached = checkpointsOf(building).checkpoints
      const before = checkpointsOf(active).checkpoints
      if (reached === undefined) return 'incomplete'
      for (const [partition, { next }] of before ?? []) {
        if (next <= (reached.get(partition)?.next ?? 0)) continue
        if (active && Date.now() - active.paused >= pauseEveryMs) active.paused = Date.now()
        return 'behind'
      }
      if (!building.isComplete(...building.sizes().keys())) return 'incomplete'
      active?.become('replaced')
      building.become('active')
      building.continues = before && active?.name
      store.listeners.progress(name)
      return 'activated'
    },

    remove: async (name) => store.generation(name)?.state !== 'active' && store.open().generations.delete(name),

    async renew() {
      store.open().renewed = Date.now()
    },

    async versions() {
      store.open()
      return store.data.renewed()
    },

    async removeVersion({ version, renewed }, logId) {
      store.open()
      const found = store.data.versions.get(version)
      const isForeign = found?.stored().some((each) => each.state !== 'replaced' && each.logId !== logId)
      if (version === store.version || isForeign || found?.renewed !== renewed) return false
      return store.data.versions.delete(version)
    },

    async prune(graceMs) {
      const own = store.open()
      const now = Date.now()
      const end = now - graceMs
      for (const each of own.generations.values()) if (each.state !== 'active') each.since = Math.min(each.since, now)
      const generations = own.stored().filter(({ state, since }) => state !== 'active' && since <= end)
      for (const { name } of generations) own.generations.delete(name)
      return generations.map(({ name }) => name)
    },
  }
}

function checkpointsOf(generation: GenerationData | undefined): Pick<Look, 'checkpoints' | 'damage'> {
  try {
    return { checkpoints: generation?.checkpoints }
  } catch (error) {
    if (error instanceof DamagedError) return { checkpoints: undefined, damage: error.damage }
    throw error
  }
}

function generationOf({ name, logId }: Generation): Generation {
  return { name, logId }
}

function activeOf(active: GenerationData): ActiveGeneration {
  return { ...generationOf(active), continues: active.continues }
}

function inspectionOf(store: MemoryStore): Inspection {
  function inspect<T extends object>(name: string, read: (generation: GenerationData) => T) {
    const generation = store.generation(name)
    return generation && { snapshot: store.snapshot(generation), ...read(generation) }
  }
  return {
    contents: async (name) => inspect(name, (generation) => ({ sizes: generation.sizes() })),

    recorded: async (name) => inspect(name, (generation) => ({ sizes: recordedIn(generation.sizes()) })),

    scan: async (name, set, from, limit) =>
      inspect(name, (generation) => {
        const left = itemsIn(generation, set).filter(([id]) => from === undefined || compareIds(id, from) >= 0)
        const items: Item[] = []
        let characters = 0
        for (const [id, text] of left) {
          if (items.length === limit || characters >= scannedCharactersMax) return { items, next: id }
          items.push([id, text])
          characters += text.length
        }
        return { items, next: undefined }
      }),

    find: async (name, set, ids) =>
      inspect(name, (generation) => {
        const texts = new Map(itemsIn(generation, set))
        return { texts: ids.map((id) => texts.get(id)) }
      }),
  }
}

function recordedIn(sizes: ReadonlyMap<string, Size>): ReadonlyMap<string, number> {
  for (const [set, { recorded }] of sizes)
    if (Number.isNaN(recorded)) throw new DamagedError(`the recorded size of ${set} is not a number`)
  return new Map([...sizes].map(([set, { recorded }]) => [set, recorded]))
}

function itemsIn(generation: GenerationData, set: string): Item[] {
  const items = isTextSet(set)
    ? [...generation.set<string>(set)].map(([id, text]): Item => [String(id), text])
    : inOrder(generation, set).map(({ collection, id, json, behind }): Item => {
        return [String(id), set === collection ? `${json}\0${behind}` : json]
      })
  return items.sort(([a], [b]) => compareIds(a, b))
}

/** Bookings decimal numbers of any length. */
function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : Number(a > b))
}

/** In ascending order of id. */
function inOrder(generation: GenerationData | undefined, set: string): StoredDocument[] {
  return [...(generation?.documents(set).values() ?? [])].sort((a, b) => a.id - b.id)
}
