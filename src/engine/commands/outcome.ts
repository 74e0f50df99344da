import { ServiceError } from '../lib/errors.ts'
import type { DocumentId } from '../read-models/document.ts'
import { type EventOutcome, outcomeOf } from '../read-models/outcome.ts'
import type { FoundStream, ReadModel, Wait } from '../read-models/read-model.ts'
import { versionsAround } from '../read-models/stream-history.ts'
import type { Written } from './event-writer.ts'

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

export type AwaitedEvent = Pick<Written<unknown>, 'stream' | 'key' | 'position' | 'eventId'> & {
  /** To be loaded with its stream. */
  readonly document?: DocumentId | undefined
  /** Undefined if it has none that can be read. */
  readonly version: number | undefined
}

/** `appliedIsEnough`: whether knowing that it was applied is enough, without loading its stream. */
export async function awaitOutcome(
  readModel: Pick<ReadModel, 'load' | 'whenApplied'>,
  { stream: name, document, key, position, eventId, version }: AwaitedEvent,
  wait: Wait,
  appliedIsEnough: boolean,
): Promise<Learned> {
  const deadline = performance.now() + wait.timeoutMs
  const heard = await readModel.whenApplied(position, wait)
  if (heard === 'late' || (heard === 'applied' && appliedIsEnough)) return { outcome: heard, stream: nothingLoaded }
  try {
    const left = { ...wait, timeoutMs: deadline - performance.now() }
    const query = { stream: name, document, key, versions: versionsAround(version) }
    const stream = await readModel.load(query, { positions: [position], wait: left })
    const event = { offset: position.offset, id: eventId, version, hasKey: key !== undefined }
    return { outcome: outcomeOf(event, stream), stream }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { outcome: heard === 'unheard' ? 'late' : 'unread', stream: nothingLoaded, cause: error }
  }
}
