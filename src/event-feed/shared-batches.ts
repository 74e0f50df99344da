import { setTimeout as delay } from 'node:timers/promises'
import type { EventLog, Offset } from '../event-log/event-log.ts'
import { eventText } from '../event-log/record-codec.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import type { StreamId } from '../read-models/stream-row.ts'
import type { SettledEvents, SettledRecord } from './settled-events.ts'

export interface FeedEvent {
  readonly stream: StreamId
  /** The CloudEvents type. */
  readonly type: string
  /** The CloudEvent, as it stands in the log. */
  readonly json: string
}

/** The events of one partition that took effect, of the records before `next`. */
export interface FeedBatch {
  readonly partition: number
  readonly events: readonly FeedEvent[]
  readonly next: Offset
}

export interface SharedBatchesParts {
  readonly settled: SettledEvents
  readonly log: Pick<EventLog, 'partitions'>
  readonly readModel: Pick<ReadModel, 'load' | 'whenApplied' | 'generationOf'>
}

/** How long to wait for a first record: then a batch is empty. */
const waitMs = 10_000
const retryMs = 500
const recordsMax = 100
/**
 * How many batches are kept, and how long, for followers that arrive later. Each partition has one that is being read,
 * and the one before it.
 */
const keptMaxOf = (partitions: number) => Math.max(64, 2 * partitions)
const keptMs = 10_000

interface Kept {
  readonly reading: Promise<FeedBatch>
  readonly generation: string | undefined
  readonly since: number
}

/**
 * The batches behind each position, read once for all who are there at about the same time. Another generation may be of
 * a log that has lost its end, so what became of its records is asked anew.
 */
export class SharedBatches {
  readonly #parts: SharedBatchesParts
  readonly #kept = new Map<string, Kept>()
  readonly #keptMax: number
  #isClosed = false

  constructor(parts: SharedBatchesParts) {
    this.#parts = parts
    this.#keptMax = keptMaxOf(parts.log.partitions)
  }

  /** Waits for the read models to come to the position. Never rejects: where it cannot be read now, the batch is empty. */
  behind(partition: number, from: Offset): Promise<FeedBatch> {
    const name = `${partition}:${from}`
    const generation = () => this.#parts.readModel.generationOf(partition)
    const kept = this.#kept.get(name)
    const isFresh = kept?.generation === generation() && performance.now() - (kept?.since ?? 0) < keptMs
    if (kept !== undefined && isFresh) return kept.reading
    const reading = this.#read(partition, from).then((batch) => {
      if (batch.next === from) this.#kept.delete(name)
      else this.#keep(name, { reading, generation: generation() })
      return batch
    })
    this.#keep(name, { reading, generation: generation() })
    return reading
  }

  close(): void {
    this.#isClosed = true
  }

  #keep(name: string, kept: Omit<Kept, 'since'>): void {
    this.#kept.delete(name)
    this.#kept.set(name, { ...kept, since: performance.now() })
    const [oldest = name] = this.#kept.keys()
    if (this.#kept.size > this.#keptMax) this.#kept.delete(oldest)
  }

  async #read(partition: number, from: Offset): Promise<FeedBatch> {
    const wait = { timeoutMs: waitMs, isAbandoned: () => this.#isClosed }
    const end = performance.now() + waitMs
    const applied = await this.#parts.readModel.whenApplied({ partition, offset: from }, wait)
    const batch = applied === 'late' ? undefined : await this.#readApplied(partition, from).catch(() => undefined)
    if (batch !== undefined && batch.next > from) return batch
    // The failing part logs its own problem; retry after a pause.
    if (performance.now() < end && !this.#isClosed) await delay(retryMs)
    return { partition, events: [], next: from }
  }

  /** Undefined if another generation came meanwhile. */
  async #readApplied(partition: number, from: Offset): Promise<FeedBatch | undefined> {
    const { readModel, settled } = this.#parts
    const generation = readModel.generationOf(partition)
    const { records, next } = await settled.read(partition, from, recordsMax)
    const end = records.findIndex(({ outcome }) => outcome === 'waiting')
    const known = end < 0 ? records : records.slice(0, end)
    const events = await Promise.all(known.map((record) => this.#shown(partition, record)))
    if (readModel.generationOf(partition) !== generation) return undefined
    return { partition, events: events.flat(), next: records[end]?.record.offset ?? next }
  }

  async #shown(partition: number, { record, event, outcome }: SettledRecord): Promise<FeedEvent[]> {
    if (event === undefined) return []
    if (event.discards !== undefined) return await this.#released(partition, event)
    if (outcome !== 'applied') return []
    return [{ stream: event.stream, type: event.type, json: eventText(record.value) }]
  }

  /** The events that waited behind the one that an operator discarded, and took effect with that. */
  async #released(
    partition: number,
    { stream, discards, offset }: { readonly stream: StreamId; readonly discards: Offset; readonly offset: Offset },
  ): Promise<FeedEvent[]> {
    const { row } = await this.#parts.readModel.load({ stream })
    const offsets = row?.offsets.filter((each) => each > discards && each < offset) ?? []
    const found = await Promise.all(offsets.map((each) => this.#parts.settled.read(partition, each, 1)))
    const shown = found.flatMap(({ records }) => records.map((record) => this.#shown(partition, record)))
    return (await Promise.all(shown)).flat()
  }
}
