import type { StreamDefinition } from '../definition/definition.ts'
import { documentsOf, type Shown, type ShownDocument } from '../definition/shown-documents.ts'
import type { AnyEvent, Recorded } from '../definition/stream.ts'
import type { DocumentId, StoredDocument } from '../read-models/document.ts'
import type { DocumentChange } from '../read-models/store.ts'
import { encodeRow, homeIdOf, type StreamId, type StreamRow } from '../read-models/stored-texts.ts'
import { chunkId, chunksOf, versionsPerChunk } from '../read-models/stream-history.ts'

/** `TextChanges` being collected. */
export type TextEdits = { readonly put: (readonly [id: string, text: string])[]; readonly removed: string[] }

/** The changes of the streams in a batch, being collected. */
export interface StreamEdits {
  readonly documents: DocumentChange[]
  readonly rows: TextEdits
  readonly history: TextEdits
}

/** Characters of a state, besides the home document: each command of the stream loads them. */
const stateMax = 16 * 1024

/** A document as it is stored, and as it will be. */
interface ChangedDocument {
  readonly before: ShownDocument | undefined
  after: ShownDocument
}

/** One stream while a batch is classified. Its state is folded in memory, so that many events are one change. */
export class StreamState<State, Event extends AnyEvent> {
  readonly #definition: StreamDefinition<State, unknown, Event>
  readonly #stream: StreamId
  readonly #homeId: number | undefined
  readonly #row: StreamRow | undefined
  version: number
  /** The entries of all versions behind the chunks of the row. */
  readonly #entries: string[]
  #state: State
  /** What is stored of the state besides the home document. */
  #hidden: string
  #isRemoved: boolean
  /** What the state shows now besides the home document. */
  #shown: readonly ChangedDocument[]
  /** Those that the row or an event of the batch shows. */
  readonly #documents: ChangedDocument[]
  readonly #stored: readonly ShownDocument[]
  #home: ChangedDocument | undefined
  #isChanged = false

  /** `row` is undefined if no event of the stream has taken effect yet. */
  constructor(definition: StreamDefinition<State, unknown, Event>, stream: StreamId, row: StreamRow | undefined) {
    this.#definition = definition
    this.#stream = stream
    this.#homeId = homeIdOf(stream)
    this.#row = row
    this.version = row?.version ?? 0
    this.#entries = row?.entries.slice() ?? []
    this.#state = row === undefined ? definition.stream.initial : definition.codec.read(row)
    this.#hidden = row?.hidden ?? ''
    this.#isRemoved = row?.isRemoved ?? false
    this.#stored = row === undefined ? [] : documentsOf(definition, this.#state).filter(isThere)
    this.#documents = this.#stored.map((document) => ({ before: document, after: document }))
    this.#home = this.#documents.find(({ after }) => this.#isHome(after))
    this.#shown = this.#documents.filter((each) => each !== this.#home)
  }

  /** Whether the row shows the document. */
  hasShown(document: DocumentId): boolean {
    return this.#stored.some((stored) => isSame(stored, document))
  }

  /**
   * Applies the event that has this entry. Throws, having changed nothing, if the event cannot follow or be shown, or if
   * `admit` throws. `admit` is called with each document that the previous state did not show, except the home
   * document.
   */
  apply(recorded: Recorded<Event>, entry: string, admit: (added: readonly ShownDocument[]) => void): void {
    const state = this.#definition.stream.evolve(this.#state, recorded)
    let home: Shown | undefined
    const others: { readonly known: ChangedDocument | undefined; readonly document: ShownDocument }[] = []
    for (const document of documentsOf(this.#definition, state)) {
      if (this.#isHome(document)) home = document
      else {
        const known = this.#shown.find(({ after }) => isSame(after, document))
        others.push({ known, document: toBeThere(document) })
      }
    }
    if (this.#isRemoved && home !== undefined && isThere(home))
      throw new Error(`${home.collection} ${home.id} is removed`)
    const hidden = this.#hiddenOf(state, home)
    admit(others.flatMap(({ known, document }) => (known === undefined ? document : [])))
    this.#state = state
    this.#hidden = hidden
    this.#shown = others.map(({ known, document }) => this.#put(known, document))
    if (home !== undefined && isThere(home)) this.#home = this.#put(this.#home, home)
    else if (home !== undefined) this.#isRemoved = true
    this.passOver(entry)
  }

  /** The event that has this entry takes the next version, without any other effect. */
  passOver(entry: string): void {
    this.#entries.push(entry)
    this.version++
    this.#isChanged = true
  }

  /** Adds the changes for the store. The row is stored with the home document, if there is one. */
  addChanges({ documents, rows, history }: StreamEdits): void {
    if (!this.#isChanged) return
    const row = this.#addHistory(history)
    const wasShown = this.#home?.before !== undefined
    const isShown = this.#home !== undefined && !this.#isRemoved
    if (!isShown) rows.put.push([this.#stream, row])
    else if (!wasShown && this.#row !== undefined) rows.removed.push(this.#stream)
    for (const document of this.#documents) {
      const { before, after } = document
      if (document === this.#home) {
        const stored = before && this.#row && { ...before, behind: encodeRow(this.#row) }
        const changed = isShown ? { ...after, behind: row } : undefined
        if (stored !== undefined || changed !== undefined) documents.push({ before: stored, after: changed })
      } else if (before === undefined || isChanged(before, after)) {
        documents.push({ before: before && this.#ofStream(before), after: this.#ofStream(after) })
      }
    }
  }

  /** Adds the chunks that the stream has from now on. Returns its row. */
  #addHistory(history: TextEdits): string {
    const [first, end] = [chunksOf(this.#row?.version ?? 0), chunksOf(this.version)]
    for (let chunk = first; chunk < end; chunk++) {
      const at = (chunk - first) * versionsPerChunk
      const entries = this.#entries.slice(at, at + versionsPerChunk)
      history.put.push([chunkId(this.#stream, chunk), entries.join(',')])
    }
    const entries = first === end ? this.#entries : this.#entries.slice((end - first) * versionsPerChunk)
    return encodeRow({ version: this.version, isRemoved: this.#isRemoved, entries, hidden: this.#hidden })
  }

  /** Throws if the state cannot be stored. */
  #hiddenOf(state: State, home: Shown | undefined): string {
    const shown = home ?? (this.#isRemoved ? undefined : this.#home?.after)
    const hidden = this.#definition.codec.hidden(state, shown?.json ?? undefined)
    if (hidden.length > stateMax) throw new Error(`the state has more than ${stateMax} characters`)
    if (hidden.includes('\0')) throw new Error('the state contains NUL')
    return hidden
  }

  #ofStream(document: ShownDocument): StoredDocument {
    return { ...document, behind: this.#stream }
  }

  #put(known: ChangedDocument | undefined, document: ShownDocument): ChangedDocument {
    if (known !== undefined) {
      known.after = document
      return known
    }
    const added = { before: undefined, after: document }
    this.#documents.push(added)
    return added
  }

  /** Whether this is the document that shows the stream, and stores its row. */
  #isHome({ collection, id }: DocumentId): boolean {
    return id === this.#homeId && collection === this.#definition.stream.collection
  }
}

function isThere(document: Shown): document is ShownDocument {
  return document.json !== null
}

function toBeThere(document: Shown): ShownDocument {
  if (isThere(document)) return document
  throw new Error(`${document.collection} ${document.id} is not the document of the stream, and cannot be removed`)
}

function isSame(one: DocumentId, other: DocumentId): boolean {
  return one.id === other.id && one.collection === other.collection
}

function isChanged(before: ShownDocument, after: ShownDocument): boolean {
  return before.json !== after.json || before.indexes.join('\0') !== after.indexes.join('\0')
}
