import type { Offset } from '../event-log/event-log.ts'

/** A stream is all events of one record key: one partition, one order. */
export type StreamId = string

/** What is kept of a stream: enough to decide the next command, and to tell what became of an event. */
export interface StreamRow {
  readonly stream: StreamId
  /** That of the last event that took effect, 1 or more. */
  readonly version: number
  /** The offsets of the last events that took effect, `offsetsKept` at most, in ascending order. */
  readonly offsets: readonly Offset[]
  /** The document that shows the stream, and the version at which it last changed; undefined where there is none. */
  readonly document: { readonly json: string; readonly version: number } | undefined
  /** What of the state no document shows, as the state codec wrote it: any text without NUL. */
  readonly hidden: string
}

/** Enough for the whole history of almost every stream, and few enough that a row stays below some kilobytes. */
export const offsetsKept = 1000

/** The stored form, without stream and document, which stand beside it: `version offset,offset,… hidden`. */
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

/** The id of the one document that can show a stream, in the collection that is the home of streams; undefined: none can. */
export function homeIdOf(stream: StreamId): number | undefined {
  const id = /^[1-9]\d{0,15}$/.test(stream) ? Number(stream) : undefined
  return Number.isSafeInteger(id) ? id : undefined
}
