/** Identifies a document. */
export interface DocumentId {
  readonly collection: string
  /** 1..2^53 - 1, unique in its collection. */
  readonly id: number
}

/** The stored parts of a document. */
export interface StoredDocument extends DocumentId {
  /** JSON text that begins with `{"id":<id>` and has no NUL; returned unchanged. */
  readonly json: string
  /** The version of its stream at which the document last changed. Its ETag contains it. */
  readonly version: number
  /** The indexes of the collection that contain it too: each has a copy (covering indexes), ordered by id. */
  readonly indexes: readonly string[]
  /** The row of the stream that the document shows, whose `homeIdOf` is its id; undefined if it shows none. */
  readonly row: string | undefined
}

/**
 * The name of the set of all documents of a collection, or of those in one of its indexes. Names of collections contain
 * no colon, and differ from those in `otherSets`.
 */
export function setName(collection: string, index?: string): string {
  return index === undefined ? collection : `${collection}:${index}`
}

/** The sets that contain no documents; they have recorded sizes too. */
export const otherSets = ['rows', 'keys', 'parked'] as const

/** The documents in a comma-separated list. No text within a document looks like the beginning of one. */
export function documentsIn(list: string): { readonly id: number; readonly json: string }[] {
  if (list === '') return []
  return list.split(/,(?=\{"id":)/).map((json) => ({ id: idOf(json), json }))
}

/** The id of a document, from the beginning of its JSON. */
export function idOf(json: string): number {
  return Number.parseInt(json.slice('{"id":'.length), 10)
}
