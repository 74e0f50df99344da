/** A document is found by these two. */
export interface DocumentId {
  readonly collection: string
  /** 1..2^53 - 1, unique in its collection. */
  readonly id: number
}

/** What is stored of a document. */
export interface StoredDocument extends DocumentId {
  /** JSON text that begins with `{"id":<id>` and has no NUL; given back as it is. */
  readonly json: string
  /** The version of its stream at which the document last changed: what its ETag is made of. */
  readonly version: number
  /** The indexes of the collection that hold it too: each has a copy (covering indexes), ordered by id. */
  readonly indexes: readonly string[]
  /** The row of the stream that the document shows, `homeIdOf` of which is its id; undefined where it shows none. */
  readonly row: string | undefined
}

/**
 * The name of the set of all documents of a collection, or of those in one of its indexes. Collections have no colon in
 * their names, and none of the names in `otherSets`.
 */
export function setName(collection: string, index?: string): string {
  return index === undefined ? collection : `${collection}:${index}`
}

/** The sets that are no sets of documents: they have a recorded size as well. */
export const otherSets = ['rows', 'keys', 'parked'] as const

/** The documents in a list of them, separated by commas. No text within a document looks like the beginning of one. */
export function documentsIn(list: string): { readonly id: number; readonly json: string }[] {
  if (list === '') return []
  return list.split(/,(?=\{"id":)/).map((json) => ({ id: idOf(json), json }))
}

/** The id of a document, by the beginning of its JSON. */
export function idOf(json: string): number {
  return Number.parseInt(json.slice('{"id":'.length), 10)
}
