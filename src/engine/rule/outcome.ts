import type { Offset } from '../log/event-log.ts'
import type { LoadedStream } from '../read-models/ports/reads.ts'
import { isEntryOf } from '../read-models/stored-texts.ts'

/** An event as whoever asks what became of it knows it. */
export interface JudgedEvent {
  readonly offset: Offset
  /** Its CloudEvents id. */
  readonly id: string
  /** Undefined if it has none that can be read. */
  readonly version: number | undefined
  /** Whether it carries an idempotency key. */
  readonly hasKey: boolean
}

/** What becomes of an event of a stream: the outcomes of docs/journal.md. */
export type EventOutcome = 'applied' | 'discarded' | 'parked' | 'duplicate' | 'superseded'

/**
 * What became of an event whose position is applied, by its stream: its own version and the one before must be among the
 * entries, and the record of its key must be loaded. Once it is known, only a parked event's outcome changes.
 */
export function outcomeOf(event: JudgedEvent, { entries, parked, decided }: Omit<LoadedStream, 'row'>): EventOutcome {
  const { offset, version = 0, hasKey } = event
  const own = entries.get(version)
  const before = entries.get(version - 1)
  const decidesItsKey = !hasKey || decided?.offset === offset
  if (own !== undefined && isEntryOf(own, event) && decidesItsKey) return own.isDiscarded ? 'discarded' : 'applied'
  if (parked !== undefined && offset >= parked.first) return 'parked'
  // Its turn came when its version was the next one: only its key or its id can have kept it from that.
  const wasNext = version === 1 || (before !== undefined && before.offset < offset)
  const wasFree = own === undefined || own.offset > offset
  return wasNext && wasFree ? 'duplicate' : 'superseded'
}
