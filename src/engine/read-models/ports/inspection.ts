import type { Snapshot } from './generations.ts'

export interface Contents<SetSize = Size> {
  readonly snapshot: Snapshot
  /**
   * Sizes by `setName`, and by `textSets`: every set that has, or should have, entries, and possibly others. Empty only
   * if they are lost, or were recorded by a release with another layout.
   */
  readonly sizes: ReadonlyMap<string, SetSize>
}

export interface Size {
  /** The actual size; -1 of what is no set. */
  readonly actual: number
  /** NaN if it is damaged. */
  readonly recorded: number
}

/**
 * An entry of a set, as it is stored: in a collection the id of a document in decimal, and its JSON and what is behind
 * it, separated by NUL; in a set of an index the JSON alone, in a keyed one (`isKeyed`) under its `entryId`; in a set of
 * texts, id and text.
 */
export type Item = readonly [id: string, text: string]

export interface ScannedPage {
  readonly snapshot: Snapshot
  readonly items: readonly Item[]
  /** Where to continue; undefined at the end. */
  readonly next: string | undefined
}

export interface FoundItems {
  readonly snapshot: Snapshot
  /** For each id, the text stored under it. */
  readonly texts: readonly (string | undefined)[]
}

/** A page of anything but documents ends soon after its texts reach this many characters. */
export const scannedCharactersMax = 1_000_000

/**
 * For operators and for `verify`: each answer reflects one moment. Answers undefined if the generation does not exist.
 * Throws ServiceError read_model_unavailable if the store does not answer in time.
 */
export interface Inspection {
  /** On SQLite it counts every entry. */
  contents(generation: string): Promise<Contents | undefined>
  /** The recorded sizes of `contents`: counts nothing, so it costs the same however much is stored. */
  recorded(generation: string): Promise<Contents<number> | undefined>
  /**
   * About `limit` entries of a set, starting at the `next` of another page. An entry that exists all the time occurs at
   * least once. Documents occur once and in the order of their set, `limit` of them if there are as many.
   */
  scan(generation: string, set: string, from: string | undefined, limit: number): Promise<ScannedPage | undefined>
  find(generation: string, set: string, ids: readonly string[]): Promise<FoundItems | undefined>
}
