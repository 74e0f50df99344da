import type { Moment, ParkedAt, RangeQuery } from './generation.ts'
import type { KeyDecision } from './key-decision.ts'

/** How much there is in a generation, at one moment. */
export interface Contents {
  readonly moment: Moment
  readonly documents: Size
  readonly indexes: ReadonlyMap<string, Size>
  readonly counters: ReadonlyMap<string, number>
  /** How many events are parked. */
  readonly parked: number
  /** How many keys are decided. */
  readonly decisions: number
}

/** Of the documents, or of an index: how many there are, and how many were ever added. */
export interface Size {
  readonly held: number
  readonly added: number
}

/** Documents of a collection or index in ascending order of id, as they are stored, at one moment. */
export interface Entries {
  readonly moment: Moment
  /** Text: the document, in the whole collection followed by its tag. */
  readonly entries: readonly { readonly id: number; readonly text: string }[]
}

/** Some of the decisions of a generation, at one moment. */
export interface DecidedKeys {
  readonly moment: Moment
  readonly decisions: readonly KeyDecision[]
  /** Where to go on; undefined at the end. */
  readonly next: string | undefined
}

/** Some of the parked events of a generation, at one moment. */
export interface ParkedEvents {
  readonly moment: Moment
  readonly events: readonly ParkedAt[]
  /** Where to go on; undefined at the end. */
  readonly next: string | undefined
}

/** What is parked at one place, at one moment. */
export interface ParkedThere {
  readonly moment: Moment
  readonly event: ParkedAt | undefined
}

export type Place = Pick<ParkedAt, 'partition' | 'offset'>

/** Some parked events are no more once their values come to so many characters. */
export const parkedCharactersMax = 1_000_000

/** For operators and for `verify`. Answers undefined when the generation is not there. */
export interface Inspection {
  contents(generation: string): Promise<Contents | undefined>
  /** The first `limit` entries from the id `from` on. */
  entries(generation: string, query: Pick<RangeQuery, 'index' | 'from' | 'limit'>): Promise<Entries | undefined>
  /** About `limit` decisions, in no order; what is decided all the while comes at least once. `from`: '' to begin. */
  decisions(generation: string, from: string, limit: number): Promise<DecidedKeys | undefined>
  /**
   * Up to `limit` parked events, in no order, and fewer where they are large; what is parked all the while comes once.
   * `from`: '' to begin.
   */
  parked(generation: string, from: string, limit: number): Promise<ParkedEvents | undefined>
  parkedAt(generation: string, place: Place): Promise<ParkedThere | undefined>
}
