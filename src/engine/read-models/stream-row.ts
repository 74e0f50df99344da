/** A stream is all events with one record key, in one partition and therefore in order. */
export type StreamId = string

/** What is stored of a stream: enough to decide the next command, and to determine an event's outcome. */
export interface StreamRow {
  readonly stream: StreamId
  /** The version of the last event that took effect or was discarded, 1 or more. */
  readonly version: number
  /** The stored entries of its last versions: of all that are in no chunk of its history. */
  readonly entries: readonly string[]
  /** The JSON of the document that shows the stream; undefined if there is none. */
  readonly document: string | undefined
  /** Whether there was such a document, and it is removed. */
  readonly isRemoved: boolean
  /** The part of the state that no document shows, as the state codec wrote it: any text without NUL. */
  readonly hidden: string
}

/** How the state of a stream is stored: in the document that shows it and, for the rest, after the document. */
export interface StateCodec<State> {
  /** The part of a state that its document does not show: text without NUL. */
  hidden(state: State): string
  /** The state that was stored. */
  read(row: Pick<StreamRow, 'document' | 'hidden'>): State
}

/** The stored form, without stream and document, which are stored beside it: `version entry,entry,… hidden`. */
export function encodeRow({ version, isRemoved, entries, hidden }: Omit<StreamRow, 'stream' | 'document'>): string {
  return `${version}${isRemoved ? removedMark : ''} ${entries.join(',')} ${hidden}`
}

const removedMark = 'x'
const rowForm = /^(\d+)(x?) (\S*) (.*)$/s

export function decodeRow(stream: StreamId, document: string | undefined, text: string): StreamRow {
  const [, version, mark, entries, hidden = ''] = rowForm.exec(text) ?? []
  if (version === undefined) throw new Error(`not a row of a stream: ${text}`)
  return {
    stream,
    version: Number(version),
    entries: entries ? entries.split(',') : [],
    document,
    isRemoved: mark === removedMark,
    hidden,
  }
}

/** The id of the only document that can show a stream, in its home collection; undefined if none can. */
export function homeIdOf(stream: StreamId): number | undefined {
  const id = /^[1-9]\d{0,15}$/.test(stream) ? Number(stream) : undefined
  return Number.isSafeInteger(id) ? id : undefined
}
