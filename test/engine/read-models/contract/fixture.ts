import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'

/** The checkpoint of a partition, the recorded size of a set, or an entry of a set as `damage` names it. */
export type Piece =
  | { readonly checkpoint: number }
  | { readonly size: string }
  | { readonly set: string; readonly entry: number | string }

/** Data of its own for one test, and stores opened on it. Documents of the collection `seats` show streams. */
export interface ReadModelsFixture {
  /** Another store on the same data; of version `v1` unless told. */
  open(version?: string): Promise<ReadModelStore>
  /** Who hears of progress. Adapters differ here, and the suite holds each to what it declares. */
  readonly progressIsHeardBy: 'every store on the data' | 'the store that made it'
  /**
   * Whether a read tells that a set which it read has lost something, a look that any set of the active generation has,
   * and `apply` refuses a batch that is judged by it; inspection and activation always tell.
   */
  readonly provesSizes: boolean
  /** Takes everything out of the data behind the stores' backs. */
  empty(): Promise<void>
  /**
   * Takes one entry out of one set of version `v1` behind the stores' backs: out of a set of documents by its id, out of
   * a keyed one by its `entryId`, out of a set of texts by the id of the text.
   */
  damage(generation: string, set: string, entry: number | string): Promise<void>
  /**
   * Puts another text into a stored piece of version `v1` behind the stores' backs; into an entry of a collection JSON and
   * what is behind it, separated by NUL; into one of an index JSON.
   */
  overwrite(generation: string, piece: Piece, text: string): Promise<void>
  /**
   * Behind the stores' backs, sets back the clock of the store for what versions `v1` and `v2` have stored: whatever was
   * renewed, and whatever is the case since some time, is so much later than it was.
   */
  setClockBack(ms: number): Promise<void>
  /** Closes every store and removes the data. */
  remove(): Promise<void>
}

export interface ContractCase {
  readonly name: string
  check(fixture: ReadModelsFixture): Promise<void>
}

export interface ContractTopic {
  readonly topic: string
  readonly cases: readonly ContractCase[]
}

/** Cases by name, in the order written. */
export function topic(name: string, checks: Record<string, ContractCase['check']>): ContractTopic {
  return { topic: name, cases: Object.entries(checks).map(([name, check]) => ({ name, check })) }
}
