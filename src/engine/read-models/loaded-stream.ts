import type { FoundDocument, Proof, StoredStream, StreamQuery } from './store.ts'
import { decodeIdempotencyRecord, decodeParkedStream, decodeRow, type VersionEntry } from './stored-texts.ts'
import { chunksFor, entriesIn } from './stream-history.ts'

/** The texts that a store has for a query; undefined where it has none, or none was requested. */
export interface FoundTexts {
  /** The requested document. */
  readonly document?: FoundDocument | undefined
  /** The document that shows the stream. */
  readonly json?: string | undefined
  readonly row?: string | undefined
  readonly parked?: string | undefined
  readonly record?: string | undefined
  /** The chunk of the stream's history with this number. */
  chunk(number: number): string | undefined
}

const noEntries: ReadonlyMap<number, VersionEntry> = new Map()

/** What a load answers, from the texts that were found in one atomic step. */
export function loadedStream(
  { stream: requested, key, versions }: StreamQuery,
  { document, json, row: rowText, parked, record, chunk }: FoundTexts,
  proof: Proof,
): StoredStream {
  const stream = requested ?? document?.stream
  const row = stream === undefined || rowText === undefined ? undefined : decodeRow(stream, json, rowText)
  const entries = row && requested !== undefined && versions ? entriesIn(row, versions, chunk) : noEntries
  return {
    proof: entries === undefined ? { ...proof, isComplete: false } : proof,
    row,
    document,
    parked: stream === undefined || parked === undefined ? undefined : decodeParkedStream(stream, parked),
    decided: key && record !== undefined ? decodeIdempotencyRecord(key, record) : undefined,
    entries: entries ?? noEntries,
  }
}

/** The numbers of the chunks that a load of this query looks up. */
export function chunksToLoad({ stream, versions }: StreamQuery): readonly number[] {
  return stream === undefined ? [] : chunksFor(versions)
}
