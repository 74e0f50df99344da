import type { ReadModels } from '../../../src/read-models/read-models.ts'

/** Data of its own for one test, and stores opened on it. */
export interface ReadModelsFixture {
  /** Another store on the same data; of version `v1` unless told. */
  open(version?: string): Promise<ReadModels>
  /** Who hears of progress. Adapters differ here, and the suite holds each to what it declares. */
  readonly progressIsHeardBy: 'every store on the data' | 'the store that made it'
  /** Takes everything out of the data behind the stores' backs. */
  empty(): Promise<void>
  /**
   * Takes a document of version `v1` out of the whole collection, or out of one index alone, behind the stores' backs.
   * Cases that need it check nothing where an adapter's test does not offer it.
   */
  damage?(generation: string, id: number, index?: string): Promise<void>
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
