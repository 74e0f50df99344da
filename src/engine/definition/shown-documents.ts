import type { AnyEvent, Document } from '../door/stream.ts'
import type { IndexKey } from '../read-models/document.ts'
import type { StreamDefinition } from './kinds.ts'

/** A document that is shown. */
export interface ShownDocument {
  readonly collection: string
  readonly id: number
  readonly json: string
  readonly indexKeys: readonly IndexKey[]
}
/** As a state shows it; `json` is null where the document is removed. */
export type Shown = ShownDocument | (Omit<ShownDocument, 'json'> & { readonly json: null })

export function isThere(document: Shown): document is ShownDocument {
  return document.json !== null
}

/** Throws if the document is removed, which only that of the stream itself can be. */
export function toBeThere(document: Shown): ShownDocument {
  if (isThere(document)) return document
  throw new Error(`${document.collection} ${document.id} is not the document of the stream, and cannot be removed`)
}

/** The documents of a state. Throws if one of them cannot be stored, or two are the same one. */
export function documentsOf<State, Event extends AnyEvent>(
  { stream: { projections }, indexKeysOf }: StreamDefinition<State, unknown, Event>,
  state: State,
): readonly Shown[] {
  // Loops, since `flatMap` makes classifying 5 % slower.
  const documents: Shown[] = []
  for (const projection of projections) {
    for (const document of projection.documents(state)) {
      checkForm(document)
      if (documents.some(({ id, collection }) => id === document.id && collection === document.collection))
        throw new Error(`${document.collection} ${document.id} is shown twice`)
      const { collection, id, json } = document
      documents.push({ collection, id, json, indexKeys: indexKeysOf(document) })
    }
  }
  return documents
}

/** A document that began otherwise would be served under another id, or not be told from its neighbour. */
function checkForm({ collection, id, json }: Document): void {
  if (json === null) return
  const beginning = `{"id":${id}`
  const isOfId = json.startsWith(beginning) && (json[beginning.length] === ',' || json[beginning.length] === '}')
  if (!Number.isSafeInteger(id) || id < 1 || !isOfId)
    throw new Error(`${collection} ${id} does not begin with its id: ${json.slice(0, 40)}`)
  if (json.includes('\0')) throw new Error(`${collection} ${id} contains NUL`)
}
