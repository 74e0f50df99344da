import type { Offset, Recorded } from '../event-log/event-log.ts'
import type { Batch } from '../read-models/projection-store.ts'
import { encodeRow, homeIdOf, offsetsKept, type StreamId, type StreamRow } from '../read-models/stream-row.ts'
import type { Document, StreamDefinition } from './definition.ts'

type Lists = Pick<Batch, 'documents' | 'rows' | 'rowsShown'>
export type StreamChanges = { readonly [List in keyof Lists]: Lists[List][number][] }

/** One stream while a batch is classified. Its state is folded in memory, so that many events are one change. */
export class StreamState<State, Event> {
  readonly #definition: StreamDefinition<State, Event>
  readonly #stream: StreamId
  readonly #homeId: number | undefined
  readonly #row: StreamRow | undefined
  version: number
  readonly #offsets: Offset[]
  #state: State
  #shown: readonly Document[]
  /** Each document that the row or an event of the batch shows: as stored, and as it will be. */
  readonly #documents: { readonly before: Document | undefined; after: Document }[]
  #isChanged = false

  /** `row` is undefined if no event of the stream has taken effect yet. */
  constructor(definition: StreamDefinition<State, Event>, stream: StreamId, row: StreamRow | undefined) {
    this.#definition = definition
    this.#stream = stream
    this.#homeId = homeIdOf(stream)
    this.#row = row
    this.version = row?.version ?? 0
    this.#offsets = row?.offsets.slice() ?? []
    this.#state = row === undefined ? definition.initialState : definition.codec.read(row)
    this.#shown = row === undefined ? [] : this.#show(this.#state)
    this.#documents = this.#shown.map((document) => ({ before: document, after: document }))
  }

  /** Whether the row or an event of the batch shows the document. */
  hasShown(document: Document): boolean {
    return this.#documents.some(({ after }) => isSame(after, document))
  }

  /**
   * Applies the event at `offset`. Throws, having changed nothing, if the event cannot follow or be shown, or if
   * `admit` throws. `admit` is called with each document that the previous state did not show, except the home
   * document.
   */
  apply(recorded: Recorded<Event>, offset: Offset, admit: (added: readonly Document[]) => void): void {
    const state = this.#definition.evolve(this.#state, recorded)
    const documents = this.#show(state)
    const isShown = (document: Document) => this.#shown.some((each) => isSame(each, document))
    admit(documents.filter((document) => !this.#isHome(document) && !isShown(document)))
    for (const document of documents) {
      const known = this.#documents.find(({ after }) => isSame(after, document))
      if (known !== undefined) known.after = document
      else this.#documents.push({ before: undefined, after: document })
    }
    this.#state = state
    this.#shown = documents
    this.#offsets.push(offset)
    if (this.#offsets.length > offsetsKept) this.#offsets.shift()
    this.passOver()
  }

  /** The next event takes its version, without any other effect. */
  passOver(): void {
    this.version++
    this.#isChanged = true
  }

  /** Adds the changes for the store. The row is stored with the home document, if there is one. */
  addChanges({ documents, rows, rowsShown }: StreamChanges): void {
    if (!this.#isChanged) return
    const hidden = this.#definition.codec.hidden(this.#state)
    const row = encodeRow({ version: this.version, offsets: this.#offsets, hidden })
    const rowBefore = this.#row && encodeRow(this.#row)
    const home = this.#documents.find(({ after }) => this.#isHome(after))
    if (home === undefined) rows.push({ stream: this.#stream, row })
    else if (home.before === undefined && rowBefore !== undefined) rowsShown.push(this.#stream)
    for (const document of this.#documents) {
      const { before, after } = document
      if (document === home) {
        documents.push({ before: before && { ...before, row: rowBefore }, after: { ...after, row } })
      } else if (isChanged(before, after)) {
        documents.push({ before: before && { ...before, row: undefined }, after: { ...after, row: undefined } })
      }
    }
  }

  /** Whether this is the document that shows the stream, and stores its row. */
  #isHome({ collection, id }: Document): boolean {
    return id === this.#homeId && collection === this.#definition.home
  }

  #show(state: State): readonly Document[] {
    // A loop, since `flatMap` makes classifying 5 % slower.
    const documents: Document[] = []
    for (const projection of this.#definition.projections) documents.push(...projection.documents(state))
    return documents
  }
}

function isSame(one: Document, other: Document): boolean {
  return one.id === other.id && one.collection === other.collection
}

function isChanged(before: Document | undefined, after: Document): boolean {
  if (before?.version !== after.version || before.json !== after.json) return true
  return before.indexes.join('\0') !== after.indexes.join('\0')
}
