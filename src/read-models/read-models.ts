import type { Offset } from '../event-log/event-log.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Generation, Moment, ParkedEvent, RangeQuery } from './generation.ts'
import type { Inspection } from './inspection.ts'
import type { KeyDecision } from './key-decision.ts'
import type { Upkeep } from './upkeep.ts'

export type { Generation, Moment, ParkedAt, ParkedEvent, RangeQuery } from './generation.ts'

export interface ActiveGeneration extends Generation {
  /** The generation it took over from, nowhere behind it, which may be removed by now; undefined where there was none. */
  readonly continues: string | undefined
}

/** One document to add. */
export interface Insert {
  /** 1..2^53 - 1; unique in a generation. */
  readonly id: number
  /** JSON text that holds the id, so that no two are equal; given back as it is. */
  readonly document: string
  /** `eventTag` of the event that made it, kept to tell a repeated event from a second one about the same id. */
  readonly tag: string
  /** The indexes that hold it too. */
  readonly indexes: readonly string[]
}

/** What became of consecutive records of one partition. */
export interface Batch {
  readonly partition: number
  /** Where the projector believes the partition to be. */
  readonly expected: Checkpoint
  readonly checkpoint: Checkpoint
  readonly inserts: readonly Insert[]
  /** How much each counter goes up by: 1 or more. */
  readonly counters: ReadonlyMap<string, number>
  /** In place of what is parked at the same offset, if anything is. */
  readonly parked: readonly ParkedEvent[]
  /** The offsets of what is parked no longer: discarded, or applied at last. */
  readonly unparked: readonly Offset[]
  /** Subjects of which nothing is parked any more. */
  readonly freed: readonly string[]
  /** The keys that records of this batch decide: each key once. */
  readonly decisions: readonly KeyDecision[]
}

export type ApplyResult =
  | { readonly outcome: 'applied' }
  /** The stored checkpoint is not the expected one: another projector moved it, or the store was put back. */
  | { readonly outcome: 'checkpoint_mismatch' }
  /** The generation is neither the active one nor being built: the store was emptied, or it was replaced or removed. */
  | { readonly outcome: 'generation_gone' }
  /** Some ids have a document already: their tags by id. */
  | { readonly outcome: 'ids_taken'; readonly tags: ReadonlyMap<number, string> }
  /** Some keys were decided before. */
  | { readonly outcome: 'keys_decided'; readonly keys: readonly string[] }

/** What a projector has to know of a partition before it goes on with it. */
export interface PartitionState {
  readonly checkpoint: Checkpoint
  /** Subjects with parked events in this partition. */
  readonly parkedSubjects: ReadonlySet<string>
}

/** Documents, and what proves that none is missing; all of it read in one atomic step. */
export interface RangeAnswer {
  /** The JSON texts, separated by commas: sent on as they are. */
  readonly documents: string
  readonly count: number
  /** The id of the last one, if there are more in the range behind it. */
  readonly last: number | undefined
  readonly moment: Moment
  /** How many documents the collection or index holds, and how many were ever added to it. */
  readonly held: number
  readonly added: number
}

export interface ReadModelsListener {
  /**
   * The active `generation` was applied up to `next` in `partition`, with some of its records parked; or, without a
   * partition, it has just become the active one.
   */
  progress(generation: string, at?: AppliedTo): void
  /** Progress is heard from now on; what happened before may have been missed. Also called on subscribing. */
  connected(): void
  /** Progress may be missed from now on. */
  disconnected(): void
}

export interface AppliedTo {
  readonly partition: number
  readonly next: Offset
  readonly parked: readonly Offset[]
}

/** Every method throws ServiceError read_model_unavailable when the store does not answer in time. */
export interface ReadModels extends Inspection, Upkeep {
  active(): Promise<ActiveGeneration | undefined>
  /** Makes `generation` the active one, empty, if `instead` (undefined: none) still is; otherwise changes nothing. */
  start(generation: Generation, instead: string | undefined): Promise<void>
  /** Undefined when the generation is not there. Partitions with nothing stored are left out. */
  checkpoints(generation: string): Promise<ReadonlyMap<number, Checkpoint> | undefined>
  /** As `checkpoints`, for a projector: every partition asked for is in the answer. */
  partitionStates(generation: string, partitions: readonly number[]): Promise<Map<number, PartitionState> | undefined>
  /** In order of offset; none where the generation is not there. */
  parkedUnder(generation: string, partition: number, subject: string): Promise<readonly ParkedEvent[]>
  /**
   * Applies a batch and moves its checkpoint in one atomic step, and tells every listener if the generation is the
   * active one; or changes nothing and says why. After an error it may have been applied, or be applied later: read
   * the checkpoint again.
   */
  apply(generation: string, batch: Batch): Promise<ApplyResult>
  /** Settles within one second. A generation that is not there has no documents. */
  range(generation: string, query: RangeQuery): Promise<RangeAnswer>
  /** What was decided under an idempotency key; undefined where nothing was, or the generation is not there. */
  decision(generation: string, key: string): Promise<KeyDecision | undefined>
  /** Calls the listener from now on; returns what ends that. */
  listen(listener: ReadModelsListener): () => void
  close(): Promise<void>
}
