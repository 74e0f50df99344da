import { ServiceError } from '../lib/errors/errors.ts'
import type { Position } from '../log/event-log.ts'
import type { DocumentId } from '../read-models/document.ts'
import type { FoundStream, ReadModel, Wait } from '../read-models/read-model.ts'
import type { IdempotencyKey, StreamId } from '../read-models/stored-texts.ts'
import { versionsAround } from '../read-models/stream-history.ts'
import { type EventOutcome, outcomeOf } from './outcome.ts'

/** 'late': nothing is known in time. 'unread': its position is applied, and its stream could not be read. */
export interface Learned {
  readonly outcome: EventOutcome | 'late' | 'unread'
  /** The stream as it was then; empty if it was not loaded. */
  readonly stream: FoundStream
  /** Why nothing is known. */
  readonly cause?: ServiceError
}

export const nothingLoaded: FoundStream = {
  row: undefined,
  document: undefined,
  parked: undefined,
  decided: undefined,
  entries: new Map(),
  reached: [],
}

/** What whoever asks knows of it. */
export interface AwaitedEvent {
  readonly position: Position
  readonly stream: StreamId
  /** Its CloudEvents id. */
  readonly eventId: string
  /** Undefined if it has none. */
  readonly key: IdempotencyKey | undefined
  /** To be loaded with its stream. */
  readonly document?: DocumentId | undefined
  /** Whose API key waits for it. */
  readonly owner?: string
  /** Undefined if it has none that can be read. */
  readonly version: number | undefined
}

export function isUndetermined({ outcome }: Pick<Learned, 'outcome'>): boolean {
  return outcome === 'late' || outcome === 'unread'
}

/**
 * Whether an event that is to begin a stream waits behind the first parked one of that stream. That one had its turn, so
 * its version is 1 or, after others, a later one; and it keeps its version, whether an operator discards it or a later
 * release applies it: version 1 is taken either way. (A later release that found it to be a duplicate would be the only way
 * out: it would have to begin this stream, and create something else under an id that is taken.)
 */
function cannotBegin({ position, version }: AwaitedEvent, { parked }: FoundStream): boolean {
  return version === 1 && parked !== undefined && parked.first < position.offset
}

/** As `awaitOutcome`, where another event can be appended under another id: one that cannot begin its stream is superseded. */
export async function awaitWritten(...asked: Parameters<typeof awaitOutcome>): Promise<Learned> {
  const learned = await awaitOutcome(...asked)
  const isTaken = learned.outcome === 'parked' && cannotBegin(asked[1], learned.stream)
  return isTaken ? { ...learned, outcome: 'superseded' } : learned
}

/**
 * Without `wait`, its stream is asked at once, whatever was announced. `appliedIsEnough`: whether knowing that it was
 * applied is enough, without loading its stream.
 */
export async function awaitOutcome(
  readModel: Pick<ReadModel, 'load' | 'whenApplied'>,
  { stream: name, document, owner, key, position, eventId, version }: AwaitedEvent,
  wait: Wait | undefined,
  appliedIsEnough: boolean,
): Promise<Learned> {
  const deadline = performance.now() + (wait?.timeoutMs ?? 0)
  const heard = wait && (await readModel.whenApplied(position, { isRecorded: true, ...wait }))
  if (heard === 'late' || (heard === 'applied' && appliedIsEnough)) return { outcome: heard, stream: nothingLoaded }
  try {
    const left = { ...wait, timeoutMs: deadline - performance.now() }
    const query = { stream: name, document, key, versions: versionsAround(version) }
    const stream = await readModel.load(query, { positions: [position], wait: left }, owner)
    const event = { offset: position.offset, id: eventId, version, hasKey: key !== undefined }
    return { outcome: outcomeOf(event, stream), stream }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return {
      outcome: heard === undefined || heard === 'unheard' ? 'late' : 'unread',
      stream: nothingLoaded,
      cause: error,
    }
  }
}
