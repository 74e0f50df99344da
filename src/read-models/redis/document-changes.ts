import { type StoredDocument, setName } from '../document.ts'
import type { DocumentPut } from '../projection-store.ts'

/** What a batch does to the sorted sets of documents. */
export interface DocumentChanges {
  /** Documents as they are to be, and as they were. */
  readonly after: readonly StoredDocument[]
  readonly before: readonly StoredDocument[]
  readonly sets: readonly SetChanges[]
  /** New documents, of one collection each and in order of id: which of the sets, and places in `after`, all from 1. */
  readonly created: readonly { readonly set: number; readonly first: number; readonly last: number }[]
}

interface SetChanges {
  readonly name: string
  /** Whether members have version and row behind the JSON text: those of a collection. */
  readonly isWhole: boolean
  /** Places in `after`. */
  readonly added: number[]
  /** Places in `before`. */
  readonly removed: number[]
}

export function documentChanges(puts: readonly DocumentPut[]): DocumentChanges {
  const [after, before]: [StoredDocument[], StoredDocument[]] = [[], []]
  const sets: SetChanges[] = []
  const known = new Map<string, Map<string | undefined, SetChanges>>()
  function changesOf(collection: string, index?: string): SetChanges {
    const ofCollection = known.get(collection) ?? new Map<string | undefined, SetChanges>()
    const changes = ofCollection.get(index)
    if (changes !== undefined) return changes
    const first = { name: setName(collection, index), isWhole: index === undefined, added: [], removed: [] }
    sets.push(first)
    known.set(collection, ofCollection.set(index, first))
    return first
  }
  function create(document: StoredDocument): void {
    const place = after.push(document) - 1
    changesOf(document.collection).added.push(place)
    for (const index of document.indexes) changesOf(document.collection, index).added.push(place)
  }
  /** A member that stays as it is, is neither removed nor added. */
  function change(from: StoredDocument, to: StoredDocument): void {
    const [added, removed] = [after.push(to) - 1, before.push(from) - 1]
    const isSame = from.json === to.json
    const replaced = isSame && from.version === to.version && from.row === to.row ? [] : [undefined]
    for (const index of [...replaced, ...from.indexes.filter((index) => !(isSame && to.indexes.includes(index)))]) {
      changesOf(from.collection, index).removed.push(removed)
    }
    for (const index of [...replaced, ...to.indexes.filter((index) => !(isSame && from.indexes.includes(index)))]) {
      changesOf(to.collection, index).added.push(added)
    }
  }

  const created = [...Map.groupBy(puts, ({ before, after }) => (before ? undefined : after.collection))].flatMap(
    ([collection, group]) => {
      if (collection === undefined) return []
      const first = after.length + 1
      for (const document of group.map((put) => put.after).sort((a, b) => a.id - b.id)) create(document)
      return { set: sets.indexOf(changesOf(collection)) + 1, first, last: after.length }
    },
  )
  for (const put of puts) {
    if (put.before !== undefined) change(put.before, put.after)
  }
  return { after, before, sets, created }
}
