import { ServiceError } from '../lib/errors.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { EventLog, LogRecord, Offset } from '../log/event-log.ts'
import { readAt } from '../log/read-at.ts'
import type { FairTurns } from './fair-turns.ts'

/** Who reads the events of a stream. */
export interface Reader {
  /** An owner of API keys. */
  readonly owner: string
  /** Whether nobody needs them any more. */
  readonly isGone: () => boolean
}

export interface ReadInTurnOptions {
  readonly log: Pick<EventLog, 'read' | 'endOffsets'>
  readonly turns: FairTurns
}

/** As `readAt`, with a turn for each read. Throws ServiceError overloaded where that takes longer than `limitMs`. */
export async function readInTurn(
  { log, turns }: ReadInTurnOptions,
  partition: number,
  offsets: readonly Offset[],
  { owner, isGone, limitMs }: Reader & { readonly limitMs: number },
): Promise<LogRecord[]> {
  let isOver = false
  const read: EventLog['read'] = (...place) =>
    turns.take(owner, async () => {
      if (isOver || isGone()) throw notInTime() // the turn is for those behind it
      return await log.read(...place)
    })
  try {
    const reading = readAt({ endOffsets: () => log.endOffsets(), read }, partition, offsets)
    return await withTimeout(limitMs, reading, notInTime)
  } finally {
    isOver = true
  }
}

function notInTime(): ServiceError {
  return new ServiceError(
    'overloaded',
    'The events were not read in time: many histories are being read, or the event log is slow.',
  )
}
