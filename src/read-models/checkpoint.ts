import type { Offset } from '../event-log/event-log.ts'

/** How far one partition is projected into a generation, and what became of its records. */
export interface Checkpoint {
  /** The offset of the next record to handle. */
  readonly next: Offset
  /** The last record handled: its offset and identity, by which another log under the same name is recognised. */
  readonly last: { readonly offset: Offset; readonly identity: string } | null
  /** Records by outcome (design section 4). */
  readonly applied: number
  readonly dropped: number
  readonly parked: number
  readonly skipped: number
}

/** Before the first record. A store keeps nothing for it. */
export const startOfPartition: Checkpoint = { next: 0, last: null, applied: 0, dropped: 0, parked: 0, skipped: 0 }

/**
 * The stored form. A store moves a checkpoint by comparing this text with what the projector expects, so all of it,
 * the counts too, takes part in the comparison; the order of the fields is fixed here.
 */
export function encodeCheckpoint({ next, last, applied, dropped, parked, skipped }: Checkpoint): string {
  return JSON.stringify([next, last?.offset ?? null, last?.identity ?? null, applied, dropped, parked, skipped])
}

export function decodeCheckpoint(text: string): Checkpoint {
  const fields: unknown = JSON.parse(text)
  if (!Array.isArray(fields) || fields.length !== 7) throw new Error(`not a checkpoint: ${text}`)
  const [next, offset, identity, applied, dropped, parked, skipped] = fields
  return { next, last: offset === null ? null : { offset, identity }, applied, dropped, parked, skipped }
}
