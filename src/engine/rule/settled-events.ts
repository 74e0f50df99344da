import type { EventLog, LogRecord, Offset } from '../log/event-log.ts'
import type { ReadModel, Wait } from '../read-models/read-model.ts'
import { awaitOutcome, type Learned } from './awaiting.ts'
import type { EventOutcome } from './outcome.ts'
import type { Rules } from './rules.ts'
import { type Discard, readEvent, type StreamEvent } from './stream-event.ts'

/**
 * What became of a record: the outcomes of docs/journal.md, 'discarding' for an operator's decision, and 'waiting' while the
 * read models have not come to it.
 */
export type SettledOutcome = EventOutcome | 'skipped' | 'discarding' | 'waiting'

export interface SettledRecord {
  readonly record: LogRecord
  /** What the record says; undefined where it was skipped. */
  readonly event: StreamEvent | Discard | undefined
  readonly outcome: SettledOutcome
  /** What the read models said; undefined where they were not asked. */
  readonly learned?: Learned | undefined
}

/** One that took effect. */
export type EffectiveRecord = SettledRecord & { readonly event: StreamEvent }

export function tookEffect(each: SettledRecord): each is EffectiveRecord {
  return each.outcome === 'applied'
}

export interface SettledEventsOptions extends Rules {
  readonly log: Pick<EventLog, 'read' | 'partitionFor'>
  readonly readModel: Pick<ReadModel, 'load' | 'whenApplied'>
}

const notWaiting: Wait = { timeoutMs: 0 }

/** Reads the log, and asks the read model what became of each record. */
export class SettledEvents {
  readonly #options: SettledEventsOptions

  constructor(options: SettledEventsOptions) {
    this.#options = options
  }

  /** As `EventLog.read`. Waits for read models that have not reached a record yet. */
  async read(
    partition: number,
    from: Offset,
    limit: number,
    wait: Wait = notWaiting,
  ): Promise<{ readonly records: readonly SettledRecord[]; readonly next: Offset }> {
    const { records, next } = await this.#options.log.read(partition, from, limit)
    return { records: await this.settle(partition, records, wait), next }
  }

  /** What became of records that were read. */
  settle(partition: number, records: readonly LogRecord[], wait: Wait = notWaiting): Promise<readonly SettledRecord[]> {
    return Promise.all(records.map((record) => this.settleOne(partition, record, wait)))
  }

  /** Without `wait`, the stream of the event is asked at once, whatever was announced. */
  async settleOne(partition: number, record: LogRecord, wait?: Wait): Promise<SettledRecord> {
    const { readModel } = this.#options
    const event = readEvent(this.#options, partition, record)
    const position = { partition, offset: record.offset }
    if (event === undefined || event.discards !== undefined) {
      const isAhead = wait !== undefined && (await readModel.whenApplied(position, wait)) === 'late'
      return { record, event, outcome: isAhead ? 'waiting' : event === undefined ? 'skipped' : 'discarding' }
    }
    const { stream, id: eventId, version } = event
    const key = event.key === undefined ? undefined : { partition, key: event.key }
    const learned = await awaitOutcome(readModel, { stream, key, position, eventId, version }, wait, true)
    const { outcome } = learned
    return { record, event, outcome: outcome === 'late' || outcome === 'unread' ? 'waiting' : outcome, learned }
  }
}
