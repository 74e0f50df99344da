import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import {
  documentsIn,
  type IndexKey,
  type StoredDocument,
  type TextSet,
  textSets,
} from '../../../../src/engine/read-models/document.ts'
import type { Generation } from '../../../../src/engine/read-models/ports/generations.ts'
import type { Item, ScannedPage } from '../../../../src/engine/read-models/ports/inspection.ts'
import type { Batch, DocumentChange, TextChanges } from '../../../../src/engine/read-models/ports/projection.ts'
import type { PageQuery } from '../../../../src/engine/read-models/ports/reads.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { rowsMark } from '../../../../src/engine/read-models/row-place.ts'
import {
  type Checkpoint,
  encodeIdempotencyRecord,
  encodeParkedStream,
  keyId,
  noRecords,
  type ParkedStream,
  startOfPartition,
} from '../../../../src/engine/read-models/stored-texts.ts'
import { StreamNames } from '../../../../src/engine/read-models/stream-names.ts'
import type { ReadModelsFixture } from './fixture.ts'
import { jsonOf, recordOf, rowText } from './values.ts'

/** The collection whose documents show the streams that their ids name. */
export const home = 'seats'
/** That of a second kind of stream. */
export const halls = 'halls'
export const names = new StreamNames([home, halls])

export const ownLog = 'log-1'

export function newGeneration(logId = ownLog): Generation {
  return { name: randomUUID(), logId }
}

/** What a page is asked for of the documents under an index key, or of all. */
export function under(index: IndexKey | undefined): { indexKeys?: PageQuery['indexKeys'] } {
  return index === undefined ? {} : { indexKeys: [index] }
}

/** Where the filter `n` has a value beside which an enumeration has another one, or none. */
export function at(value: string, beside = ''): IndexKey {
  return `n=${value.length}:${value}${beside} `
}

/** A document that shows the stream of its id. */
export function seat(id: number, indexKeys: readonly string[] = [], version = 1, text = ''): StoredDocument {
  return { collection: home, id, json: jsonOf(id, text), indexKeys, behind: rowText(version) }
}

/** A document of the second kind. */
export function hall(...of: Parameters<typeof seat>): StoredDocument {
  return { ...seat(...of), collection: halls }
}

/** A document that shows the stream of its id, whose row is in `rows`. */
export function markedSeat(id: number, indexKeys: readonly string[] = [], text = ''): StoredDocument {
  return { ...seat(id, indexKeys, 1, text), behind: rowsMark }
}

/** A document that a stream shows beside its own. */
export function booking(id: number, indexKeys: readonly string[] = [], text = '', stream = `${id}`): StoredDocument {
  return { collection: 'bookings', id, json: jsonOf(id, text), indexKeys, behind: stream }
}

export function added(...documents: readonly StoredDocument[]): DocumentChange[] {
  return documents.map((after) => ({ before: undefined, after }))
}

export function changed(before: readonly StoredDocument[], after: readonly StoredDocument[]): DocumentChange[] {
  return after.map((after, i) => ({ before: before[i], after }))
}

export function removed(...documents: readonly StoredDocument[]): DocumentChange[] {
  return documents.map((before) => ({ before, after: undefined }))
}

export function rowOf(stream: string, version = 1): Item {
  return [stream, rowText(version)]
}

export function parkedStream(stream: string, first: number, partition = 0, waiting = 0): ParkedStream {
  return { stream, partition, first, waiting, reason: 'no name' }
}

export function parkedItem(parked: ParkedStream): Item {
  return [parked.stream, encodeParkedStream(parked)]
}

export interface BatchContent extends Partial<Pick<Batch, 'newStreams' | 'documents' | 'withoutEffect'>> {
  readonly rows?: readonly Item[]
  readonly rowsShown?: readonly string[]
  readonly keys?: readonly string[]
  readonly history?: readonly Item[]
  /** Streams: an event of each is parked, at the offsets of the batch in turn. */
  readonly parked?: readonly string[]
  /** Streams that have no parked events any more. */
  readonly unparked?: readonly string[]
  readonly waiting?: readonly Item[]
  readonly waitingNoMore?: readonly string[]
}

const noChanges: TextChanges = { put: [], removed: [] }

/** Changes of some sets, and of no other. */
export function textChanges(changes: Partial<Record<TextSet, Partial<TextChanges>>>): Batch['texts'] {
  const all = textSets.map((set) => [set, { ...noChanges, ...changes[set] }] as const)
  return Object.fromEntries(all) as Batch['texts']
}

/** The batch that follows another one in its partition: one record for each event that it parks, and one more. */
export function batchAfter(before: Pick<Batch, 'partition' | 'checkpoint'>, content: BatchContent = {}): Batch {
  const { partition, checkpoint: expected } = before
  const { newStreams = [], documents = [], withoutEffect = [], keys = [], parked = [], unparked = [] } = content
  const next = expected.next + parked.length + 1
  const parkedNow = expected.counts.parked + parked.length - unparked.length
  const checkpoint: Checkpoint = {
    next,
    last: { offset: next - 1, identity: `record ${partition}/${next - 1}` },
    counts: { ...noRecords, parked: parkedNow, applied: next - parkedNow },
  }
  const decided = keys.map((key, i) => recordOf(key, expected.next + i, partition))
  const texts = textChanges({
    rows: { put: content.rows ?? [], removed: content.rowsShown ?? [] },
    keys: { put: decided.map((record) => [keyId(record), encodeIdempotencyRecord(record)]) },
    history: { put: content.history ?? [] },
    parked: {
      put: parked.map((stream, i) => parkedItem(parkedStream(stream, expected.next + i, partition))),
      removed: unparked,
    },
    waiting: { put: content.waiting ?? [], removed: content.waitingNoMore ?? [] },
  })
  return { partition, expected, checkpoint, newStreams, documents, texts, withoutEffect }
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
  const { documents } = await reads.page(generation, { collection: home, ...under(index), after: 0, limit: 10_000 })
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
