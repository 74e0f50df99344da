import type { Offset } from '../event-log/event-log.ts'
import type { Checkpoint } from './checkpoint.ts'

/**
 * Read models: documents, each under a numeric id, in the whole collection and in named indexes that hold a copy of
 * it (covering indexes), all ordered by id. Derived from the log: deleted, they come back identical.
 *
 * A store holds generations of one version of the read models (decision 0006). A generation is a complete set of
 * documents, indexes, counters, checkpoints and parked events; exactly one is active, and one more may be in the
 * making. Names are random and never used again.
 */
export interface Generation {
  readonly name: string
  /** The epoch of the log it is made from. */
  readonly epoch: string
}

/** An event that could not be applied, kept with everything needed to look into it. */
export interface ParkedEvent {
  readonly offset: Offset
  /** Events of one subject stay in order: once one is parked, those after it park behind it. */
  readonly subject: string
  readonly reason: string
  /** The record value as text. */
  readonly value: string
}

export interface ParkedAt extends ParkedEvent {
  readonly partition: number
}

/** Documents with `from` <= id <= `to` in ascending order of id, the first `limit` (1 or more) of them. */
export interface RangeQuery {
  /** Every document, or those of one index. */
  readonly index?: string | undefined
  readonly from: number
  readonly to?: number | undefined
  readonly limit: number
}

/** The state of a store at one moment. Answers read at the same one may share the object. */
export interface Moment {
  readonly active: string | undefined
  /** Of the generation that was read; empty when it is not there. */
  readonly checkpoints: ReadonlyMap<number, Checkpoint>
}
