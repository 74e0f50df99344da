import type { Generation } from './generation.ts'

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

/**
 * The life of generations and versions (decision 0015). A version of the read models is made of the versions of their
 * projections; each has generations of its own, which no other version touches.
 */
export interface Upkeep {
  /** Those of this version: the active one, if any, first. */
  generations(): Promise<readonly StoredGeneration[]>
  /**
   * Has `generation` built, empty, beside the active one; or goes on with the one of the same epoch that is being built
   * already: resolves to whichever it is. One of another epoch that was being built is removed.
   */
  build(generation: Generation): Promise<Generation>
  /**
   * Makes the generation being built the active one, in one atomic step, and tells every listener. Refused, with nothing
   * changed: `not_building` also when the active one is made from another log, so that positions say nothing; `behind`
   * when a partition of the active generation is further; `incomplete` when the generation holds another number of
   * documents, or of entries in an index, than were added.
   */
  activate(name: string): Promise<'activated' | 'behind' | 'incomplete' | 'not_building'>
  /** Removes a generation that is not the active one, with all it holds: resolves to whether it did. */
  remove(name: string): Promise<boolean>
  /** Marks this version as in use now. */
  renew(): Promise<void>
  /** Every version that was renewed and not pruned since. */
  versions(): Promise<readonly StoredVersion[]>
  /**
   * Removes the other versions that were not renewed for `graceMs`, with all they hold, and the generations of this one
   * that are not active and whose `since` is as long ago: resolves to what was removed, as 'version' or 'version/generation'.
   */
  prune(graceMs: number): Promise<readonly string[]>
}
