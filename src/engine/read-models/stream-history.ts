import { decodeEntry, type StreamId, type StreamRow, type VersionEntry } from './stored-texts.ts'

/** Versions of a stream; both ends belong to it. */
export interface VersionRange {
  readonly first: number
  readonly last: number
}

/**
 * Chunk n of a stream holds the entries of the versions 64n+1 to 64n+64, and exists exactly when the version of the
 * stream is above 64n+128. The row has the entries of all later versions. So what is stored does not depend on how the
 * log was cut into batches.
 */
export const versionsPerChunk = 64

/** How many chunks a stream of this version has; 64 times as many versions are not in its row. */
export function chunksOf(version: number): number {
  return Math.max(0, Math.floor((version - versionsPerChunk - 1) / versionsPerChunk))
}

/** Whether the row has one entry for each version that is in no chunk. */
export function hasItsEntries({ version, entries }: Pick<StreamRow, 'version' | 'entries'>): boolean {
  return entries.length === version - versionsPerChunk * chunksOf(version)
}

/** The id of a chunk in the set `history`. */
export function chunkId(stream: StreamId, chunk: number): string {
  return `${chunk}/${stream}`
}

/** The version of an event and the one before it; undefined if it has none that a stream can reach. */
export function versionsAround(version: number | undefined): VersionRange | undefined {
  return version !== undefined && version >= 1 ? { first: version - 1, last: version } : undefined
}

/** The chunks that may hold some of these versions: whether they exist is for the row to say. */
export function chunksFor(range: VersionRange | undefined): readonly number[] {
  if (range === undefined) return []
  const [first, last] = [chunkOf(Math.max(1, range.first)), chunkOf(range.last)]
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}

/**
 * The entries of those of these versions that the stream has. `chunkAt` gives the text of a chunk. Undefined if a chunk
 * that the row implies is missing.
 */
export function entriesIn(
  row: Pick<StreamRow, 'version' | 'entries'>,
  { first, last }: VersionRange,
  chunkAt: (chunk: number) => string | undefined,
): ReadonlyMap<number, VersionEntry> | undefined {
  const chunks = chunksOf(row.version)
  const found = new Map<number, VersionEntry>()
  for (let version = Math.max(1, first); version <= Math.min(last, row.version); version++) {
    const chunk = chunkOf(version)
    const entries = chunk < chunks ? chunkAt(chunk)?.split(',') : row.entries
    const entry = entries?.[version - 1 - versionsPerChunk * Math.min(chunk, chunks)]
    if (entry === undefined) return undefined
    found.set(version, decodeEntry(entry))
  }
  return found
}

function chunkOf(version: number): number {
  return Math.floor((version - 1) / versionsPerChunk)
}
