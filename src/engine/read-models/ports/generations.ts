import type { Offset } from '../../log/event-log.ts'
import type { Checkpoint } from '../stored-texts.ts'

/**
 * A complete set of read models: documents, indexes, rows, idempotency records, parked events, their recorded sizes and
 * the checkpoints. Each version has exactly one active generation, and at most one more that is being built (decision
 * 0006). Names are random and never reused.
 */
export interface Generation {
  readonly name: string
  /** The log that it is built from. */
  readonly logId: string
}

export interface ActiveGeneration extends Generation {
  /**
   * The generation that it replaced without being behind it anywhere, and that may be removed by now; undefined if
   * there was none.
   */
  readonly continues: string | undefined
}

export interface StoredGeneration extends Generation {
  /** `replaced`: was active once, and is kept for reads that began with it. */
  readonly state: 'active' | 'building' | 'replaced'
  /**
   * Since when; for a generation being built, when `build` was last called for it. Milliseconds since 1970, by the
   * store's clock.
   */
  readonly since: number
}

export interface StoredVersion {
  readonly version: string
  /** When it was last in use: milliseconds since 1970, by the store's clock. */
  readonly renewed: number
}

/** Checkpoints by partition. Partitions with nothing stored are absent. */
export type Checkpoints = ReadonlyMap<number, Checkpoint>

/** The state of the store, read in one atomic step with an answer. */
export interface Snapshot {
  /** The name of the active generation. */
  readonly active: string | undefined
  /** The checkpoints of the generation that was read. */
  readonly checkpoints: Checkpoints
}

/** A store at one moment: all that those who follow it ask again and again. */
export interface Look {
  readonly active: ActiveGeneration | undefined
  /** Those of the active generation; undefined if there is none, or if it has lost them, or one cannot be read. */
  readonly checkpoints: Checkpoints | undefined
  /**
   * False if a set of the active generation does not have its recorded size, or something that a look reads of it is
   * damaged. Sets are not counted on SQLite.
   */
  readonly isComplete: boolean
  /** What is damaged, if something is. */
  readonly damage?: string | undefined
  readonly building: (Generation & { readonly checkpoints: Checkpoints }) | undefined
}

export interface Progress {
  readonly partition: number
  /** The records from `from` up to `next` were handled in this step. */
  readonly from: Offset
  readonly next: Offset
  /** The offsets of those records that did not take effect. */
  readonly withoutEffect: readonly Offset[]
}

export interface ProgressListener {
  /** The active `generation` was applied further; or, without progress, it has just become active. */
  progress(generation: string, progress?: Progress): void
  /** Progress is announced from now on; earlier progress may have been missed. Also called on subscribing. */
  connected(): void
  /** Progress may be missed from now on. */
  disconnected(): void
}

/**
 * The life of generations and versions (decision 0006). A version of the read models consists of the versions of
 * their projections; each has generations of its own, which no other version touches.
 * Every method throws ServiceError read_model_unavailable if the store does not answer in time.
 */
export interface Generations {
  /** All of it read in one atomic step. */
  look(): Promise<Look>
  active(): Promise<ActiveGeneration | undefined>
  /** Undefined if the generation does not exist. */
  checkpoints(generation: string): Promise<Checkpoints | undefined>
  /**
   * Calls the listener from now on, each time in a microtask of its own. Returns a function that ends that. Whether it
   * hears of other stores on the same data depends on the adapter.
   */
  listen(listener: ProgressListener): () => void
  /**
   * Makes `generation` the active one, empty, if `instead` (undefined: none) is still active. Resolves to whether it
   * did.
   */
  start(generation: Generation, instead: string | undefined): Promise<boolean>
  /** The generations of this version, beginning with the active one, if any. */
  all(): Promise<readonly StoredGeneration[]>
  /**
   * Begins to build `generation`, empty, beside the active one; or continues with the one of the same log that is
   * already being built. Resolves to the one being built. A generation of another log that was being built is removed.
   */
  build(generation: Generation): Promise<Generation>
  /**
   * Makes the generation being built the active one, in one atomic step, and tells every listener. If it refuses, it
   * changes nothing in any generation. `not_building`: it is not being built, or the active one belongs to another log,
   * so that positions cannot be compared. `behind`: a partition of the active generation is further. `apply` to the
   * active generation then answers `later` for one second, at most every 5 s by the store's clock, so that the new one can
   * catch up under any load. `incomplete`: a set of the generation does not have its recorded size, or it is damaged.
   * Checkpoints of the active one that are damaged are not compared: the new one then does not continue it.
   */
  activate(name: string): Promise<'activated' | 'behind' | 'incomplete' | 'not_building'>
  /** Removes a generation that is not active, with all its data. Resolves to whether it did. */
  remove(name: string): Promise<boolean>
  /** Marks this version as in use now, also where the clock of the store was set back since it last was. */
  renew(): Promise<void>
  /** Every version that was renewed, and not removed since. */
  versions(): Promise<readonly StoredVersion[]>
  /**
   * Removes a version with all its data. It does nothing if that is this version, if the version was renewed since it
   * was listed, or if it has an active generation, or one being built, of a log other than `logId`. Resolves to whether
   * it removed the version.
   */
  removeVersion(listed: StoredVersion, logId: string): Promise<boolean>
  /**
   * Removes the generations of this version that are not active and whose `since` is at least `graceMs` ago. Resolves
   * to their names. A `since` beyond the present, from before the clock of the store was set back, becomes the present.
   */
  prune(graceMs: number): Promise<readonly string[]>
}
