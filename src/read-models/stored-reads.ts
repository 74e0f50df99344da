import type { Position } from '../event-log/event-log.ts'
import type { DocumentId } from './document.ts'
import type { IdempotencyKey, IdempotencyRecord } from './idempotency-record.ts'
import type { Snapshot } from './inspection.ts'
import type { StreamId, StreamRow } from './stream-row.ts'

/**
 * Proves that an answer omits nothing (decision 0007). Its checkpoints are empty if the generation does not exist, and
 * may be the same object in answers read at the same moment.
 */
export interface Proof extends Snapshot {
  /**
   * Whether every set that was read has its recorded size; for a load, possibly every set that loads read. Always true
   * in a store that loses nothing by itself.
   */
  readonly isComplete: boolean
}

export interface Found {
  readonly proof: Proof
  /** Undefined if the document does not exist. */
  readonly document: { readonly json: string; readonly version: number } | undefined
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

/** What a command needs to know. */
export interface StreamQuery {
  readonly stream?: StreamId | undefined
  readonly key?: IdempotencyKey | undefined
  /** The event whose outcome is requested. */
  readonly event?: Position | undefined
}

/** Parts that were not requested are false or undefined. */
export interface LoadedStream {
  /** Undefined if no event of the stream has taken effect yet. */
  readonly row: StreamRow | undefined
  /** Whether events of the stream are parked. */
  readonly hasParked: boolean
  /** Whether the requested event is parked. */
  readonly isParked: boolean
  /** The record of the key; undefined while the key is undecided. */
  readonly decided: IdempotencyRecord | undefined
}

export interface StoredStream extends LoadedStream {
  readonly proof: Proof
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
