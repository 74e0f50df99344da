import type { AtLeast } from '../read-models/consistent-reads.ts'
import type { RangeAnswer, RangeQuery } from '../read-models/read-models.ts'
import type { PetStatus } from './pet.ts'

/** Answers range queries with documents that are surely all there are: `ConsistentReads` in production. */
export interface Reads {
  /**
   * Throws ServiceError read_model_rebuilding or read_model_unavailable rather than leave out a document, and
   * read_model_behind where it would not be up to `atLeast`.
   */
  range(query: RangeQuery, atLeast?: AtLeast): Promise<Pick<RangeAnswer, 'documents' | 'count' | 'last'>>
}

const statusIndexes: Readonly<Record<PetStatus, string>> = {
  available: 'status:available',
  pending: 'status:pending',
  sold: 'status:sold',
}

/** The name of the covering index of one status: written by the pets projection, read here. */
export function statusIndex(status: PetStatus): string {
  return statusIndexes[status]
}

export interface PageRequest {
  readonly status?: PetStatus | undefined
  /** Only pets with a greater id; 0 for the first page. */
  readonly after: number
  readonly limit: number
}

export interface Page {
  /** A JSON array of pets in ascending order of id. */
  readonly json: string
  /** The id after which the next page begins; undefined on the last one. */
  readonly next: number | undefined
}

/** The queries. Pets are given as the JSON text that is stored. */
export class PetReads {
  readonly #reads: Reads

  constructor(reads: Reads) {
    this.#reads = reads
  }

  /** Undefined when there is no such pet. Any int64 may be asked for. */
  async find(id: bigint, atLeast?: AtLeast): Promise<string | undefined> {
    if (id < 1n || id > Number.MAX_SAFE_INTEGER) return undefined // never assigned
    const { count, documents } = await this.#reads.range({ from: Number(id), to: Number(id), limit: 1 }, atLeast)
    return count === 0 ? undefined : documents
  }

  async page({ status, after, limit }: PageRequest, atLeast?: AtLeast): Promise<Page> {
    const index = status === undefined ? undefined : statusIndex(status)
    const { documents, last } = await this.#reads.range({ index, from: after + 1, limit }, atLeast)
    return { json: `[${documents}]`, next: last }
  }
}
