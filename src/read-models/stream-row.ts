import type { Offset } from '../event-log/event-log.ts'

/** A stream is all events with one record key, in one partition and therefore in order. */
export type StreamId = string

/** What is stored of a stream: enough to decide the next command, and to determine an event's outcome. */
export interface StreamRow {
  readonly stream: StreamId
  /** The version of the last event that took effect, 1 or more. */
  readonly version: number
  /** The offsets of the last events that took effect, at most `offsetsKept`, in ascending order. */
  readonly offsets: readonly Offset[]
  /** The document that shows the stream, and the version at which it last changed; undefined if there is none. */
  readonly document: { readonly json: string; readonly version: number } | undefined
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

/** Enough for the whole history of almost every stream, and few enough that a row stays below some kilobytes. */
export const offsetsKept = 1000

/** The stored form, without stream and document, which are stored beside it: `version offset,offset,… hidden`. */
export function encodeRow({ version, offsets, hidden }: Pick<StreamRow, 'version' | 'offsets' | 'hidden'>): string {
  return `${version} ${offsets.join(',')} ${hidden}`
}

export function decodeRow(stream: StreamId, document: StreamRow['document'], text: string): StreamRow {
  const [, version, offsets, hidden = ''] = /^(\d+) ([\d,]*) (.*)$/s.exec(text) ?? []
  if (version === undefined) throw new Error(`not a row of a stream: ${text}`)
  return {
    stream,
    version: Number(version),
    offsets: offsets ? offsets.split(',').map(Number) : [],
    document,
    hidden,
  }
}

/** The id of the only document that can show a stream, in its home collection; undefined if none can. */
export function homeIdOf(stream: StreamId): number | undefined {
  const id = /^[1-9]\d{0,15}$/.test(stream) ? Number(stream) : undefined
  return Number.isSafeInteger(id) ? id : undefined
}
