import type { StreamKinds } from '../definition/kinds.ts'
import type { EventLog } from '../log/event-log.ts'

/** What interpreting a record needs. */
export interface Rules {
  readonly definition: StreamKinds
  readonly log: Pick<EventLog, 'partitionFor'>
}
