import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { type Checkpoint, noRecords, startOfPartition } from '../../../src/read-models/checkpoint.ts'
import { documentsIn, type StoredDocument } from '../../../src/read-models/document.ts'
import type { Generation } from '../../../src/read-models/generations.ts'
import type { Item, ScannedPage } from '../../../src/read-models/inspection.ts'
import { encodeParkedEvent, type ParkedEvent, parkedId } from '../../../src/read-models/parked-event.ts'
import type { Batch, DocumentPut } from '../../../src/read-models/projection-store.ts'
import type { ReadModelStore } from '../../../src/read-models/store.ts'
import type { ReadModelsFixture } from './fixture.ts'
import { jsonOf, recordOf, rowText } from './values.ts'

/** The collection whose documents show the streams that their ids name. */
export const home = 'pets'

export const ownLog = 'log-1'

export function newGeneration(logId = ownLog): Generation {
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

/** All that pages of a set hold together, by id; `onPage` is called between them. */
export async function itemsIn(
  { inspection }: Pick<ReadModelStore, 'inspection'>,
  generation: string,
  set: string,
  limit = 1000,
  onPage: (items: readonly Item[]) => unknown = () => {},
): Promise<Map<string, string>> {
  const all = new Map<string, string>()
  let from: string | undefined
  for (let pages = 0; pages < 10_000; pages++) {
    const page: ScannedPage = (await inspection.scan(generation, set, from, limit)) ?? expect.fail('is gone')
    for (const [id, text] of page.items) all.set(id, text)
    await onPage(page.items)
    if (page.next === undefined) return all
    from = page.next
  }
  throw new Error('this does not end')
}

/** As they are inspected. */
export function parkedItems(events: readonly ParkedEvent[]): Map<string, string> {
  return new Map(events.map((event) => [parkedId(event), encodeParkedEvent(event)]))
}
