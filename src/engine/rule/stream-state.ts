import type { StreamDefinition } from '../definition/kinds.ts'
import { placeInSeveral } from '../definition/several.ts'
import { documentsOf, isThere, type Shown, type ShownDocument, toBeThere } from '../definition/shown-documents.ts'
import { type AnyEvent, type Recorded, stateBounds } from '../door/stream.ts'
import { IdTakenError, messageOf } from '../lib/errors/errors.ts'
import { DamagedError, quoted } from '../read-models/damaged.ts'
import type { DocumentId } from '../read-models/document.ts'
import type { DocumentChange } from '../read-models/ports/projection.ts'
import { placedRow } from '../read-models/row-place.ts'
import type { StreamId, StreamRow } from '../read-models/stored-texts.ts'
import { chunkId, chunksOf, versionsPerChunk } from '../read-models/stream-history.ts'
import { type ChangedDocument, changeOf, isSame } from './changed-documents.ts'

/** `TextChanges` being collected. */
export type TextEdits = { readonly put: (readonly [id: string, text: string])[]; readonly removed: string[] }

/** The changes of the streams in a batch, being collected. */
export interface StreamEdits {
  readonly documents: DocumentChange[]
  readonly rows: TextEdits
  readonly history: TextEdits
}

/** A state beyond what the engine stores of any stream. */
export class StateTooLargeError extends Error {}

/** What the record of a stream says, in one version. */
export interface RecordedEvents<Event> extends Omit<Recorded<Event>, 'event'> {
  /** One event, or several of one command. */
  readonly events: readonly Event[]
}

/** What one event comes to. */
interface Change<State> {
  readonly state: State
  readonly hidden: string
  readonly home: Shown | undefined
  readonly others: readonly { readonly known: ChangedDocument | undefined; readonly document: ShownDocument }[]
  /** Those of the others that the state before did not show. */
  readonly added: readonly ShownDocument[]
}

/** Throws if what an event shows anew may not be shown; it is asked of each event of a record in turn. */
type Admit = (added: readonly ShownDocument[], isLast: boolean) => void

/** One stream while a batch is classified. Its state is folded in memory, so that many events are one change. */
export class StreamState<State, Event extends AnyEvent> {
  readonly #definition: StreamDefinition<State, unknown, Event>
  readonly #stream: StreamId
  readonly #own: DocumentId | undefined
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
  #documents: ChangedDocument[]
  readonly #stored: readonly ShownDocument[]
  #home: ChangedDocument | undefined
  #isChanged = false

  /**
   * `own`: the document that can show the stream. `row` is undefined if no event of the stream has taken effect yet. Throws
   * DamagedError.
   */
  constructor(
    definition: StreamDefinition<State, unknown, Event>,
    stream: StreamId,
    own: DocumentId | undefined,
    row: StreamRow | undefined,
  ) {
    this.#definition = definition
    this.#stream = stream
    this.#own = own
    this.#row = row
    this.version = row?.version ?? 0
    this.#entries = row?.entries.slice() ?? []
    const { state, shown } = readState(definition, row)
    this.#state = state
    this.#hidden = row?.hidden ?? ''
    this.#isRemoved = row?.isRemoved ?? false
    this.#stored = shown
    this.#documents = this.#stored.map((document) => ({ before: document, after: document }))
    this.#home = this.#documents.find(({ after }) => this.#isHome(after))
    this.#shown = this.#documents.filter((each) => each !== this.#home)
  }

  get state(): State {
    return this.#state
  }

  /** Characters of the state, besides the home document. */
  get stateLength(): number {
    return this.#hidden.length
  }

  /** Characters of the longest document that the row or an event shows. */
  get documentLength(): number {
    return Math.max(0, ...this.#documents.map(({ after }) => after.json.length))
  }

  /** Those that the row or an event shows, each as the last one that does. */
  get documents(): readonly ShownDocument[] {
    return this.#documents.map(({ after }) => after)
  }

  /** Whether the row shows the document. */
  hasShown(document: DocumentId): boolean {
    return this.#stored.some((stored) => isSame(stored, document))
  }

  /**
   * Applies the record that has this entry: all of its events, or none. Throws, having changed nothing, if one of them
   * cannot follow or be shown, or if `admit` throws. Returns the id of the first document that is shown anew; undefined if
   * there is none.
   */
  apply({ events, version, time }: RecordedEvents<Event>, entry: string, admit: Admit): number | undefined {
    const goBack = events.length > 1 ? this.#wayBack() : undefined
    let created: number | undefined
    let index = 0
    try {
      for (const event of events) {
        const change = this.#changeBy({ event, version, time })
        admit(change.added, index === events.length - 1)
        created ??= change.added[0]?.id ?? (this.#isHomeNew(change) ? this.#own?.id : undefined)
        this.#take(change)
        index++
      }
    } catch (error) {
      if (goBack === undefined) throw error
      goBack()
      throw namingEvent(error, index, events.length)
    }
    this.passOver(entry)
    return created
  }

  /** Returns what takes back all that is applied from now on. */
  #wayBack(): () => void {
    const [state, hidden, isRemoved, shown, home] = [
      this.#state,
      this.#hidden,
      this.#isRemoved,
      this.#shown,
      this.#home,
    ]
    const documents = this.#documents.map((document) => ({ document, after: document.after }))
    return () => {
      this.#state = state
      this.#hidden = hidden
      this.#isRemoved = isRemoved
      this.#shown = shown
      this.#home = home
      for (const { document, after } of documents) document.after = after
      this.#documents = documents.map(({ document }) => document)
    }
  }

  /** Throws if the event cannot follow or be shown. */
  #changeBy(recorded: Recorded<Event>): Change<State> {
    const state = this.#definition.stream.evolve(this.#state, recorded)
    let home: Shown | undefined
    const others: Change<State>['others'][number][] = []
    for (const document of documentsOf(this.#definition, state)) {
      if (this.#isHome(document)) home = document
      else {
        const known = this.#shown.find(({ after }) => isSame(after, document))
        others.push({ known, document: toBeThere(document) })
      }
    }
    if (this.#isRemoved && home !== undefined && isThere(home))
      throw new Error(`${home.collection} ${home.id} is removed`)
    const added = others.flatMap(({ known, document }) => (known === undefined ? document : []))
    return { state, hidden: this.#hiddenOf(state, home), home, others, added }
  }

  #isHomeNew({ home }: Change<State>): boolean {
    return this.#home === undefined && home !== undefined && isThere(home)
  }

  #take({ state, hidden, home, others }: Change<State>): void {
    this.#state = state
    this.#hidden = hidden
    this.#shown = others.map(({ known, document }) => this.#put(known, document))
    if (home !== undefined && isThere(home)) this.#home = this.#put(this.#home, home)
    else if (home !== undefined) this.#isRemoved = true
  }

  /** The event that has this entry takes the next version, without any other effect. */
  passOver(entry: string): void {
    this.#entries.push(entry)
    this.version++
    this.#isChanged = true
  }

  /** Adds the changes for the store. */
  addChanges({ documents, rows, history }: StreamEdits): void {
    if (!this.#isChanged) return
    const stored = this.#row && placedRow(this.#row, this.#home?.before !== undefined)
    const placed = placedRow(this.#addHistory(history), this.#home !== undefined && !this.#isRemoved)
    if (placed.inRows !== undefined) rows.put.push([this.#stream, placed.inRows])
    else if (stored?.inRows !== undefined) rows.removed.push(this.#stream)
    for (const document of this.#documents) {
      const [was, is] = document === this.#home ? [stored?.behind, placed.behind] : [this.#stream, this.#stream]
      const change = changeOf(document, was, is)
      if (change !== undefined) documents.push(change)
    }
  }

  /** Adds the chunks that the stream has from now on. Returns its row. */
  #addHistory(history: TextEdits): Omit<StreamRow, 'stream' | 'document'> {
    const [first, end] = [chunksOf(this.#row?.version ?? 0), chunksOf(this.version)]
    for (let chunk = first; chunk < end; chunk++) {
      const at = (chunk - first) * versionsPerChunk
      const entries = this.#entries.slice(at, at + versionsPerChunk)
      history.put.push([chunkId(this.#stream, chunk), entries.join(',')])
    }
    const entries = first === end ? this.#entries : this.#entries.slice((end - first) * versionsPerChunk)
    return { version: this.version, isRemoved: this.#isRemoved, entries, hidden: this.#hidden }
  }

  /** Throws if the state cannot be stored. */
  #hiddenOf(state: State, home: Shown | undefined): string {
    const shown = home ?? (this.#isRemoved ? undefined : this.#home?.after)
    const hidden = this.#definition.codec.hidden(state, shown?.json ?? undefined)
    if (hidden.length > stateBounds.most)
      throw new StateTooLargeError(`the state has more than ${stateBounds.most} characters`)
    if (hidden.includes('\0')) throw new Error('the state contains NUL')
    return hidden
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
  #isHome(document: DocumentId): boolean {
    return this.#own !== undefined && isSame(document, this.#own)
  }
}

/** The state that a row stores, and what it shows. Throws DamagedError. */
function readState<State, Event extends AnyEvent>(
  definition: StreamDefinition<State, unknown, Event>,
  row: StreamRow | undefined,
): { readonly state: State; readonly shown: readonly ShownDocument[] } {
  if (row === undefined) return { state: definition.stream.initial, shown: [] }
  try {
    const state = definition.codec.read(row)
    return { state, shown: documentsOf(definition, state).filter(isThere) }
  } catch (cause) {
    throw new DamagedError(`the state of stream ${quoted(row.stream)} cannot be read`, { cause })
  }
}

/** The reason why a record of several cannot be applied names the event. */
function namingEvent(cause: unknown, index: number, count: number): unknown {
  const reason = `${placeInSeveral(index, count)}: ${messageOf(cause)}`
  if (cause instanceof IdTakenError) return cause
  return cause instanceof StateTooLargeError ? new StateTooLargeError(reason, { cause }) : new Error(reason, { cause })
}
