import type { Offset } from '../event-log/event-log.ts'
import type { Checkpoint } from './checkpoint.ts'

/**
 * A complete set of read models: documents, indexes, rows, idempotency records, parked events, their recorded sizes and
 * the checkpoints. Of one version exactly one is active, and one more may be in the making (decision 0006). Names are
 * random and never used again.
 */
export interface Generation {
  readonly name: string
  /** The log that it is made from. */
  readonly logId: string
}

export interface ActiveGeneration extends Generation {
  /** The generation it took over from, nowhere behind it, which may be removed by now; undefined where there was none. */
  readonly continues: string | undefined
}

export interface StoredGeneration extends Generation {
  /** `replaced`: was active once, and is kept for reads that began with it. */
  readonly state: 'active' | 'building' | 'replaced'
  /** Since when, or for one being built: when `build` was last asked for it. Milliseconds since 1970, by the store's clock. */
  readonly since: number
}

export interface StoredVersion {
  readonly version: string
  /** When it was last in use: milliseconds since 1970, by the store's clock. */
  readonly renewed: number
}

/** Checkpoints by partition. Partitions with nothing stored are left out. */
export type Checkpoints = ReadonlyMap<number, Checkpoint>

export interface Progress {
  readonly partition: number
  /** The records from `from` on, up to `next`, were handled in this step. */
  readonly from: Offset
  readonly next: Offset
  /** Those of them that did not take effect. */
  readonly withoutEffect: readonly Offset[]
}

export interface ProgressListener {
  /** The active `generation` was applied further; or, without progress, it has just become the active one. */
  progress(generation: string, progress?: Progress): void
  /** Progress is heard from now on; what happened before may have been missed. Also called on subscribing. */
  connected(): void
  /** Progress may be missed from now on. */
  disconnected(): void
}

/**
 * The life of generations and versions (decisions 0006, 0015). A version of the read models is made of those of their
 * projections; each has generations of its own, which no other version touches.
 * Every method throws ServiceError read_model_unavailable when the store does not answer in time.
 */
export interface Generations {
  active(): Promise<ActiveGeneration | undefined>
  /** Undefined when the generation is not there. */
  checkpoints(generation: string): Promise<Checkpoints | undefined>
  /**
   * Whether every set of the generation has its recorded size; true of one that is not there. What SQLite holds is what was
   * written to it, and is not counted.
   */
  isComplete(generation: string): Promise<boolean>
  /**
   * Calls the listener from now on, each time in a microtask of its own; returns what ends that. Whether it hears of what
   * other stores on the same data do is up to the adapter.
   */
  listen(listener: ProgressListener): () => void
  /** Makes `generation` the active one, empty, if `instead` (undefined: none) still is: resolves to whether it did. */
  start(generation: Generation, instead: string | undefined): Promise<boolean>
  /** Those of this version: the active one, if any, first. */
  all(): Promise<readonly StoredGeneration[]>
  /**
   * Has `generation` built, empty, beside the active one; or goes on with the one of the same log that is being built
   * already: resolves to whichever it is. One of another log that was being built is removed.
   */
  build(generation: Generation): Promise<Generation>
  /**
   * Makes the generation being built the active one, in one atomic step, and tells every listener. Refused, with nothing
   * changed in any generation: `not_building` also when the active one is made from another log, so that positions say
   * nothing; `behind` when a partition of the active generation is further: `apply` to that one then answers `later` for
   * 300 ms, at most every 5 s by the store's clock, so that it can be caught up with under any load; `incomplete` when a
   * set of the generation is not of its recorded size.
   */
  activate(name: string): Promise<'activated' | 'behind' | 'incomplete' | 'not_building'>
  /** Removes a generation that is not the active one, with all it holds: resolves to whether it did. */
  remove(name: string): Promise<boolean>
  /** Marks this version as in use now. */
  renew(): Promise<void>
  /** Every version that was renewed and not removed since. */
  versions(): Promise<readonly StoredVersion[]>
  /**
   * Removes a version with all it holds, unless it is this one, was renewed since it was listed, or has an active generation
   * or one being built of another log than `logId`: resolves to whether it did.
   */
  removeVersion(listed: StoredVersion, logId: string): Promise<boolean>
  /** Removes the generations of this version that are not active and whose `since` is `graceMs` ago: resolves to their names. */
  prune(graceMs: number): Promise<readonly string[]>
}
