import type { Offset } from '../log/event-log.ts'

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

/** The event that has a version of a stream. */
export interface VersionEntry {
  readonly offset: Offset
  /** Made of the event's id. A log that lost its end gives an offset twice; this tells the events apart. */
  readonly mark: string
  /** It took its version without any other effect. */
  readonly isDiscarded: boolean
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

/** A stream with parked events. Their values stand in the log. */
export interface ParkedStream {
  readonly stream: StreamId
  readonly partition: number
  /** The offset of the first parked event, which could not be applied. Later events of the stream wait behind it. */
  readonly first: Offset
  /** How many wait behind the first one. Their offsets are in the set `waiting`. */
  readonly waiting: number
  /** Why the first one could not be applied. */
  readonly reason: string
}

/** The stored form, under the name of the stream: `partition first waiting reason`. */
export function encodeParkedStream({ partition, first, waiting, reason }: ParkedStream): string {
  return `${partition} ${first} ${waiting} ${reason}`
}

const parkedForm = /^(\d+) (\d+) (\d+) (.*)$/s

export function decodeParkedStream(stream: StreamId, text: string): ParkedStream {
  const [, partition, first, waiting, reason = ''] = parkedForm.exec(text) ?? []
  if (waiting === undefined) throw new Error(`not a stream with parked events: ${text}`)
  return { stream, partition: Number(partition), first: Number(first), waiting: Number(waiting), reason }
}

/** Chunk n has the offsets of the waiting events 500n+1 to 500n+500, counted from the first that waits. */
export const waitingPerChunk = 500

/** How many chunks so many waiting events take. */
export function waitingChunks(waiting: number): number {
  return Math.ceil(waiting / waitingPerChunk)
}

export function encodeOffsets(offsets: readonly Offset[]): string {
  return offsets.join(',')
}

export function decodeOffsets(text: string): readonly Offset[] {
  return text.split(',').map(Number)
}

/** The first event in log order under an idempotency key: enough to give its request the first answer again. */
export interface IdempotencyRecord {
  /** Each partition decides keys for itself. */
  readonly partition: number
  readonly key: string
  readonly offset: Offset
  /** Identifies the content of the request: another request under the same key is refused. */
  readonly fingerprint: string
  readonly stream: StreamId
  /** The id of the document that the event created; 0 if it was parked. */
  readonly id: number
  /** The version of the stream after the event. */
  readonly version: number
  /** The event's time, RFC 3339; '' if it has none. */
  readonly time: string
  /** Whether the event was parked instead of applied. */
  readonly parked: boolean
}

export type IdempotencyKey = Pick<IdempotencyRecord, 'partition' | 'key'>

/** The id of its record in the set `keys`. */
export function keyId({ partition, key }: IdempotencyKey): string {
  return `${partition}/${key}`
}

/** The stored form, under its partition and key. */
export function encodeIdempotencyRecord(record: IdempotencyRecord): string {
  const { offset, fingerprint, stream, id, version, time, parked } = record
  return JSON.stringify([offset, fingerprint, stream, id, version, time, parked ? 1 : 0])
}

export function decodeIdempotencyRecord({ partition, key }: IdempotencyKey, text: string): IdempotencyRecord {
  const fields: unknown = JSON.parse(text)
  if (!Array.isArray(fields) || fields.length !== 7) throw new Error(`not an idempotency record: ${text}`)
  const [offset, fingerprint, stream, id, version, time, parked] = fields
  return { partition, key, offset, fingerprint, stream, id, version, time, parked: parked === 1 }
}

/** How far one partition is projected into a generation, and the outcomes of its records. */
export interface Checkpoint {
  /** The offset of the next record to handle. */
  readonly next: Offset
  /** The last record handled: its offset and identity, which reveal another log under the same name. */
  readonly last: { readonly offset: Offset; readonly identity: string } | null
  readonly counts: Counts
}

/** Records by outcome (docs/events.md). Their sum is the number of records handled. */
export interface Counts {
  readonly applied: number
  readonly duplicate: number
  readonly superseded: number
  /** Events that are parked now: an event that is applied or discarded later moves to another count. */
  readonly parked: number
  readonly discarded: number
  readonly skipped: number
}

export const noRecords: Counts = { applied: 0, duplicate: 0, superseded: 0, parked: 0, discarded: 0, skipped: 0 }

/** The checkpoint before the first record. A store keeps nothing for it. */
export const startOfPartition: Checkpoint = { next: 0, last: null, counts: noRecords }

/**
 * The stored form. A store moves a checkpoint by comparing this text with what the projector expects, so all of it
 * takes part in the comparison, including the counts. The order of the fields is fixed here.
 */
export function encodeCheckpoint({ next, last, counts }: Checkpoint): string {
  const { applied, duplicate, superseded, parked, discarded, skipped } = counts
  const position = [next, last?.offset ?? null, last?.identity ?? null]
  return JSON.stringify([...position, applied, duplicate, superseded, parked, discarded, skipped])
}

export function decodeCheckpoint(text: string): Checkpoint {
  const fields: unknown = JSON.parse(text)
  if (!Array.isArray(fields)) throw new Error(`not a checkpoint: ${text}`)
  const [next, offset, identity, ...counted] = fields
  if (!Number.isSafeInteger(next)) throw new Error(`not a checkpoint: ${text}`)
  return { next, last: offset === null ? null : { offset, identity }, counts: decodeCounts(counted) }
}

function decodeCounts(counted: readonly number[]): Counts {
  if (counted.length === 4) {
    // Written by the previous release: operators see how far its generations are.
    const [applied = 0, duplicate = 0, parked = 0, skipped = 0] = counted
    return { ...noRecords, applied, duplicate, parked, skipped }
  }
  if (counted.length !== 6) throw new Error(`not the counts of a checkpoint: ${counted}`)
  const [applied = 0, duplicate = 0, superseded = 0, parked = 0, discarded = 0, skipped = 0] = counted
  return { applied, duplicate, superseded, parked, discarded, skipped }
}
