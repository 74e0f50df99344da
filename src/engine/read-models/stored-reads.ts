import type { DocumentId } from './document.ts'
import { decodeIdempotencyRecord, type IdempotencyKey, type IdempotencyRecord } from './idempotency-record.ts'
import type { Snapshot } from './inspection.ts'
import { decodeParkedStream, type ParkedStream } from './parked-stream.ts'
import { chunksFor, entriesIn, type VersionEntry, type VersionRange } from './stream-history.ts'
import { decodeRow, type StreamId, type StreamRow } from './stream-row.ts'

/**
 * Proves that an answer omits nothing (decision 0007). Its checkpoints are empty if the generation does not exist, and
 * may be the same object in answers read at the same moment.
 */
export interface Proof extends Snapshot {
  /**
   * Whether every set that was read has its recorded size; for a load, possibly every set that loads read. Always so in
   * a store that loses nothing by itself. And whether no entry was missing that the row of a stream implies.
   */
  readonly isComplete: boolean
}

export interface Found {
  readonly proof: Proof
  /** Undefined if the document does not exist. */
  readonly document: FoundDocument | undefined
}

export interface FoundDocument {
  readonly json: string
  /** The stream that shows it. */
  readonly stream: StreamId
}

/** The first `limit` (1 or more) documents with ids above `after`, in ascending order of id. */
export interface PageQuery {
  readonly collection: string
  /** All documents, or those of one index. */
  readonly index?: string | undefined
  readonly after: number
  readonly limit: number
}

export interface StoredPage {
  readonly proof: Proof
  /** The JSON texts, separated by commas, ready to send. */
  readonly documents: string
  readonly count: number
  /** The id of the last one, if there are more. */
  readonly last: number | undefined
}

/** What a command needs to know, and whoever asks what became of an event. */
export interface StreamQuery {
  readonly stream?: StreamId | undefined
  /** Without `stream` it is the stream of this document that is requested. */
  readonly document?: DocumentId | undefined
  readonly key?: IdempotencyKey | undefined
  /** The versions of `stream` whose entries are requested: some hundred at most. */
  readonly versions?: VersionRange | undefined
}

/** Parts that were not requested are undefined or empty. */
export interface LoadedStream {
  /** Undefined if no event of the stream has taken effect or was discarded yet. */
  readonly row: StreamRow | undefined
  /** The requested document. */
  readonly document: FoundDocument | undefined
  /** Undefined if no event of the stream is parked. */
  readonly parked: ParkedStream | undefined
  /** The record of the key; undefined while the key is undecided. */
  readonly decided: IdempotencyRecord | undefined
  /** Those requested ones that the stream has, by version. */
  readonly entries: ReadonlyMap<number, VersionEntry>
}

export interface StoredStream extends LoadedStream {
  readonly proof: Proof
}

/** The texts that a store has for a query; undefined where it has none, or none was requested. */
export interface FoundTexts {
  /** The requested document. */
  readonly document?: FoundDocument | undefined
  /** The document that shows the stream. */
  readonly json?: string | undefined
  readonly row?: string | undefined
  readonly parked?: string | undefined
  readonly record?: string | undefined
  /** The chunk of the stream's history with this number. */
  chunk(number: number): string | undefined
}

const noEntries: ReadonlyMap<number, VersionEntry> = new Map()

/** What a load answers, from the texts that were found in one atomic step. */
export function loadedStream(
  { stream: requested, key, versions }: StreamQuery,
  { document, json, row: rowText, parked, record, chunk }: FoundTexts,
  proof: Proof,
): StoredStream {
  const stream = requested ?? document?.stream
  const row = stream === undefined || rowText === undefined ? undefined : decodeRow(stream, json, rowText)
  const entries = row && requested !== undefined && versions ? entriesIn(row, versions, chunk) : noEntries
  return {
    proof: entries === undefined ? { ...proof, isComplete: false } : proof,
    row,
    document,
    parked: stream === undefined || parked === undefined ? undefined : decodeParkedStream(stream, parked),
    decided: key && record !== undefined ? decodeIdempotencyRecord(key, record) : undefined,
    entries: entries ?? noEntries,
  }
}

/** The numbers of the chunks that a load of this query looks up. */
export function chunksToLoad({ stream, versions }: StreamQuery): readonly number[] {
  return stream === undefined ? [] : chunksFor(versions)
}

/**
 * What requests read from one generation. A generation that does not exist is empty and complete. Each read settles
 * within one second, and throws ServiceError read_model_unavailable if the store does not answer.
 */
export interface StoredReads {
  find(generation: string, document: DocumentId): Promise<Found>
  page(generation: string, query: PageQuery): Promise<StoredPage>
  load(generation: string, query: StreamQuery): Promise<StoredStream>
}
