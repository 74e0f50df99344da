import type { Offset } from '../event-log/event-log.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { DocumentId, StoredDocument } from './document.ts'
import type { IdempotencyRecord } from './idempotency-record.ts'
import type { ParkedEvent } from './parked-event.ts'
import type { StreamId, StreamRow } from './stream-row.ts'

/** What a projector asks of a partition: some streams, some idempotency keys, and everything parked under some streams. */
export interface LoadRequest {
  readonly partition: number
  readonly streams: readonly StreamId[]
  readonly keys: readonly string[]
  readonly queues: readonly StreamId[]
}

/** All of it read in one atomic step. */
export interface PartitionState {
  readonly checkpoint: Checkpoint
  /** The rows of those streams asked for that there are. */
  readonly rows: ReadonlyMap<StreamId, StreamRow>
  /** Those of the streams and queues asked for that have parked events. */
  readonly parkedStreams: ReadonlySet<StreamId>
  /** Those of the keys asked for that are decided in this partition. */
  readonly decidedKeys: ReadonlySet<string>
  /** Each queue asked for, with everything parked in it, in order of offset. */
  readonly queues: ReadonlyMap<StreamId, readonly ParkedEvent[]>
}

/** A document as it is to be, and as it was: both stand for every set that it is in. */
export interface DocumentPut {
  /** As loaded, or undefined for a new one: the store then refuses the batch if there is such a document. */
  readonly before: StoredDocument | undefined
  readonly after: StoredDocument
}

/** What became of consecutive records of one partition. */
export interface Batch {
  readonly partition: number
  /** Where the projector believes the partition to be. */
  readonly expected: Checkpoint
  readonly checkpoint: Checkpoint
  /** Streams taken not to exist and to have nothing parked: the store refuses the batch if that is wrong. */
  readonly newStreams: readonly StreamId[]
  /** At most one for each document. */
  readonly documents: readonly DocumentPut[]
  /** Rows of streams that no document shows. */
  readonly rows: readonly { readonly stream: StreamId; readonly row: string }[]
  /** Streams whose row moves from `rows` to a document. */
  readonly rowsShown: readonly StreamId[]
  /** The keys that records of this batch decide: each once, none of which this partition decided before. */
  readonly keys: readonly IdempotencyRecord[]
  /** Each replaces what is parked at the same offset, if anything is. */
  readonly parked: readonly ParkedEvent[]
  /** What is parked no longer: discarded, or taken up. All of it was parked before this batch. */
  readonly unparked: readonly Pick<ParkedEvent, 'offset' | 'stream'>[]
  /** Offsets of records in this batch that did not take effect: named to whoever waits for one of them. */
  readonly withoutEffect: readonly Offset[]
}

export type ApplyResult =
  | { readonly outcome: 'applied' }
  /** The stored checkpoint is not the expected one: another projector moved it, or the store was put back. */
  | { readonly outcome: 'checkpoint_mismatch' }
  /** The generation is neither the active one nor being built: the store was emptied, or it was replaced or removed. */
  | { readonly outcome: 'generation_gone' }
  /** Another generation is about to take over from this one: ask again in some milliseconds. */
  | { readonly outcome: 'later' }
  /** A set that a batch is judged by, or changes, does not have its recorded size: it would be judged wrongly. */
  | { readonly outcome: 'incomplete' }
  /** All streams and documents that were taken for new, and are there, or have parked events; in no order. */
  | { readonly outcome: 'exist'; readonly streams: readonly StreamId[]; readonly documents: readonly DocumentId[] }

/** Where a projector writes. Throws ServiceError read_model_unavailable when the store does not answer in time. */
export interface ProjectionStore {
  /** Undefined when the generation is not there. */
  load(generation: string, request: LoadRequest): Promise<PartitionState | undefined>
  /**
   * Applies a batch and moves its checkpoint in one atomic step, and tells every listener if the generation is the
   * active one; or changes nothing and says why: `checkpoint_mismatch` rather than `incomplete`, and that rather than
   * `exist`. After an error it may have been applied, or be applied later: read the checkpoint again. Recorded sizes move
   * by what the batch says, so that a set that lost something shows it. What SQLite holds is what was written to it, so
   * that is never `incomplete`.
   */
  apply(generation: string, batch: Batch): Promise<ApplyResult>
}
