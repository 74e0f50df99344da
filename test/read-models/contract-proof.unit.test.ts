import { describe, expect, it, vi } from 'vitest'
import { encodeCheckpoint } from '../../src/read-models/checkpoint.ts'
import type { Batch, RangeQuery, ReadModels } from '../../src/read-models/read-models.ts'
import type { ReadModelsFixture } from './contract/fixture.ts'
import { MemoryData, MemoryReadModels } from './memory-read-models.ts'
import { readModelsContract, readModelsTopics } from './read-models.contract.ts'

function memoryFixture(alter: (store: ReadModels) => Partial<ReadModels> = () => ({})): ReadModelsFixture {
  const versions = new Map<string, MemoryData>()
  return {
    progressIsHeardBy: 'the store that made it',
    async open(version = 'v1') {
      const data = versions.get(version) ?? new MemoryData()
      versions.set(version, data)
      return altered(new MemoryReadModels(data), alter)
    },
    async empty() {
      for (const data of versions.values()) {
        data.generations.clear()
        data.active = undefined
      }
    },
    remove: async () => {},
  }
}

function altered(store: ReadModels, alter: (store: ReadModels) => Partial<ReadModels>): ReadModels {
  const { active, start, checkpoints, partitionStates, apply, range, provenRange, listen, close } = store
  const methods = { active, start, checkpoints, partitionStates, apply, range, provenRange, listen, close }
  const bound = Object.entries(methods).map(([name, method]) => [name, method.bind(store)])
  return { ...Object.fromEntries(bound), ...alter(store) }
}

const cases = readModelsTopics.flatMap(({ topic, cases }) => cases.map((each) => ({ topic, ...each })))

const fails = (): never => {
  throw new Error('not made')
}
const failing: ReadModels = {
  active: async () => fails(),
  start: async () => fails(),
  checkpoints: async () => fails(),
  partitionStates: async () => fails(),
  apply: async () => fails(),
  range: async () => fails(),
  provenRange: async () => fails(),
  listen: fails,
  close: async () => fails(),
}

const nextId = (document: string) => JSON.parse(document).id + 1

/** Stores that break the contract in one point each. */
const faults: Record<string, (store: ReadModels) => Partial<ReadModels>> = {
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
  'reads documents and writes them anew': (store) => ({
    range: async (generation, query) =>
      (await store.range(generation, query)).map((document) => JSON.stringify(JSON.parse(document))),
  }),
  'leaves out the first id of a range': (store) => ({
    range: (generation, query) => store.range(generation, { ...query, from: query.from + 1 }),
  }),
  'leaves out the last id of a range': (store) => ({
    range: (generation, query) =>
      store.range(generation, query.to === undefined ? query : { ...query, to: query.to - 1 }),
  }),
  'goes beyond the limit': (store) => ({
    range: (generation, query) => store.range(generation, { ...query, limit: query.limit + 1 }),
  }),
  'ignores the index': (store) => ({
    range: (generation, query) => store.range(generation, { ...query, index: undefined }),
  }),
  'sorts ids as text': (store) => ({
    range: async (generation, query) => [...(await store.range(generation, query))].sort(),
  }),
  'rounds ids to 14 digits': (store) => ({
    range: (generation, query) => store.range(generation, { ...query, from: Number(query.from.toPrecision(14)) }),
  }),
  'proves with the generation asked for': (store) => ({
    provenRange: async (generation, query) => {
      const { documents, proof } = await store.provenRange(generation, query)
      return { documents, proof: { ...proof, active: generation } }
    },
  }),
  'holds what it found': (store) => ({
    provenRange: async (generation, query) => {
      const { documents, proof } = await store.provenRange(generation, query)
      return { documents, proof: { ...proof, held: documents.length } }
    },
  }),
  'counts the collection for an index': (store) => ({
    provenRange: async (generation, query) => {
      const { added } = (await store.provenRange(generation, { ...query, index: undefined })).proof
      const { documents, proof } = await store.provenRange(generation, query)
      return { documents, proof: { ...proof, added } }
    },
  }),
  'reads documents and proof one after the other': (store) => ({
    provenRange: async (generation, query) => {
      const { proof } = await store.provenRange(generation, query)
      return { documents: await readSlowly(store, generation, query), proof }
    },
  }),
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
        const at = { partition: batch.partition, next: batch.checkpoint.next }
        if (result.outcome !== 'applied') for (const listener of told) listener.progress(generation, at)
        return result
      },
    }
  },
  'answers after it was closed': () => ({ close: async () => {} }),
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

/** A document a turn, so that writes come in between. */
async function readSlowly(store: ReadModels, generation: string, query: RangeQuery): Promise<string[]> {
  const documents: string[] = []
  let from = query.from
  while (documents.length < query.limit) {
    const [document] = await store.range(generation, { ...query, from, limit: 1 })
    if (document === undefined) break
    documents.push(document)
    from = nextId(document)
  }
  return documents
}

async function passes(check: (fixture: ReadModelsFixture) => Promise<void>, fixture: ReadModelsFixture) {
  try {
    await check(fixture)
    return true
  } catch {
    return false
  }
}

readModelsContract('the model', async () => memoryFixture())

describe('the contract suite', () => {
  vi.setConfig({ testTimeout: 30_000 })

  it.each(cases)('fails on a store that answers nothing: $topic: $name', async ({ check }) => {
    expect(await passes(check, { ...memoryFixture(), open: async () => failing })).toBe(false)
  })

  it.each(Object.entries(faults))('finds a store that %s', async (_fault, alter) => {
    let isFound = false
    for (const { check } of cases) isFound ||= !(await passes(check, memoryFixture(alter)))
    expect(isFound).toBe(true)
  })
})
