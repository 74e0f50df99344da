import type { Int64 } from '../lib/int64.ts'
import type { DocumentId } from '../read-models/document.ts'
import type { PageQuery } from '../read-models/stored-reads.ts'

export interface ListQuery {
  readonly status?: string | undefined
  /** Only documents with a greater id; 0 for the first page. */
  readonly after: number
  readonly limit: number
}

/** Undefined for an id that is never assigned: no such document exists. */
export function documentId(collection: string, id: Int64): DocumentId | undefined {
  return id >= 1 && id <= Number.MAX_SAFE_INTEGER ? { collection, id: Number(id) } : undefined
}

/** A page of all documents of a collection, or of those with a status. */
export function pageQuery(collection: string, { status, after, limit }: ListQuery): PageQuery {
  return { collection, index: status === undefined ? undefined : `status:${status}`, after, limit }
}
