import type { Definition } from '../definition/definition.ts'
import { ServiceError } from '../lib/errors/errors.ts'
import type { EventLog, LogRecord, Position } from '../log/event-log.ts'
import { RecordGoneError, readAt } from '../log/read-at.ts'
import { shownEvent } from '../log/shown-event.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import { behindParked } from '../rule/classify.ts'
import { SettledEvents, type SettledRecord } from '../rule/settled-events.ts'
import type { ToldEvent } from './event-answers.ts'

export interface EventSources {
  readonly definition: Definition
  readonly log: Pick<EventLog, 'read' | 'endOffsets' | 'partitionFor'>
  readonly readModel: Pick<ReadModel, 'load' | 'whenApplied'>
}

/** Throws ServiceError no_such_record, and what reading log and read models throws. */
export async function tellEvent(sources: EventSources, position: Position): Promise<ToldEvent> {
  const record = await recordAt(sources.log, position)
  const settled = await new SettledEvents(sources).settleOne(position.partition, record)
  const { cause } = settled.learned ?? {}
  if (cause !== undefined && cause.code !== 'read_model_behind') throw cause
  const value = record.value === null ? null : String(record.value)
  return {
    ...position,
    key: record.key === null ? null : String(record.key),
    value: value?.startsWith('{') ? shownOrPlain(value) : value,
    outcome: settled.outcome,
    why: whyOf(settled, position.partition),
  }
}

async function recordAt(log: EventSources['log'], { partition, offset }: Position): Promise<LogRecord> {
  const nothing = () => new ServiceError('no_such_record', `The log has no record at ${partition}/${offset}.`)
  const { [partition]: end } = await log.endOffsets()
  if (end === undefined || offset >= end) throw nothing()
  try {
    const [record] = await readAt(log, partition, [offset])
    if (record !== undefined) return record
  } catch (error) {
    if (!(error instanceof RecordGoneError)) throw error
  }
  throw nothing()
}

/** Others may have written what only looks like an event. */
function shownOrPlain(value: string): string {
  try {
    return shownEvent(value)
  } catch {
    return value
  }
}

function whyOf({ record: { offset }, event, outcome, learned }: SettledRecord, partition: number): string {
  const version = event?.discards === undefined ? event?.version : undefined
  switch (outcome) {
    case 'skipped':
      return 'It is no event of this service, or not in the partition of its stream.'
    case 'discarding':
      return `An operator decided to leave out the event ${partition}/${event?.discards}.`
    case 'waiting':
      return 'The read models have not come to it yet.'
    case 'applied':
      return `It is version ${version} of its stream.`
    case 'discarded':
      return 'An operator decided to leave it out.'
    case 'duplicate':
      return 'An earlier event has its id or its idempotency key.'
    case 'parked': {
      const { parked } = learned?.stream ?? {}
      return `${parked?.first === offset ? parked.reason : behindParked}.`
    }
    case 'superseded':
      return version === undefined
        ? 'It has no version.'
        : `When its turn came, version ${version} was not the next one of its stream.`
  }
}
