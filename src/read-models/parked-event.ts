import type { Position } from '../event-log/event-log.ts'
import type { StreamId } from './stream-row.ts'

/** An event that could not be applied, kept with everything needed to look into it. */
export interface ParkedEvent extends Position {
  /** Events of one stream stay in order: once one is parked, those after it park behind it. */
  readonly stream: StreamId
  readonly reason: string
  /** The record value as text. */
  readonly value: string
}
