import { awaitOutcome, type Outcome } from '../command-handling/outcome.ts'
import type { EventLog, LogRecord, Offset, Position } from '../event-log/event-log.ts'
import type { Rules } from '../projector/definition.ts'
import { type Discard, readEvent, type StreamEvent } from '../projector/stream-event.ts'
import type { ReadModel, Wait } from '../read-models/read-model.ts'
import type { LoadedStream } from '../read-models/stored-reads.ts'

/**
 * What became of a record: the outcomes of docs/events.md ('superseded' also for what was discarded), 'discarding' for an
 * operator's decision, 'waiting' while the read models have not come to it, and 'unknown' where nothing stored tells: for
 * events of a stream that has had a thousand since, and for some that repeat a key in a stream with a discard.
 */
export type SettledOutcome = Exclude<Outcome, 'late'> | 'skipped' | 'discarding' | 'waiting'

export interface SettledRecord {
  readonly record: LogRecord
  /** What the record says; undefined where it was skipped. */
  readonly event: StreamEvent | Discard | undefined
  readonly outcome: SettledOutcome
}

export interface SettledEventsParts extends Rules {
  readonly log: Pick<EventLog, 'read' | 'partitionFor'>
  readonly readModel: Pick<ReadModel, 'load' | 'whenApplied'>
}

const notWaiting: Wait = { timeoutMs: 0 }

/** Reads the log, and asks the read model what became of each record. */
export class SettledEvents {
  readonly #parts: SettledEventsParts

  constructor(parts: SettledEventsParts) {
    this.#parts = parts
  }

  /** As `EventLog.read`. Waits for read models that have not reached a record yet. */
  async read(
    partition: number,
    from: Offset,
    limit: number,
    wait: Wait = notWaiting,
  ): Promise<{ readonly records: readonly SettledRecord[]; readonly next: Offset }> {
    const { records, next } = await this.#parts.log.read(partition, from, limit)
    return { records: await Promise.all(records.map((record) => this.#settle(partition, record, wait))), next }
  }

  async #settle(partition: number, record: LogRecord, wait: Wait): Promise<SettledRecord> {
    const event = readEvent(this.#parts, partition, record)
    return { record, event, outcome: await this.#outcomeOf(event, { partition, offset: record.offset }, wait) }
  }

  async #outcomeOf(event: StreamEvent | Discard | undefined, position: Position, wait: Wait): Promise<SettledOutcome> {
    const { readModel } = this.#parts
    if (event === undefined || event.discards !== undefined) {
      if ((await readModel.whenApplied(position, wait)) === 'late') return 'waiting'
      return event === undefined ? 'skipped' : 'discarding'
    }
    const key = event.key === undefined ? undefined : { partition: position.partition, key: event.key }
    const written = { stream: event.stream, key, position, version: event.version ?? 0 }
    const { outcome, stream, cause } = await awaitOutcome(readModel, written, wait, true)
    if (outcome === 'late' || cause !== undefined) return 'waiting'
    return outcome === 'duplicate' || outcome === 'parked' ? withoutEffect(written, stream) : outcome
  }
}

/**
 * What became of an event whose key is decided by another one, or that was parked. Its writer need not know: all these
 * give it the same answer.
 */
function withoutEffect(
  { position: { offset }, version }: { readonly position: Position; readonly version: number },
  { row, isParked, decided }: LoadedStream,
): SettledOutcome {
  if (isParked) return 'parked'
  if (decided?.offset === offset) return 'superseded' // it was parked, and is discarded now
  // The version counts before the key. What was discarded has a version and no offset, and older offsets are not kept:
  // there the version that the stream had before the event is known only to lie between these two.
  const { offsets, version: latest } = row ?? { offsets: [], version: 0 }
  const least = offsets.filter((each) => each < offset).length
  const most = latest - (offsets.length - least)
  if (version <= least || version > most + 1) return 'superseded'
  return least === most ? 'duplicate' : 'unknown'
}
