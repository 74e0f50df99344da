import type { Offset } from '../log/event-log.ts'
import type { StreamId, StreamRow } from './stream-row.ts'

/** The event that has a version of a stream. */
export interface VersionEntry {
  readonly offset: Offset
  /** Made of the event's id. A log that lost its end gives an offset twice; this tells the events apart. */
  readonly mark: string
  /** It took its version without any other effect. */
  readonly isDiscarded: boolean
}

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

/** The id of a chunk in the set `history`. */
export function chunkId(stream: StreamId, chunk: number): string {
  return `${chunk}/${stream}`
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const pairs = Array.from(alphabet, (first) => Array.from(alphabet, (second) => first + second)).flat()
const markLength = 4

/**
 * 24 bits of the FNV-1a hash of the last twelve characters, which hold 48 random bits of a UUID, in base64url. Hashing all
 * of an id took a tenth of the time of classifying an event, and SHA-256 a third. It is stored: another function would
 * need another read-model version.
 */
function markOf(eventId: string): string {
  const end = eventId.slice(-12)
  let hash = 0x811c9dc5
  for (let i = 0; i < end.length; i++) hash = Math.imul(hash ^ end.charCodeAt(i), 0x01000193)
  const bits = (hash >>> 24) ^ (hash & 0xffffff)
  return `${pairs[bits >>> 12]}${pairs[bits & 4095]}`
}

/** The stored form. */
export function encodeEntry(offset: Offset, eventId: string, isDiscarded = false): string {
  return `${isDiscarded ? '-' : ''}${offset}${markOf(eventId)}`
}

export function decodeEntry(text: string): VersionEntry {
  const isDiscarded = text.startsWith('-')
  const offset = Number(text.slice(isDiscarded ? 1 : 0, -markLength))
  return { offset, mark: text.slice(-markLength), isDiscarded }
}

export function isEntryOf({ offset, mark }: VersionEntry, event: { readonly offset: Offset; readonly id: string }) {
  return offset === event.offset && mark === markOf(event.id)
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
