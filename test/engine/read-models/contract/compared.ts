import { expect } from 'vitest'
import { rangesMax } from '../../../../src/engine/definition/indexes.ts'
import {
  beginningOf,
  entryId,
  type IndexKey,
  isKeyed,
  setName,
  textSets,
} from '../../../../src/engine/read-models/document.ts'
import type { ApplyResult, Batch } from '../../../../src/engine/read-models/ports/projection.ts'
import type { PageQuery } from '../../../../src/engine/read-models/ports/reads.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { type GenerationData, MemoryData } from '../../../../src/engine/testing/memory/memory-data.ts'
import { memoryReadModels } from '../memory-read-models.ts'
import { contentOf, sizesOf } from './contents.ts'
import { home, newGeneration, under } from './samples.ts'

/** Everything that batches name, and whatever else a case asks for. */
export class Names {
  readonly partitions = new Set<number>()
  readonly streams: Set<string>
  readonly keys: Set<string>
  readonly documents = new Map<string, { collection: string; id: number }>()
  readonly pages = new Map<string, PageQuery>()
  readonly indexKeys = new Map<string, Set<IndexKey>>()
  /** Ids in the sets of texts. */
  readonly texts = new Map(textSets.map((set) => [set, new Set<string>()]))

  constructor(others: readonly string[] = []) {
    this.streams = new Set(others)
    this.keys = new Set(others)
  }

  add({ partition, documents, newStreams, texts }: Batch): void {
    this.partitions.add(partition)
    for (const stream of newStreams) this.streams.add(stream)
    for (const set of textSets) {
      for (const id of [...texts[set].put.map(([id]) => id), ...texts[set].removed]) {
        this.texts.get(set)?.add(id)
        if (set === 'keys') this.keys.add(id.slice(id.indexOf('/') + 1))
        else this.streams.add(set === 'rows' || set === 'parked' ? id : id.slice(id.indexOf('/') + 1))
      }
    }
    for (const { collection, id, indexKeys } of documents.flatMap(({ before, after }) =>
      [before ?? [], after ?? []].flat(),
    )) {
      this.documents.set(`${collection} ${id}`, { collection, id })
      if (collection === home) this.streams.add(`${id}`)
      const known = this.indexKeys.get(collection) ?? new Set()
      this.indexKeys.set(collection, new Set([...known, ...indexKeys]))
      for (const index of [undefined, ...indexKeys]) {
        for (const after of [0, id - 1, id]) {
          const limit = after === 0 ? 10_000 : 2
          this.pages.set(`${collection} ${index} ${after}`, {
            collection,
            ...under(index),
            after,
            limit,
          })
        }
      }
    }
  }
}

/** Whatever a store tells of these names, and of each key in each partition: each answer is of one moment. */
export async function answersOf({ reads, projection, inspection }: ReadModelStore, name: string, names: Names) {
  const streams = [...names.streams]
  const keys = [...names.partitions].flatMap((partition) => [...names.keys].map((key) => ({ partition, key })))
  const documents = [...names.documents.values()]
  const ofStreams = Array.from({ length: Math.max(streams.length, keys.length) }, (_, i) => {
    return { stream: streams[i], key: keys[i], document: documents[i], versions: { first: i % 3, last: 60 * (i % 5) } }
  })
  const queries = [...ofStreams, ...documents.map((document) => ({ document }))]
  const all = [...names.pages.values(), ...mergedPages(names)]
  const documentIds = [...new Set(documents.map(({ id }) => id))].sort((a, b) => a - b)
  const pages = [
    ...all,
    ...all.filter(({ after }) => after < 2).map((page) => ({ ...page, ...onlyIds(page, documentIds) })),
  ]
  const counted = [...names.indexKeys].map(([collection, keys]) => ({ collection, indexKeys: [...keys] }))
  const ids = new Map<string, readonly string[]>()
  for (const { collection, indexKeys } of all) {
    const set = setName(collection, indexKeys?.[0])
    const entries = documentIds.flatMap((id) => indexKeys?.map((key) => entryId(beginningOf(key) ?? '', id)) ?? [])
    ids.set(set, isKeyed(set) ? [...(ids.get(set) ?? []), ...entries] : documentIds.map(String))
  }
  const sets = [...ids.keys()]
  for (const [set, each] of names.texts) ids.set(set, [...each, ...streams])
  const request = { streams, keys: [...names.keys], waiting: [...(names.texts.get('waiting') ?? [])] }
  return {
    sizes: await sizesOf(inspection, name),
    states: await Promise.all(
      [...names.partitions].map((partition) => projection.load(name, { ...request, partition })),
    ),
    loaded: await Promise.all(queries.map((query) => reads.load(name, query))),
    found: await Promise.all(documents.map((document) => reads.find(name, document))),
    pages: await Promise.all(pages.map((page) => reads.page(name, page))),
    counts: await Promise.all(counted.map((query) => reads.count(name, query))),
    scanned: await Promise.all(sets.map((set) => inspection.scan(name, set, undefined, 100_000))),
    inspected: await Promise.all([...ids].map(([set, each]) => inspection.find(name, set, each))),
  }
}

/** Pages of all keys of a keyed set, and of every other one of them. */
function mergedPages({ indexKeys }: Names): PageQuery[] {
  return [...indexKeys].flatMap(([collection, all]) => {
    const bySet = Map.groupBy([...all], (key) => setName(collection, key))
    const keyed = [...bySet].flatMap(([set, keys]) => (isKeyed(set) ? [keys.slice(0, rangesMax)] : []))
    return keyed.flatMap((keys) =>
      [keys, keys.filter((_, i) => i % 2 === 0)].flatMap((indexKeys) => [
        { collection, indexKeys, after: 0, limit: 10_000 },
        { collection, indexKeys, after: 1, limit: 2 },
      ]),
    )
  })
}

/** The first ids of those that are above where the page begins. */
function onlyIds({ after, limit }: PageQuery, all: readonly number[]): Pick<PageQuery, 'ids' | 'limit'> {
  const ids = all.filter((id) => id > after).slice(0, limit)
  return { ids, limit: Math.max(1, ids.length) }
}

/** What exists is told in no order. */
function sorted(result: ApplyResult): unknown {
  if (result.outcome !== 'exist') return result
  const documents = result.documents.map(({ collection, id }) => `${collection} ${id}`)
  return { ...result, streams: result.streams.toSorted(), documents: documents.sort() }
}

/** A store beside the simplest possible one: whatever is applied to both, they give the same answers. */
export async function compared(store: ReadModelStore, ...otherNames: string[]) {
  const [data, generation] = [new MemoryData(), newGeneration()]
  const { name } = generation
  const simplest = memoryReadModels(data)
  await simplest.generations.start(generation, undefined)
  await store.generations.start(generation, (await store.generations.active())?.name)
  const names = new Names(otherNames)

  async function applyOne(batch: Batch): Promise<ApplyResult> {
    names.add(batch)
    const result = await store.projection.apply(name, batch)
    expect(sorted(result)).toEqual(sorted(await simplest.projection.apply(name, batch)))
    return result
  }

  /** Resolves to what comes of the last one. */
  async function apply(...batches: Batch[]): Promise<ApplyResult | undefined> {
    let result: ApplyResult | undefined
    for (const batch of batches) result = await applyOne(batch)
    expect(await answersOf(store, name, names)).toEqual(await answersOf(simplest, name, names))
    expect(await contentOf(store, name)).toEqual(await contentOf(simplest, name))
    return result
  }

  return { store, generation: name, data: data.version('v1').generations.get(name) as GenerationData, applyOne, apply }
}
