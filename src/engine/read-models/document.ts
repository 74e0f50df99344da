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
  /** Where the indexes of the collection have a copy of it (covering indexes). */
  readonly indexKeys: readonly IndexKey[]
  /**
   * What follows the JSON in the set of all documents, text without NUL: the row of the stream that the document shows
   * (`StreamNames.streamOf`), or a mark (`PlacedRow`); if it shows none, the name of its stream.
   */
  readonly behind: string
}

/**
 * Where an index has documents. `status:available`: the filter is an enumeration, and each value has a set of its own,
 * ordered by id. `categoryId=1:7available `: the filter has any value, and one set, ordered by what is behind the `=`, then
 * by id; none of these texts is the beginning of another.
 */
export type IndexKey = string

/**
 * The name of the set of all documents of a collection, or of one that an index key is in. Names of collections contain
 * no colon, and differ from those in `textSets`.
 */
export function setName(collection: string, indexKey?: IndexKey): string {
  if (indexKey === undefined) return collection
  const beginning = beginningOf(indexKey)
  return `${collection}:${beginning === undefined ? indexKey : indexKey.slice(0, indexKey.length - beginning.length)}`
}

/** What entries under the key begin with, in a set that is ordered by it; undefined where the set is ordered by id. */
export function beginningOf(indexKey: IndexKey): string | undefined {
  const end = indexKey.search(/[:=]/)
  return indexKey[end] === '=' ? indexKey.slice(end + 1) : undefined
}

/** Whether a set of documents is ordered by index keys: its entries are `entryId` and JSON. */
export function isKeyed(set: string): boolean {
  return /^[^:]*:[^:]*=$/.test(set)
}

/** What an entry of a keyed set is named by. */
export function entryId(beginning: string, id: number): string {
  return `${beginning}${String(id).padStart(idDigits, '0')}`
}

const idDigits = 16

/** What an entry was named for; undefined if it is the name of none. */
export function namedBy(entry: string): readonly [beginning: string, id: number] | undefined {
  const digits = entry.slice(-idDigits)
  return /^\d{16}$/.test(digits) ? [entry.slice(0, -idDigits), Number(digits)] : undefined
}

/**
 * The sets that contain no documents but texts by id; they have recorded sizes too.
 * - `rows`: the stream; `encodeRow`, of a stream that no document shows, or with a long hidden state
 * - `keys`: `keyId`; `encodeIdempotencyRecord`
 * - `history`: `chunkId`; entries as `encodeEntry` writes them, separated by commas
 * - `parked`: the stream; `encodeParkedStream`
 * - `waiting`: `chunkId`; `encodeOffsets`
 */
export const textSets = ['rows', 'keys', 'history', 'parked', 'waiting'] as const
export type TextSet = (typeof textSets)[number]

export function isTextSet(set: string): set is TextSet {
  return textSets.some((each) => each === set)
}

/**
 * The layout of what every store keeps: raised with any change of `setName`, `textSets`, or what stands in them. It is
 * part of the version of the read models: releases with different layouts never read or fill the same ones.
 */
export const storedLayout = 2

/** The documents in a comma-separated list. No text within a document looks like the beginning of one. */
export function documentsIn(list: string): { readonly id: number; readonly json: string }[] {
  if (list === '') return []
  return list.split(/,(?=\{"id":)/).map((json) => ({ id: idOf(json), json }))
}

/** The id of a document, from the beginning of its JSON. */
export function idOf(json: string): number {
  return Number.parseInt(json.slice('{"id":'.length), 10)
}
