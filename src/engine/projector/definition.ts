import type { StreamDefinition } from '../definition/definition.ts'
import type { AnyEvent } from '../definition/stream.ts'
import type { EventLog } from '../log/event-log.ts'

/** What interpreting a record needs. Whoever only passes it on need not know State and Event. */
export interface Rules<State = unknown, Event extends AnyEvent = AnyEvent> {
  readonly definition: StreamDefinition<State, unknown, Event>
  readonly log: Pick<EventLog, 'partitionFor'>
}

/** Enough of a UUID to distinguish the few logs that may share a Redis and a prefix. */
const logIdLength = 8

/** The name of the version for the read models of one log. */
export function versionOfLog(version: string, logId: string): string {
  return `${version}@${logId.slice(0, logIdLength)}`
}
