import type { Offset } from '../log/event-log.ts'
import { DamagedError, isCount, numberIn, quoted } from './damaged.ts'

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
const rowForm = /^([1-9]\d{0,15})(x?) ((?:-?\d{1,16}[\w-]{4}(?:,-?\d{1,16}[\w-]{4})*)?) (.*)$/s

/** Throws DamagedError. */
export function decodeRow(stream: StreamId, document: string | undefined, text: string): StreamRow {
  const [, versionText, mark, entries, hidden = ''] = rowForm.exec(text) ?? []
  const version = numberIn(versionText)
  if (version === undefined) throw notARow(stream)
  return {
    stream,
    version,
    entries: entries ? entries.split(',') : [],
    document,
    isRemoved: mark === removedMark,
    hidden,
  }
}

/** Throws what `decodeRow` throws of the same text. */
export function checkRow(stream: StreamId, text: string): void {
  if (!rowForm.test(text) || !Number.isSafeInteger(Number.parseInt(text, 10))) throw notARow(stream)
}

function notARow(stream: StreamId): DamagedError {
  return new DamagedError(`the row of stream ${quoted(stream)} is not a row`)
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

/** Throws DamagedError. */
export function decodeEntry(text: string): VersionEntry {
  const isDiscarded = text.startsWith('-')
  const offset = numberIn(text.slice(isDiscarded ? 1 : 0, -markLength))
  if (offset === undefined) throw new DamagedError('the entry of a version of a stream is not an entry')
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

/** Throws DamagedError. */
export function decodeParkedStream(stream: StreamId, text: string): ParkedStream {
  const [, ...numbers] = parkedForm.exec(text) ?? []
  const [partition, first, waiting] = numbers.slice(0, 3).map(numberIn)
  if (partition === undefined || first === undefined || waiting === undefined)
    throw new DamagedError(`what is parked of stream ${quoted(stream)} is not a stream with parked events`)
  return { stream, partition, first, waiting, reason: numbers[3] ?? '' }
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

/** Throws DamagedError. */
export function decodeOffsets(text: string): readonly Offset[] {
  const offsets = text.split(',').map(numberIn)
  const isOne = (offset: Offset | undefined, at: number): offset is Offset =>
    offset !== undefined && (at === 0 || offset > (offsets[at - 1] ?? offset))
  if (!offsets.every(isOne)) throw new DamagedError('the offsets of events that wait are not offsets')
  return offsets
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

/** Throws DamagedError. */
export function decodeIdempotencyRecord({ partition, key }: IdempotencyKey, text: string): IdempotencyRecord {
  const fields = fieldsOf(text)
  const [offset, fingerprint, stream, id, version, time, parked] = fields
  const areNumbers = [offset, id, version].every(isCount) && (parked === 0 || parked === 1)
  const areTexts = [fingerprint, stream, time].every((field) => typeof field === 'string')
  if (fields.length !== 7 || !areNumbers || !areTexts)
    throw new DamagedError(`the record of key ${quoted(key)} is not an idempotency record`)
  return { partition, key, offset, fingerprint, stream, id, version, time, parked: parked === 1 }
}

/** The elements of a JSON array; none of any other text. */
// biome-ignore lint/suspicious/noExplicitAny: whoever decodes them checks them
function fieldsOf(text: string): any[] {
  try {
    const fields: unknown = JSON.parse(text)
    return Array.isArray(fields) ? fields : []
  } catch {
    return []
  }
}

/** How far one partition is projected into a generation, and the outcomes of its records. */
export interface Checkpoint {
  /** The offset of the next record to handle. */
  readonly next: Offset
  /** The last record handled: its offset and identity, which reveal another log under the same name. */
  readonly last: { readonly offset: Offset; readonly identity: string } | null
  readonly counts: Counts
}

/** Records by outcome (docs/journal.md). Their sum is the number of records handled. */
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

/** Numbers as `encodeCheckpoint` writes them: what JSON takes for the same number, such as 1e3, was written by others. */
const checkpointForm = /^\[\d+,(?:\d+,".*"|null,null)(?:,\d+){4,6}\]$/s

/** Throws DamagedError. `of` names the partition in its message. */
export function decodeCheckpoint(text: string, of: string | number = '?'): Checkpoint {
  const [next, offset, identity, ...counted] = checkpointForm.test(text) ? fieldsOf(text) : []
  const isLast = offset === null || (isCount(offset) && offset < next && typeof identity === 'string')
  const counts = isCount(next) && isLast ? countsIn(counted) : undefined
  if (counts === undefined) throw new DamagedError(`the checkpoint of partition ${of} is not a checkpoint`)
  return { next, last: offset === null ? null : { offset, identity }, counts }
}

function countsIn(counted: readonly unknown[]): Counts | undefined {
  if (!counted.every(isCount)) return undefined
  if (counted.length === 4) {
    // Written by the previous release: operators see how far its generations are.
    const [applied = 0, duplicate = 0, parked = 0, skipped = 0] = counted
    return { ...noRecords, applied, duplicate, parked, skipped }
  }
  if (counted.length !== 6) return undefined
  const [applied = 0, duplicate = 0, superseded = 0, parked = 0, discarded = 0, skipped = 0] = counted
  return { applied, duplicate, superseded, parked, discarded, skipped }
}
