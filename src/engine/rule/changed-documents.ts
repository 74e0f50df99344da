import type { ShownDocument } from '../definition/shown-documents.ts'
import type { DocumentId, StoredDocument } from '../read-models/document.ts'
import type { DocumentChange } from '../read-models/ports/projection.ts'

/** A document as it is stored, and as it will be. */
export interface ChangedDocument {
  readonly before: ShownDocument | undefined
  after: ShownDocument
}

export function isSame(one: DocumentId, other: DocumentId): boolean {
  return one.id === other.id && one.collection === other.collection
}

/** What the store is to change, where that of before had `was` behind it, and that of after has `is`; undefined if nothing. */
export function changeOf(
  document: ChangedDocument,
  was: string | undefined,
  is: string | undefined,
): DocumentChange | undefined {
  const before = withBehind(document.before, was)
  const after = withBehind(document.after, is)
  return isChanged(before, after) ? { before, after } : undefined
}

/** Undefined if the document is not shown, so that nothing is behind it. */
function withBehind(document: ShownDocument | undefined, behind: string | undefined): StoredDocument | undefined {
  return document === undefined || behind === undefined ? undefined : { ...document, behind }
}

function isChanged(before: StoredDocument | undefined, after: StoredDocument | undefined): boolean {
  if (before === undefined || after === undefined) return before !== after
  const isSameText = before.json === after.json && before.behind === after.behind
  return !isSameText || before.indexKeys.join('\0') !== after.indexKeys.join('\0')
}
