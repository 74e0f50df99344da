import { ServiceError } from '../lib/errors/errors.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { EventLog, LogRecord, Offset } from '../log/event-log.ts'
import { readAt } from '../log/read-at.ts'
import type { FairTurns } from './fair-turns.ts'

/** Who reads events that are there already. */
export interface Reader {
  /** An owner of API keys. */
  readonly owner: string
  /** Whether nobody needs them any more. */
  readonly isGone: () => boolean
}

export type LimitedReader = Reader & { readonly limitMs: number }

export interface ReadInTurnOptions {
  readonly log: Pick<EventLog, 'read' | 'endOffsets'>
  readonly turns: FairTurns
}

/** As `readAt`, with a turn for each read. Throws ServiceError overloaded where that takes longer than `limitMs`. */
export async function readInTurn(
  { log, turns }: ReadInTurnOptions,
  partition: number,
  offsets: readonly Offset[],
  reader: LimitedReader,
): Promise<LogRecord[]> {
  return await inTurns(turns, reader, (turn) => {
    const read: EventLog['read'] = (...place) => turn(() => log.read(...place))
    return readAt({ endOffsets: () => log.endOffsets(), read }, partition, offsets)
  })
}

/** Work whose pieces take turns. Throws ServiceError overloaded where all of it takes longer than `limitMs`. */
export async function inTurns<T>(
  turns: FairTurns,
  { owner, isGone, limitMs }: LimitedReader,
  work: (turn: <Piece>(piece: () => Promise<Piece>) => Promise<Piece>) => Promise<T>,
): Promise<T> {
  let isOver = false
  const working = work((piece) =>
    turns.take(owner, async () => {
      if (isOver || isGone()) throw notInTime() // the turn is for those behind it
      return await piece()
    }),
  )
  try {
    return await withTimeout(limitMs, working, notInTime)
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
