import { byId } from './by-id.ts'
import { DamagedError, quoted } from './damaged.ts'
import type { PartitionState } from './ports/projection.ts'
import type { FoundJson, Proof, StoredStream, StreamQuery } from './ports/reads.ts'
import { type FoundRow, lacksRow } from './row-place.ts'
import {
  decodeIdempotencyRecord,
  decodeParkedStream,
  decodeRow,
  type StreamId,
  type StreamRow,
  type VersionEntry,
} from './stored-texts.ts'
import { chunksFor, entriesIn, hasItsEntries } from './stream-history.ts'

/** The texts that a store has for a query; undefined where it has none, or none was requested. */
export interface FoundTexts extends FoundRow {
  /** The requested document. */
  readonly document?: FoundJson | undefined
  readonly parked?: string | undefined
  readonly record?: string | undefined
  /** The chunk of the stream's history with this number. */
  chunk(number: number): string | undefined
}

const noEntries: ReadonlyMap<number, VersionEntry> = new Map()

/** What a load answers, from the texts that were found in one atomic step. Throws DamagedError. */
export function loadedStream(
  { stream: requested, key, versions }: StreamQuery,
  { document, parked, record, chunk, ...found }: FoundTexts,
  proof: Proof,
): StoredStream {
  const stream = requested ?? document?.stream
  const row = stream === undefined ? undefined : decodeFound(stream, found)
  const entries = row && requested !== undefined && versions ? entriesIn(row, versions, chunk) : noEntries
  return {
    proof: entries === undefined || lacksRow(found) ? { ...proof, isComplete: false } : proof,
    row,
    document,
    parked: stream === undefined || parked === undefined ? undefined : decodeParkedStream(stream, parked),
    decided: key && record !== undefined ? decodeIdempotencyRecord(key, record) : undefined,
    entries: entries ?? noEntries,
  }
}

/** What a projector loads of streams, from what `find` finds of each in one atomic step. Throws DamagedError. */
export function loadedRows(
  streams: readonly StreamId[],
  find: (stream: StreamId, i: number) => FoundRow,
): Pick<PartitionState, 'rows' | 'isComplete'> {
  let isComplete = true
  const rows = byId(streams, (stream, i) => {
    const found = find(stream, i)
    if (lacksRow(found)) isComplete = false
    return decodeFound(stream, found)
  })
  return { rows, isComplete }
}

/** Throws DamagedError, also of a row that lacks the entry of a version. */
function decodeFound(stream: StreamId, { json, row: text }: FoundRow): StreamRow | undefined {
  if (text === undefined) return undefined
  const row = decodeRow(stream, json, text)
  if (!hasItsEntries(row)) throw new DamagedError(`the row of stream ${quoted(stream)} lacks entries`)
  return row
}

/** The numbers of the chunks that a load of this query looks up. */
export function chunksToLoad({ stream, versions }: StreamQuery): readonly number[] {
  return stream === undefined ? [] : chunksFor(versions)
}
