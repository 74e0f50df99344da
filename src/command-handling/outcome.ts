import { ServiceError } from '../lib/errors.ts'
import type { ReadModel, Wait } from '../read-models/read-model.ts'
import type { LoadedStream } from '../read-models/stored-reads.ts'
import { offsetsKept } from '../read-models/stream-row.ts'
import type { Written } from './event-writer.ts'

/**
 * The outcome of an event for its writer. 'duplicate': another event decided its idempotency key. 'superseded': its
 * version was taken, or the state that it was based on is gone. 'late': nothing is known in time. 'unknown': its
 * position was applied, but its outcome cannot be determined.
 */
export type Outcome = 'applied' | 'duplicate' | 'parked' | 'superseded' | 'late' | 'unknown'

export interface Learned {
  readonly outcome: Outcome
  /** The stream as it was then; empty if it was not loaded. */
  readonly stream: LoadedStream
  /** Why the outcome is unknown. */
  readonly cause?: ServiceError
}

export const nothingLoaded: LoadedStream = { row: undefined, hasParked: false, isParked: false, decided: undefined }

/** `appliedIsEnough`: whether knowing that it was applied is enough, without loading its stream. */
export async function awaitOutcome(
  readModel: Pick<ReadModel, 'load' | 'whenApplied'>,
  event: Pick<Written<unknown>, 'stream' | 'key' | 'position' | 'version'>,
  wait: Wait,
  appliedIsEnough: boolean,
): Promise<Learned> {
  const { stream: name, key, position } = event
  const deadline = performance.now() + wait.timeoutMs
  const heard = await readModel.whenApplied(position, wait)
  if (heard === 'late' || (heard === 'applied' && appliedIsEnough)) return { outcome: heard, stream: nothingLoaded }
  try {
    const left = { ...wait, timeoutMs: deadline - performance.now() }
    const stream = await readModel.load({ stream: name, key, event: position }, { positions: [position], wait: left })
    return { outcome: outcomeOf(event, stream), stream }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { outcome: heard === 'unheard' ? 'late' : 'unknown', stream: nothingLoaded, cause: error }
  }
}

/** The outcome by its stream, loaded once its position was applied (decision 0019). */
function outcomeOf(
  { position: { offset }, version }: Pick<Written<unknown>, 'position' | 'version'>,
  { row, isParked, decided }: LoadedStream,
): Outcome {
  // If the log has lost its end, another event may have had this offset. The row has then not reached this version.
  if (row?.offsets.includes(offset)) return row.version >= version ? 'applied' : 'unknown'
  if (decided !== undefined && decided.offset !== offset) return 'duplicate'
  if (isParked || decided?.parked) return 'parked'
  if (decided !== undefined) return 'applied'
  const [oldest = 0] = row?.offsets ?? []
  return row?.offsets.length === offsetsKept && oldest > offset ? 'unknown' : 'superseded'
}
