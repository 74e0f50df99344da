import type { Offset } from '../log/event-log.ts'

/** How far one partition is projected into a generation, and the outcomes of its records. */
export interface Checkpoint {
  /** The offset of the next record to handle. */
  readonly next: Offset
  /** The last record handled: its offset and identity, which reveal another log under the same name. */
  readonly last: { readonly offset: Offset; readonly identity: string } | null
  readonly counts: Counts
}

/** Records by outcome (docs/events.md). Their sum is the number of records handled. */
export interface Counts {
  readonly applied: number
  readonly duplicate: number
  readonly superseded: number
  /** Events that are parked now: an event that is applied or discarded later moves to another count. */
  readonly parked: number
  readonly discarded: number
  readonly skipped: number
}

export const noRecords: Counts = { applied: 0, duplicate: 0, superseded: 0, parked: 0, discarded: 0, skipped: 0 }

/** The checkpoint before the first record. A store keeps nothing for it. */
export const startOfPartition: Checkpoint = { next: 0, last: null, counts: noRecords }

/**
 * The stored form. A store moves a checkpoint by comparing this text with what the projector expects, so all of it
 * takes part in the comparison, including the counts. The order of the fields is fixed here.
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
  if (!Number.isSafeInteger(next)) throw new Error(`not a checkpoint: ${text}`)
  return { next, last: offset === null ? null : { offset, identity }, counts: decodeCounts(counted) }
}

function decodeCounts(counted: readonly number[]): Counts {
  if (counted.length === 4) {
    // Written by the previous release: operators see how far its generations are.
    const [applied = 0, duplicate = 0, parked = 0, skipped = 0] = counted
    return { ...noRecords, applied, duplicate, parked, skipped }
  }
  if (counted.length !== 6) throw new Error(`not the counts of a checkpoint: ${counted}`)
  const [applied = 0, duplicate = 0, superseded = 0, parked = 0, discarded = 0, skipped = 0] = counted
  return { applied, duplicate, superseded, parked, discarded, skipped }
}
