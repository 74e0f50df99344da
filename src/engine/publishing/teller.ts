import type { Warning } from '../lib/operating/warning.ts'
import { eventsTarget, type PartitionMemory, type PartitionTurn, type ToldRecord } from '../log/published-log.ts'
import { cloudEventHeaders, eventText } from '../log/record-codec.ts'
import { shownEvents } from '../log/shown-event.ts'
import type { KnownStreams } from './known-streams.ts'
import type { EventRecord } from './told-events.ts'

/** What an owner of a lane tells, from when it takes the lane over until it lets it go. */
export interface Teller {
  /** What is told of a record that took effect, all of it in one turn. Throws what reading the log and the read models throws. */
  tell(event: EventRecord, streams: KnownStreams): Promise<readonly ToldRecord[]> | readonly ToldRecord[]
  /** Undefined where all that is told comes from events. */
  readonly filling?: Filling | undefined
}

/** A partition of a lane, and what was committed of it. */
export interface LanePartition {
  readonly partition: number
  readonly memory: PartitionMemory
}

/** Brings a topic as far as the read models are, before events are told. */
export interface Filling {
  isDone(memory: PartitionMemory): boolean
  /** The next step of partitions for which it is not done. Throws what reading the read models throws. */
  turns(partitions: readonly LanePartition[]): Promise<readonly PartitionTurn[]>
}

/** What a publisher tells. */
export interface Telling {
  /** One for each time that a lane is taken over: it may go on from what it told before. */
  newTeller(): Teller
  /** Documents that were left out, since they are too large. */
  readonly leftOut: number
  readonly warnings: readonly Warning[]
}

const eventTeller: Teller = {
  tell: ({ event, record }) =>
    shownEvents(eventText(record.value)).map((value) => ({
      target: eventsTarget,
      key: event.stream,
      value,
      headers: cloudEventHeaders,
    })),
}

/** Tells each event as it was written, but for what only the journal has; several of one record each by itself. */
export const eventTelling: Telling = { newTeller: () => eventTeller, leftOut: 0, warnings: [] }
