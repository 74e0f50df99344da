import type { Checkpoints } from './generations.ts'

/** When something was read: in one atomic step with it. */
export interface Snapshot {
  /** The name of the active generation. */
  readonly active: string | undefined
  /** The checkpoints of the generation that was read. */
  readonly checkpoints: Checkpoints
}

export interface Contents {
  readonly snapshot: Snapshot
  /** Sizes by `setName`, and by `otherSets`: every set that has or should have anything in it, and maybe others. */
  readonly sizes: ReadonlyMap<string, Size>
}

export interface Size {
  /** Counted. */
  readonly actual: number
  readonly recorded: number
}

/**
 * Something in a set, as it is stored:
 * - in a collection the id of a document in decimal, and JSON, version and, if it has one, row, with a NUL in between;
 *   in an index the JSON alone
 * - in `rows` a stream that no document shows, and its row text
 * - in `keys` `<partition>/<idempotency key>`, and what `encodeIdempotencyRecord` gives
 * - in `parked` what `parkedId` and `encodeParkedEvent` give
 */
export type Item = readonly [id: string, text: string]

export interface ScannedPage {
  readonly snapshot: Snapshot
  readonly items: readonly Item[]
  /** Where to go on; undefined at the end. */
  readonly next: string | undefined
}

export interface FoundTexts {
  readonly snapshot: Snapshot
  /** For each id what is stored under it. */
  readonly texts: readonly (string | undefined)[]
}

/** A page of anything but documents ends soon after its texts come to so many characters. */
export const scannedCharactersMax = 1_000_000

/**
 * For operators and for `verify`: each answer is of one moment. Answers undefined when the generation is not there.
 * Throws ServiceError read_model_unavailable when the store does not answer in time.
 */
export interface Inspection {
  contents(generation: string): Promise<Contents | undefined>
  /**
   * About `limit` items of a set, from the `next` of another page on. What is there all the while comes at least once;
   * documents come once and in ascending order of id, `limit` of them where there are as many.
   */
  scan(generation: string, set: string, from: string | undefined, limit: number): Promise<ScannedPage | undefined>
  find(generation: string, set: string, ids: readonly string[]): Promise<FoundTexts | undefined>
}
