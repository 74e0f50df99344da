import type { Offset } from '../event-log/event-log.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { DocumentId, StoredDocument } from './document.ts'
import type { IdempotencyRecord } from './idempotency-record.ts'
import type { ParkedEvent } from './parked-event.ts'
import type { StreamId, StreamRow } from './stream-row.ts'

/**
 * What a projector asks about a partition: some streams, some idempotency keys, and all parked events of some streams.
 */
export interface LoadRequest {
  readonly partition: number
  readonly streams: readonly StreamId[]
  readonly keys: readonly string[]
  readonly queues: readonly StreamId[]
}

/** All of it read in one atomic step. */
export interface PartitionState {
  readonly checkpoint: Checkpoint
  /** The rows of the requested streams that exist. */
  readonly rows: ReadonlyMap<StreamId, StreamRow>
  /** The requested streams and queues that have parked events. */
  readonly parkedStreams: ReadonlySet<StreamId>
  /** The requested keys that are decided in this partition. */
  readonly decidedKeys: ReadonlySet<string>
  /** Each requested queue with all its parked events, in order of offset. */
  readonly queues: ReadonlyMap<StreamId, readonly ParkedEvent[]>
}

/** A document as it will be, and as it was, for every set that contains it. */
export interface DocumentPut {
  /** As loaded; undefined for a new document: the store then refuses the batch if the document exists. */
  readonly before: StoredDocument | undefined
  readonly after: StoredDocument
}

/** The effects of consecutive records of one partition. */
export interface Batch {
  readonly partition: number
  /** The projector's belief about the checkpoint of the partition. */
  readonly expected: Checkpoint
  readonly checkpoint: Checkpoint
  /** Streams assumed to be new and without parked events: the store refuses the batch if that is wrong. */
  readonly newStreams: readonly StreamId[]
  /** At most one per document. */
  readonly documents: readonly DocumentPut[]
  /** Rows of streams that no document shows. */
  readonly rows: readonly { readonly stream: StreamId; readonly row: string }[]
  /** Streams whose row moves from `rows` to a document. */
  readonly rowsShown: readonly StreamId[]
  /** The keys that records of this batch decide. Each occurs once, and was not decided in this partition before. */
  readonly keys: readonly IdempotencyRecord[]
  /** Each replaces a parked event at the same offset, if there is one. */
  readonly parked: readonly ParkedEvent[]
  /** Events that are no longer parked, because they were discarded or applied. All were parked before this batch. */
  readonly unparked: readonly Pick<ParkedEvent, 'offset' | 'stream'>[]
  /** Offsets of records in this batch that did not take effect, announced to waiters. */
  readonly withoutEffect: readonly Offset[]
}

export type ApplyResult =
  | { readonly outcome: 'applied' }
  /** The stored checkpoint is not the expected one: another projector moved it, or the store was restored. */
  | { readonly outcome: 'checkpoint_mismatch' }
  /**
   * The generation is neither active nor being built: the store was emptied, or the generation was replaced or removed.
   */
  | { readonly outcome: 'generation_gone' }
  /** Another generation is about to become active: ask again in some milliseconds. */
  | { readonly outcome: 'later' }
  /**
   * A set that the batch relies on or changes does not have its recorded size, so the batch cannot be judged correctly.
   */
  | { readonly outcome: 'incomplete' }
  /** All streams and documents that were assumed to be new but exist, or have parked events; in any order. */
  | { readonly outcome: 'exist'; readonly streams: readonly StreamId[]; readonly documents: readonly DocumentId[] }

/** Where a projector writes. Throws ServiceError read_model_unavailable if the store does not answer in time. */
export interface ProjectionStore {
  /** Undefined if the generation does not exist. */
  load(generation: string, request: LoadRequest): Promise<PartitionState | undefined>
  /**
   * Applies a batch and moves its checkpoint in one atomic step, and tells every listener if the generation is active;
   * or changes nothing and says why. `checkpoint_mismatch` takes precedence over `incomplete`, and that over `exist`.
   * After an error the batch may have been applied, or may be applied later: read the checkpoint again. Recorded sizes
   * change by what the batch says, so a set that has lost entries is noticed. SQLite is never `incomplete`, since its
   * file holds what was written to it.
   */
  apply(generation: string, batch: Batch): Promise<ApplyResult>
}
