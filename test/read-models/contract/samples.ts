import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { type Checkpoint, noRecords, startOfPartition } from '../../../src/read-models/checkpoint.ts'
import { documentsIn, type StoredDocument } from '../../../src/read-models/document.ts'
import type { Generation } from '../../../src/read-models/generations.ts'
import type { InspectedPage } from '../../../src/read-models/inspection.ts'
import type { ParkedEvent } from '../../../src/read-models/parked-event.ts'
import type { Batch, DocumentPut } from '../../../src/read-models/projection-store.ts'
import type { ReadModelStore } from '../../../src/read-models/store.ts'
import type { ReadModelsFixture } from './fixture.ts'
import { jsonOf, recordOf, rowText } from './values.ts'

/** The collection whose documents show the streams that their ids name. */
export const home = 'pets'

export function newGeneration(logId = 'log-1'): Generation {
  return { name: randomUUID(), logId }
}

/** A document that shows a stream. */
export function pet(id: number, indexes: readonly string[] = [], version = 1, text = ''): StoredDocument {
  return { collection: home, id, json: jsonOf(id, text), version, indexes, row: rowText(version) }
}

/** A document that shows none. */
export function order(id: number, indexes: readonly string[] = [], version = 1, text = ''): StoredDocument {
  return { ...pet(id, indexes, version, text), collection: 'orders', row: undefined }
}

export function added(...documents: readonly StoredDocument[]): DocumentPut[] {
  return documents.map((after) => ({ before: undefined, after }))
}

export function changed(before: readonly StoredDocument[], after: readonly StoredDocument[]): DocumentPut[] {
  return after.map((after, i) => ({ before: before[i], after }))
}

export function rowOf(stream: string, version = 1): Batch['rows'][number] {
  return { stream, row: rowText(version) }
}

export function parkedEvent(partition: number, offset: number, stream: string, reason = 'no name'): ParkedEvent {
  return { partition, offset, stream, reason, value: '{"specversion":"1.0"}' }
}

type Lists = 'newStreams' | 'documents' | 'rows' | 'rowsShown' | 'unparked' | 'withoutEffect'
export interface BatchContent extends Partial<Pick<Batch, Lists>> {
  /** Streams: an event of each is parked, at the offsets of the batch in turn. */
  readonly parked?: readonly string[]
  readonly keys?: readonly string[]
}

/** The batch that follows another one in its partition: one record for each event that it parks, and one more. */
export function batchAfter(before: Pick<Batch, 'partition' | 'checkpoint'>, content: BatchContent = {}): Batch {
  const { partition, checkpoint: expected } = before
  const { keys = [], parked = [], unparked = [], ...lists } = content
  const next = expected.next + parked.length + 1
  const parkedNow = expected.counts.parked + parked.length - unparked.length
  const checkpoint: Checkpoint = {
    next,
    last: { offset: next - 1, identity: `record ${partition}/${next - 1}` },
    counts: { ...noRecords, parked: parkedNow, applied: next - parkedNow },
  }
  return {
    ...{ partition, expected, checkpoint, newStreams: [], documents: [], rows: [], rowsShown: [], withoutEffect: [] },
    ...lists,
    keys: keys.map((key, i) => recordOf(key, expected.next + i, partition)),
    parked: parked.map((stream, i) => parkedEvent(partition, expected.next + i, stream)),
    unparked,
  }
}

export function firstBatch(content: BatchContent = {}, partition = 0): Batch {
  return batchAfter({ partition, checkpoint: startOfPartition }, content)
}

/** A store whose active generation is a new one. */
export async function started(fixture: ReadModelsFixture): Promise<{ store: ReadModelStore; generation: string }> {
  const store = await fixture.open()
  const generation = newGeneration()
  await store.generations.start(generation, undefined)
  return { store, generation: generation.name }
}

/** Applies batches that must be accepted. */
export async function applyAll(store: ReadModelStore, generation: string, ...batches: Batch[]): Promise<void> {
  for (const batch of batches) expect(await store.projection.apply(generation, batch)).toEqual({ outcome: 'applied' })
}

export async function idsIn({ reads }: ReadModelStore, generation: string, index?: string): Promise<number[]> {
  const { documents } = await reads.page(generation, { collection: home, index, after: 0, limit: 10_000 })
  return documentsIn(documents).map(({ id }) => id)
}

export function checkpointsAfter(...batches: Batch[]): ReadonlyMap<number, Checkpoint> {
  return new Map(batches.map(({ partition, checkpoint }) => [partition, checkpoint]))
}

/** What pages hold together. */
export async function allOf<Item>(read: (from: string) => Promise<InspectedPage<Item> | undefined>): Promise<Item[]> {
  const all: Item[] = []
  for (let from: string | undefined = ''; from !== undefined; ) {
    const page: InspectedPage<Item> | undefined = await read(from)
    if (page === undefined) throw new Error('the generation is gone')
    all.push(...page.items)
    from = page.next
    if (all.length > 100_000) throw new Error('this does not end')
  }
  return all
}

/** In order of partition and offset. */
export async function allParked({ inspection }: Pick<ReadModelStore, 'inspection'>, generation: string, limit = 1000) {
  const all = await allOf((from) => inspection.parked(generation, from, limit))
  return all.sort((a, b) => a.partition - b.partition || a.offset - b.offset)
}
