import type { Position } from '../event-log/event-log.ts'
import type { Checkpoints } from './generations.ts'
import type { IdempotencyKey, IdempotencyRecord } from './idempotency-record.ts'
import type { ParkedEvent } from './parked-event.ts'

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

/** Texts in ascending order of id. */
export interface Entries {
  readonly snapshot: Snapshot
  /** In a whole collection: JSON, version and, if it has one, row, with a NUL in between. In an index: JSON alone. */
  readonly entries: readonly { readonly id: number; readonly text: string }[]
}

/** Some of a set without order, in pages. */
export interface InspectedPage<Item> {
  readonly snapshot: Snapshot
  readonly items: readonly Item[]
  /** Where to go on; undefined at the end. */
  readonly next: string | undefined
}

/** A parked page ends once its values come to so many characters. */
export const parkedCharactersMax = 1_000_000

/**
 * For operators and for `verify`: each answer is of one moment. Answers undefined when the generation is not there.
 * Throws ServiceError read_model_unavailable when the store does not answer in time.
 */
export interface Inspection {
  contents(generation: string): Promise<Contents | undefined>
  /** The first `limit` entries of a set of documents from the id `from` on. */
  entries(generation: string, set: string, from: number, limit: number): Promise<Entries | undefined>
  /**
   * About `limit` rows of streams that no document shows, as stream and row text, in no order; what is there all the
   * while comes at least once. `from`: '' to begin.
   */
  rows(generation: string, from: string, limit: number): Promise<InspectedPage<readonly [string, string]> | undefined>
  /** About `limit` idempotency records, in no order; what is there all the while comes at least once. `from`: '' to begin. */
  keys(generation: string, from: string, limit: number): Promise<InspectedPage<IdempotencyRecord> | undefined>
  /**
   * Up to `limit` parked events, in no order, and fewer where they are large; what is parked all the while comes once.
   * `from`: '' to begin.
   */
  parked(generation: string, from: string, limit: number): Promise<InspectedPage<ParkedEvent> | undefined>
  parkedAt(
    generation: string,
    position: Position,
  ): Promise<{ readonly snapshot: Snapshot; readonly event: ParkedEvent | undefined } | undefined>
  /** What its partition decided under one key. */
  key(
    generation: string,
    key: IdempotencyKey,
  ): Promise<{ readonly snapshot: Snapshot; readonly record: IdempotencyRecord | undefined } | undefined>
  /** The row text of one stream that no document shows. */
  row(
    generation: string,
    stream: string,
  ): Promise<{ readonly snapshot: Snapshot; readonly row: string | undefined } | undefined>
}
