import { type DocumentId, type IndexKey, isKeyed, setName } from '../document.ts'
import type { Batch, DocumentChange } from '../ports/projection.ts'
import { type DocumentSet, type KeyedSet, placeOf } from './document-sets.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

/** The documents assumed to be new that exist. */
export function changeDocuments(
  database: SqliteDatabase,
  generation: number,
  changes: Batch['documents'],
): DocumentId[] {
  const sets = new ChangedSets(database, generation)
  const refused = changes.flatMap((change) => changeDocument(change, sets) ?? [])
  sets.recordSizes()
  return refused
}

/** The document if it was assumed to be new, but exists. */
function changeDocument({ before, after }: DocumentChange, sets: ChangedSets): DocumentId | undefined {
  if (after === undefined) {
    if (before === undefined) return undefined
    leave(sets.whole(before.collection), [before.id])
    for (const key of before.indexKeys) leave(sets.index(before.collection, key), placeOf(key, before.id))
    return undefined
  }
  const { collection, id, json, behind, indexKeys } = after
  const whole = sets.whole(collection)
  if (before === undefined) {
    if (whole.documents.insert.run(id, json, behind).changes === 0) return { collection, id }
    whole.added++
  } else whole.documents.put.run(id, json, behind)
  for (const key of before?.indexKeys ?? []) {
    if (!indexKeys.includes(key)) leave(sets.index(collection, key), placeOf(key, id))
  }
  for (const key of indexKeys) {
    const isJoined = !before?.indexKeys.includes(key)
    if (!isJoined && before?.json === json) continue
    const covering = sets.index(collection, key)
    covering.documents.putCopy.run(...placeOf(key, id), json)
    if (isJoined) covering.added++
  }
  return undefined
}

function leave(set: ChangedSet, place: readonly (string | number)[]): void {
  set.documents.remove.run(...place)
  set.added--
}

interface ChangedSet<Documents = DocumentSet | KeyedSet> {
  readonly documents: Documents
  added: number
}

/** The sets that a batch changes, each looked up once. */
class ChangedSets {
  readonly #database: SqliteDatabase
  readonly #generation: number
  readonly #wholes = new Map<string, ChangedSet<DocumentSet>>()
  readonly #indexes = new Map<string, ChangedSet>()

  constructor(database: SqliteDatabase, generation: number) {
    this.#database = database
    this.#generation = generation
  }

  whole(collection: string): ChangedSet<DocumentSet> {
    return found(this.#wholes, collection, () => this.#database.documents(this.#keyOf(collection)))
  }

  index(collection: string, indexKey: IndexKey): ChangedSet {
    const name = setName(collection, indexKey)
    return found(this.#indexes, name, () => {
      const key = this.#keyOf(name)
      return isKeyed(name) ? this.#database.keyed(key) : this.#database.documents(key)
    })
  }

  recordSizes(): void {
    for (const { documents, added } of [...this.#wholes.values(), ...this.#indexes.values()])
      this.#database.run`UPDATE collection SET size = size + ${added} WHERE key = ${documents.key}`
  }

  #keyOf(name: string): number {
    return this.#database.setKey(this.#generation, name) ?? this.#database.createSet(this.#generation, name)
  }
}

function found<Documents>(
  all: Map<string, ChangedSet<Documents>>,
  name: string,
  look: () => Documents,
): ChangedSet<Documents> {
  const set = all.get(name) ?? { documents: look(), added: 0 }
  all.set(name, set)
  return set
}
