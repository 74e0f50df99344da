import type { StreamDefinition } from '../definition/definition.ts'
import type { AnyEvent } from '../door/stream.ts'
import type { EventLog } from '../log/event-log.ts'

/** What interpreting a record needs. Whoever only passes it on need not know State and Event. */
export interface Rules<State = unknown, Event extends AnyEvent = AnyEvent> {
  readonly definition: StreamDefinition<State, unknown, Event>
  readonly log: Pick<EventLog, 'partitionFor'>
}
