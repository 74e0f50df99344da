import { setTimeout as delay } from 'node:timers/promises'
import type { EventLog } from '../event-log/event-log.ts'
import { eventText } from '../event-log/record-codec.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import type { FeedBatch, FeedEvent, FeedPlace } from './feed-batch.ts'
import type { ReleasedEvents } from './released-events.ts'
import type { SettledEvents, SettledRecord } from './settled-events.ts'

export interface SharedBatchesParts {
  readonly settled: SettledEvents
  readonly released: ReleasedEvents
  readonly log: Pick<EventLog, 'partitions' | 'endOffsets'>
  readonly readModel: Pick<ReadModel, 'whenApplied' | 'generationOf'>
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

  /** Waits for the read models to come to the place. Never rejects: where it cannot be read now, the batch is empty. */
  behind(place: FeedPlace): Promise<FeedBatch> {
    const name = nameOf(place)
    const generation = () => this.#parts.readModel.generationOf(place.partition)
    const kept = this.#kept.get(name)
    const isFresh = kept?.generation === generation() && performance.now() - (kept?.since ?? 0) < keptMs
    if (kept !== undefined && isFresh) return kept.reading
    const reading = this.#read(place).then((batch) => {
      if (nameOf(batch.place) === name) this.#kept.delete(name)
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

  async #read(place: FeedPlace): Promise<FeedBatch> {
    const { partition, next: offset } = place
    const { readModel } = this.#parts
    const wait = { timeoutMs: waitMs, isAbandoned: () => this.#isClosed }
    const end = performance.now() + waitMs
    const generation = readModel.generationOf(partition)
    const applied = await readModel.whenApplied({ partition, offset }, wait)
    const isInDoubt = applied === 'late' || readModel.generationOf(partition) !== generation
    if (isInDoubt && (await this.#isLost(place))) return { events: [], place, isLost: true }
    const batch = applied === 'late' ? undefined : await this.#readApplied(place).catch(() => undefined)
    if (batch !== undefined && nameOf(batch.place) !== nameOf(place)) return batch
    // The failing part logs its own problem; retry after a pause.
    if (performance.now() < end && !this.#isClosed) await delay(retryMs)
    return { events: [], place }
  }

  async #isLost({ partition, next }: FeedPlace): Promise<boolean> {
    const ends = await this.#parts.log.endOffsets().catch(() => undefined)
    return ends !== undefined && next > (ends[partition] ?? 0)
  }

  /** Undefined if another generation came meanwhile. */
  async #readApplied(place: FeedPlace): Promise<FeedBatch | undefined> {
    const { partition, next: from } = place
    const { readModel, settled, released } = this.#parts
    const generation = readModel.generationOf(partition)
    const { records, next } = await settled.read(partition, from, recordsMax)
    const end = records.findIndex(({ outcome }) => outcome === 'waiting' || outcome === 'discarding')
    const [first] = records
    const batch =
      first?.event?.discards !== undefined && first.outcome === 'discarding'
        ? await released.behind(place, first.event)
        : {
            events: (end < 0 ? records : records.slice(0, end)).flatMap(shown),
            place: { partition, next: records[end]?.record.offset ?? next, told: 0 },
          }
    return readModel.generationOf(partition) === generation ? batch : undefined
  }
}

function nameOf({ partition, next, told }: FeedPlace): string {
  return `${partition}:${next}:${told}`
}

function shown({ record, event, outcome }: SettledRecord): FeedEvent[] {
  if (event === undefined || event.discards !== undefined || outcome !== 'applied') return []
  return [{ stream: event.stream, type: event.type, json: eventText(record.value) }]
}
