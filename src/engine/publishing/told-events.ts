import type { EventLog, LogRecord, Offset } from '../log/event-log.ts'
import { readAt } from '../log/read-at.ts'
import { isEntryOf, type StreamId, type VersionEntry } from '../read-models/stored-texts.ts'
import type { Rules } from '../rule/rules.ts'
import { readEvent, type StreamEvent } from '../rule/stream-event.ts'
import type { KnownStreams } from './known-streams.ts'

/** An event that took effect, as the journal has it. */
export interface EventRecord {
  readonly event: StreamEvent
  readonly record: LogRecord
}

export interface JournalOptions extends Rules {
  readonly log: Pick<EventLog, 'read' | 'endOffsets' | 'partitionFor' | 'partitions'>
}

/** The entries of these versions of a stream, all of which it has. */
export async function entriesOf(
  streams: KnownStreams,
  stream: StreamId,
  first: number,
  last: number,
): Promise<VersionEntry[]> {
  const versions = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const { entries } = await streams.find(stream, versions)
  return versions.map((version) => {
    const entry = entries.get(version)
    if (entry === undefined) throw new Error(`stream ${stream} has no entry of version ${version}`)
    return entry
  })
}

/** The events of those of these entries that were not discarded, by offset. */
export async function eventsOf(
  options: JournalOptions,
  stream: StreamId,
  entries: readonly VersionEntry[],
): Promise<ReadonlyMap<Offset, EventRecord>> {
  const partition = options.log.partitionFor(stream)
  const wanted = entries.filter(({ isDiscarded }) => !isDiscarded)
  const records = await readAt(
    options.log,
    partition,
    wanted.map(({ offset }) => offset),
  )
  const events = records.map((record, i) => {
    const event = readEvent(options, partition, record)
    const entry = wanted[i]
    if (
      event === undefined ||
      event.discards !== undefined ||
      event.stream !== stream ||
      !entry ||
      !isEntryOf(entry, event)
    )
      throw new Error(`offset ${record.offset} is not the event that stream ${stream} has there`)
    return [record.offset, { event, record }] as const
  })
  return new Map(events)
}
