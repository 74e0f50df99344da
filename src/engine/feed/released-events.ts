import type { EventLog } from '../log/event-log.ts'
import { readAt } from '../log/read-at.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import type { Rules } from '../rule/rules.ts'
import { type Discard, readEvent, type StreamEvent } from '../rule/stream-event.ts'
import { batchOf, type FeedBatch, type FeedPlace } from './feed-batch.ts'

export interface ReleasedEventsOptions extends Rules {
  readonly log: Pick<EventLog, 'read' | 'endOffsets' | 'partitionFor'>
  readonly readModel: Pick<ReadModel, 'load'>
}

/** Versions told in one step. */
const stepMax = 100

/** The events that waited behind the one that an operator discarded, and took effect with that. */
export class ReleasedEvents {
  readonly #options: ReleasedEventsOptions

  constructor(options: ReleasedEventsOptions) {
    this.#options = options
  }

  /** The next ones at a place whose record is this discard. Only behind the last one the place is behind the discard. */
  async behind({ partition, told }: FeedPlace, discard: Discard): Promise<FeedBatch> {
    const done = { partition, next: discard.offset + 1, told: 0 }
    const first = told > 0 ? told + 1 : await this.#versionBehind(partition, discard)
    if (first === undefined) return { events: [], place: done }
    const { stream } = discard
    const versions = { first, last: first + stepMax - 1 }
    const { entries } = await this.#options.readModel.load({ stream, versions })
    const offsets: number[] = []
    for (const { offset, isDiscarded } of entries.values()) {
      // What the discard released ends with the next event that could not be applied, or with what came after it.
      if (isDiscarded || offset > discard.offset) break
      offsets.push(offset)
    }
    const records = await readAt(this.#options.log, partition, offsets)
    const found = records.flatMap((record) => {
      const event = readEvent(this.#options, partition, record)
      if (event === undefined || event.discards !== undefined) return []
      return [{ record, event }]
    })
    const { events, taken } = batchOf(found)
    const isLast = offsets.length < stepMax && taken === found.length
    return { events, place: isLast ? done : { partition, next: discard.offset, told: first + taken - 1 } }
  }

  /** The version behind that of the discarded event; undefined if this decision had no effect. */
  async #versionBehind(partition: number, { stream, discards, offset }: Discard): Promise<number | undefined> {
    if (discards >= offset) return undefined
    const { records } = await this.#options.log.read(partition, discards, 1)
    const named = records.map((record) => readEvent(this.#options, partition, record)).find(isEvent)
    if (named?.stream !== stream || named.offset !== discards || named.version === undefined) return undefined
    const { version } = named
    const { entries } = await this.#options.readModel.load({ stream, versions: { first: version, last: version } })
    const entry = entries.get(version)
    return entry?.isDiscarded && entry.offset === discards ? version + 1 : undefined
  }
}

function isEvent(event: StreamEvent | Discard | undefined): event is StreamEvent {
  return event !== undefined && event.discards === undefined
}
