import type { Position } from '../event-log/event-log.ts'
import type { DocumentId } from './document.ts'
import type { Checkpoints } from './generations.ts'
import type { IdempotencyKey, IdempotencyRecord } from './idempotency-record.ts'
import type { StreamId, StreamRow } from './stream-row.ts'

/** What tells that an answer leaves nothing out (decision 0007): read in one atomic step with it. */
export interface Proof {
  /** The name of the active generation. */
  readonly active: string | undefined
  /** The checkpoints of the generation that was read; empty when it is not there. Answers read at the same moment may share the object. */
  readonly checkpoints: Checkpoints
  /**
   * Whether every set that was read has the size that is recorded for it; of a load, maybe of every set that loads read.
   * Always true in a store whose sets lose nothing by themselves.
   */
  readonly isComplete: boolean
}

export interface Found {
  readonly proof: Proof
  /** Undefined when there is no such document. */
  readonly document: { readonly json: string; readonly version: number } | undefined
}

/** Documents with ids above `after`, the first `limit` (1 or more) of them in ascending order of id. */
export interface PageQuery {
  readonly collection: string
  /** Every document, or those of one index. */
  readonly index?: string | undefined
  readonly after: number
  readonly limit: number
}

export interface StoredPage {
  readonly proof: Proof
  /** The JSON texts, separated by commas: sent on as they are. */
  readonly documents: string
  readonly count: number
  /** The id of the last one, if more follow behind it. */
  readonly last: number | undefined
}

/** What a command has to know. */
export interface StreamQuery {
  readonly stream?: StreamId | undefined
  readonly key?: IdempotencyKey | undefined
  /** An event whose outcome is asked for. */
  readonly event?: Position | undefined
}

/** False or undefined where it was not asked for. */
export interface LoadedStream {
  /** Undefined when nothing of the stream took effect yet. */
  readonly row: StreamRow | undefined
  /** Whether events of the stream are parked. */
  readonly hasParked: boolean
  /** Whether the event asked for is parked. */
  readonly isParked: boolean
  /** What was decided under the key; undefined while nothing was. */
  readonly decided: IdempotencyRecord | undefined
}

export interface StoredStream extends LoadedStream {
  readonly proof: Proof
}

/**
 * What requests read of one generation. A generation that is not there holds nothing, and is complete. Each settles
 * within one second; throws ServiceError read_model_unavailable when the store does not answer.
 */
export interface StoredReads {
  find(generation: string, document: DocumentId): Promise<Found>
  page(generation: string, query: PageQuery): Promise<StoredPage>
  load(generation: string, query: StreamQuery): Promise<StoredStream>
}
