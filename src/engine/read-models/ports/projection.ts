import type { Offset } from '../../log/event-log.ts'
import type { DocumentId, StoredDocument, TextSet } from '../document.ts'
import type { Checkpoint, ParkedStream, StreamId, StreamRow } from '../stored-texts.ts'

/** What a projector asks about a partition: some streams, idempotency keys, and chunks of waiting events. */
export interface LoadRequest {
  readonly partition: number
  readonly streams: readonly StreamId[]
  readonly keys: readonly string[]
  /** Ids in the set `waiting`. */
  readonly waiting: readonly string[]
}

/** All of it read in one atomic step: what exists of what was requested. */
export interface PartitionState {
  readonly checkpoint: Checkpoint
  readonly rows: ReadonlyMap<StreamId, StreamRow>
  /** False if a row is missing that a document implies. */
  readonly isComplete: boolean
  /** The requested streams that have parked events. */
  readonly parked: ReadonlyMap<StreamId, ParkedStream>
  /** The requested keys that are decided in this partition. */
  readonly decidedKeys: ReadonlySet<string>
  /** The requested chunks, by id: offsets in ascending order. */
  readonly waiting: ReadonlyMap<string, readonly Offset[]>
}

/** A document as it was and as it will be, for every set that contains it. One of the two is there. */
export interface DocumentChange {
  /** As loaded; undefined for a new document: the store then refuses the batch if the document exists. */
  readonly before: StoredDocument | undefined
  /** Undefined if it is removed. */
  readonly after: StoredDocument | undefined
}

/** Changes of a set of texts. No id occurs twice. */
export interface TextChanges {
  /** Each takes the place of the text that is stored under its id, if there is one. */
  readonly put: readonly (readonly [id: string, text: string])[]
  /** The ids of texts that are stored. */
  readonly removed: readonly string[]
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
  readonly documents: readonly DocumentChange[]
  readonly texts: Readonly<Record<TextSet, TextChanges>>
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
