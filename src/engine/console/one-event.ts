import type { Definition } from '../definition/definition.ts'
import { shownEvent } from '../http/shown-event.ts'
import { ServiceError } from '../lib/errors.ts'
import type { EventLog, LogRecord, Position } from '../log/event-log.ts'
import { RecordGoneError, readAt } from '../log/read-at.ts'
import { behindParked } from '../projector/classify.ts'
import { readEvent, type StreamEvent } from '../projector/stream-event.ts'
import { outcomeOf } from '../read-models/outcome.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import { versionsAround } from '../read-models/stream-history.ts'

export interface EventSources {
  readonly definition: Definition
  readonly log: Pick<EventLog, 'read' | 'endOffsets' | 'partitionFor'>
  readonly readModel: Pick<ReadModel, 'load'>
}

/** A record of the log, and what became of it. */
export interface ToldEvent extends Position {
  /** As text, in which what is not UTF-8 is replaced; null if it has none. */
  readonly key: string | null
  readonly value: string | null
  readonly outcome: string
  /** A sentence. */
  readonly why: string
}

/** Throws ServiceError no_such_record, and what reading log and read models throws. */
export async function tellEvent(sources: EventSources, position: Position): Promise<ToldEvent> {
  const record = await recordAt(sources.log, position)
  const value = record.value === null ? null : String(record.value)
  return {
    ...position,
    key: record.key === null ? null : String(record.key),
    value: value?.startsWith('{') ? shownOrPlain(value) : value,
    ...(await outcomeOfRecord(sources, position, record)),
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

async function outcomeOfRecord(
  { definition, log, readModel }: EventSources,
  { partition, offset }: Position,
  record: LogRecord,
): Promise<Pick<ToldEvent, 'outcome' | 'why'>> {
  const event = readEvent({ log, definition }, partition, record)
  if (event === undefined)
    return { outcome: 'skipped', why: 'It is no event of this service, or not in the partition of its stream.' }
  if (event.discards !== undefined)
    return { outcome: 'decision', why: `An operator decided to leave out the event ${partition}/${event.discards}.` }
  const key = event.key === undefined ? undefined : { partition, key: event.key }
  const versions = versionsAround(event.version)
  const stream = await readModel.load({ stream: event.stream, key, versions })
  const reached = stream.reached.map((checkpoints) => checkpoints.get(partition)?.next ?? 0)
  if (!reached.some((next) => next > offset))
    return { outcome: 'waiting', why: 'The read models have not come to it yet.' }
  const outcome = outcomeOf({ offset, id: event.id, version: event.version, hasKey: key !== undefined }, stream)
  const { parked } = stream
  const reason = parked?.first === offset ? parked.reason : behindParked
  return { outcome, why: outcome === 'parked' ? `${reason}.` : reasons[outcome](event) }
}

const reasons = {
  applied: ({ version }: StreamEvent) => `It is version ${version} of its stream.`,
  discarded: () => 'An operator decided to leave it out.',
  duplicate: () => 'An earlier event has its id or its idempotency key.',
  superseded: ({ version }: StreamEvent) =>
    version === undefined
      ? 'It has no version.'
      : `When its turn came, version ${version} was not the next one of its stream.`,
}
