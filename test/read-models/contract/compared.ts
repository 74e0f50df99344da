import { expect } from 'vitest'
import { setName } from '../../../src/read-models/document.ts'
import { parkedId } from '../../../src/read-models/parked-event.ts'
import type { ApplyResult, Batch } from '../../../src/read-models/projection-store.ts'
import type { ReadModelStore } from '../../../src/read-models/store.ts'
import type { PageQuery } from '../../../src/read-models/stored-reads.ts'
import { type GenerationData, MemoryData } from '../memory-data.ts'
import { memoryReadModels } from '../memory-store.ts'
import { contentOf, sizesOf } from './contents.ts'
import { home, newGeneration } from './samples.ts'

/** Everything that batches name, and whatever else a case asks for. */
export class Names {
  readonly partitions = new Set<number>()
  readonly streams: Set<string>
  readonly keys: Set<string>
  readonly documents = new Map<string, { collection: string; id: number }>()
  readonly pages = new Map<string, PageQuery>()
  readonly events = new Map<string, { partition: number; offset: number }>()

  constructor(others: readonly string[] = []) {
    this.streams = new Set(others)
    this.keys = new Set(others)
  }

  add({ partition, documents, newStreams, rows, rowsShown, keys, parked, unparked }: Batch): void {
    this.partitions.add(partition)
    const named = [...rows, ...parked, ...unparked].map(({ stream }) => stream)
    for (const stream of [...newStreams, ...rowsShown, ...named]) this.streams.add(stream)
    for (const { key } of keys) this.keys.add(key)
    for (const { offset } of [...parked, ...unparked]) this.events.set(`${partition}/${offset}`, { partition, offset })
    for (const { collection, id, indexes } of documents.flatMap(({ before, after }) => [before ?? after, after])) {
      this.documents.set(`${collection} ${id}`, { collection, id })
      if (collection === home) this.streams.add(`${id}`)
      for (const index of [undefined, ...indexes]) {
        for (const after of [0, id - 1, id]) {
          const limit = after === 0 ? 10_000 : 2
          this.pages.set(`${collection} ${index} ${after}`, { collection, index, after, limit })
        }
      }
    }
  }
}

/** Whatever a store tells of these names, and of each key in each partition: each answer is of one moment. */
export async function answersOf({ reads, projection, inspection }: ReadModelStore, name: string, names: Names) {
  const [streams, events] = [[...names.streams], [...names.events.values()]]
  const keys = [...names.partitions].flatMap((partition) => [...names.keys].map((key) => ({ partition, key })))
  const queries = Array.from({ length: Math.max(streams.length, keys.length, events.length) }, (_, i) => {
    return { stream: streams[i], key: keys[i], event: events[i] }
  })
  const pages = [...names.pages.values()]
  const sets = new Set(pages.map(({ collection, index }) => setName(collection, index)))
  const documents = [...names.documents.values()].map(({ id }) => String(id))
  const ids = new Map([...sets].map((set) => [set, documents]))
  ids.set('rows', streams).set('parked', events.map(parkedId))
  ids.set(
    'keys',
    keys.map(({ partition, key }) => `${partition}/${key}`),
  )
  const request = { streams, keys: [...names.keys], queues: streams }
  return {
    sizes: await sizesOf(inspection, name),
    states: await Promise.all(
      [...names.partitions].map((partition) => projection.load(name, { ...request, partition })),
    ),
    loaded: await Promise.all(queries.map((query) => reads.load(name, query))),
    found: await Promise.all([...names.documents.values()].map((document) => reads.find(name, document))),
    pages: await Promise.all(pages.map((page) => reads.page(name, page))),
    scanned: await Promise.all([...sets].map((set) => inspection.scan(name, set, undefined, 100_000))),
    inspected: await Promise.all([...ids].map(([set, each]) => inspection.find(name, set, each))),
  }
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
