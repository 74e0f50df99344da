import type { DocumentId, IndexKey } from '../document.ts'
import type {
  IdempotencyKey,
  IdempotencyRecord,
  ParkedStream,
  StreamId,
  StreamRow,
  VersionEntry,
} from '../stored-texts.ts'
import type { VersionRange } from '../stream-history.ts'
import type { Snapshot } from './generations.ts'

/**
 * Proves that an answer omits nothing (decision 0007). Its checkpoints are empty if the generation does not exist, and
 * may be the same object in answers read at the same moment.
 */
export interface Proof extends Snapshot {
  /**
   * Whether every set that was read has its recorded size; for a load, possibly every set that loads read. Always so in
   * a store that loses nothing by itself. And whether nothing was missing that a document or the row of a stream
   * implies.
   */
  readonly isComplete: boolean
}

export interface Found {
  readonly proof: Proof
  /** Undefined if the document does not exist. */
  readonly document: FoundJson | undefined
}

export interface FoundJson {
  readonly json: string
  /** The stream that shows it. */
  readonly stream: StreamId
}

/** The first `limit` (1 or more) documents with ids above `after`, in ascending order of id; those of `ids` alone, if given. */
export interface PageQuery {
  readonly collection: string
  /** All documents, or those that have one of these keys, which are of one set. No document has two of them. */
  readonly indexKeys?: readonly IndexKey[] | undefined
  readonly after: number
  readonly limit: number
  /** In ascending order, each once, all above `after`, and `limit` at most. */
  readonly ids?: readonly number[] | undefined
}

export interface StoredPage {
  readonly proof: Proof
  /** The JSON texts, separated by commas, ready to send. */
  readonly documents: string
  readonly count: number
  /** The id of the last one, if there are more. */
  readonly last: number | undefined
}

/** How many documents have each of these keys. */
export interface CountQuery {
  readonly collection: string
  readonly indexKeys: readonly IndexKey[]
}

export interface StoredCounts {
  readonly proof: Proof
  /** In the order of the keys. */
  readonly counts: readonly number[]
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
  readonly document: FoundJson | undefined
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

/** Ids, the first and the last one included: some thousand at most. */
export interface IdRange {
  readonly collections: readonly string[]
  readonly first: number
  readonly last: number
}

export interface HeldIds {
  readonly proof: Proof
  /**
   * Whether a document of one of the collections has one of the ids, or a stream that is named by one of them in decimal
   * has a row or parked events.
   */
  readonly holdsAny: boolean
}

/**
 * What requests read from one generation. A generation that does not exist is empty and complete. Each read settles
 * within one second, and throws ServiceError read_model_unavailable if the store does not answer. Where reads wait for
 * others, they go round the owners of API keys whose they are; the service itself counts as one.
 */
export interface StoredReads {
  find(generation: string, document: DocumentId, owner?: string): Promise<Found>
  page(generation: string, query: PageQuery, owner?: string): Promise<StoredPage>
  count(generation: string, query: CountQuery, owner?: string): Promise<StoredCounts>
  load(generation: string, query: StreamQuery, owner?: string): Promise<StoredStream>
  /** As `load`, at one moment: 1 to some hundred, which count as one read where reads wait. */
  loadAll(generation: string, queries: readonly StreamQuery[], owner?: string): Promise<readonly StoredStream[]>
  heldIds(generation: string, range: IdRange): Promise<HeldIds>
}
