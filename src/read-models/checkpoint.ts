import type { Offset } from '../event-log/event-log.ts'

/** How far one partition is projected into a generation, and what became of its records. */
export interface Checkpoint {
  /** The offset of the next record to handle. */
  readonly next: Offset
  /** The last record handled: its offset and identity, by which another log under the same name is recognised. */
  readonly last: { readonly offset: Offset; readonly identity: string } | null
  readonly counts: Counts
}

/** Records by outcome (docs/events.md). Together they are as many as the records handled. */
export interface Counts {
  readonly applied: number
  readonly duplicate: number
  readonly superseded: number
  /** Parked now: an event that is taken up or discarded later leaves this count for another one. */
  readonly parked: number
  readonly discarded: number
  readonly skipped: number
}

export const noRecords: Counts = { applied: 0, duplicate: 0, superseded: 0, parked: 0, discarded: 0, skipped: 0 }

/** Before the first record. A store keeps nothing for it. */
export const startOfPartition: Checkpoint = { next: 0, last: null, counts: noRecords }

/**
 * The stored form. A store moves a checkpoint by comparing this text with what the projector expects, so all of it,
 * the counts too, takes part in the comparison; the order of the fields is fixed here.
 */
export function encodeCheckpoint({ next, last, counts }: Checkpoint): string {
  const { applied, duplicate, superseded, parked, discarded, skipped } = counts
  const position = [next, last?.offset ?? null, last?.identity ?? null]
  return JSON.stringify([...position, applied, duplicate, superseded, parked, discarded, skipped])
}

export function decodeCheckpoint(text: string): Checkpoint {
  const fields: unknown = JSON.parse(text)
  if (!Array.isArray(fields)) throw new Error(`not a checkpoint: ${text}`)
  const [next, offset, identity, ...counted] = fields
  return { next, last: offset === null ? null : { offset, identity }, counts: decodeCounts(counted) }
}

function decodeCounts(counted: readonly number[]): Counts {
  if (counted.length === 4) {
    // The release before this one: operators see how far its generations are.
    const [applied = 0, duplicate = 0, parked = 0, skipped = 0] = counted
    return { ...noRecords, applied, duplicate, parked, skipped }
  }
  if (counted.length !== 6) throw new Error(`not the counts of a checkpoint: ${counted}`)
  const [applied = 0, duplicate = 0, superseded = 0, parked = 0, discarded = 0, skipped = 0] = counted
  return { applied, duplicate, superseded, parked, discarded, skipped }
}
