import { setTimeout as delay } from 'node:timers/promises'
import type { EventLog } from '../log/event-log.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import { type SettledEvents, tookEffect } from '../rule/settled-events.ts'
import { FairTurns } from './fair-turns.ts'
import { type Account, batchOf, type FeedBatch, type FeedPlace } from './feed-batch.ts'
import { KeptBatches } from './kept-batches.ts'
import type { ReleasedEvents } from './released-events.ts'

export interface SharedBatchesOptions {
  readonly settled: SettledEvents
  readonly released: ReleasedEvents
  readonly log: Pick<EventLog, 'partitions' | 'endOffsets'>
  readonly readModel: Pick<ReadModel, 'whenApplied' | 'generationOf'>
}

/** How long to wait for a first record: then a batch is empty. */
const waitMs = 10_000
const retryMs = 500
const recordsMax = 100

type CatchUp = { readonly reading: Promise<FeedBatch> } | { readonly reading?: undefined; readonly retryInMs: number }

/**
 * The batches behind each position, read once for all who are there at about the same time. Another generation may be of
 * a log that has lost its end, so what became of its records is asked anew. What is there already is read in turns, on
 * the account of whoever asks first; waiting at the end of the log costs nothing of that.
 */
export class SharedBatches {
  readonly #options: SharedBatchesOptions
  readonly #turns = new FairTurns()
  readonly #kept: KeptBatches
  #isClosed = false

  constructor(options: SharedBatchesOptions) {
    this.#options = options
    this.#kept = new KeptBatches(options.log.partitions)
  }

  /**
   * Waits for the read models to come to the place. Never rejects: where it cannot be read now, or the follower has gone,
   * the batch is empty.
   */
  async behind(place: FeedPlace, account: Account, gone: AbortSignal): Promise<FeedBatch> {
    for (;;) {
      const kept = this.#keptAt(place)
      if (kept !== undefined) return await kept
      const isThere = await this.#isApplied(place, 1)
      if (!isThere) return await (this.#keptAt(place) ?? this.#share(place, this.#await(place)))
      const taken = await this.#turns.take(account.owner, () => this.#catchUp(place, account, gone))
      if (taken.reading !== undefined) return await taken.reading
      await delay(taken.retryInMs, undefined, { signal: gone }).catch(() => {})
    }
  }

  close(): void {
    this.#isClosed = true
  }

  #keptAt(place: FeedPlace): Promise<FeedBatch> | undefined {
    return this.#kept.at(nameOf(place), this.#generationAt(place))
  }

  #keep(place: FeedPlace, reading: Promise<FeedBatch>, events?: FeedBatch['events']): void {
    this.#kept.keep(nameOf(place), this.#generationAt(place), reading, events)
  }

  /** Where nothing can be read now, it ends with a pause. The failing part logs its own problem. */
  #share(place: FeedPlace, read: Promise<FeedBatch | undefined>): Promise<FeedBatch> {
    const begunMs = performance.now()
    const reading = read.then(async (batch = { events: [], place }) => {
      if (nameOf(batch.place) !== nameOf(place)) {
        this.#keep(place, reading, batch.events)
        return batch
      }
      const hasWaited = performance.now() - begunMs > waitMs / 2 // longer than any read that fails
      if (!hasWaited && !batch.isLost && !this.#isClosed) await delay(retryMs)
      this.#kept.forget(nameOf(place))
      return batch
    })
    this.#keep(place, reading)
    return reading
  }

  #generationAt({ partition }: FeedPlace): string | undefined {
    return this.#options.readModel.generationOf(partition)
  }

  /** Whether so many records behind the place are applied. */
  async #isApplied({ partition, next }: FeedPlace, records: number): Promise<boolean> {
    const last = { partition, offset: next + records - 1 }
    return (await this.#options.readModel.whenApplied(last, { timeoutMs: 0 })) !== 'late'
  }

  /** Reads in a turn of the account, which is over once it is read: a pause behind that takes up no turn. */
  async #catchUp(place: FeedPlace, account: Account, gone: AbortSignal): Promise<CatchUp> {
    if (gone.aborted) return { reading: Promise.resolve({ events: [], place }) }
    const isMuch = place.told > 0 || (await this.#isApplied(place, recordsMax))
    const kept = this.#keptAt(place)
    if (kept !== undefined) return { reading: kept }
    const retryInMs = isMuch ? account.count() : 0
    if (retryInMs > 0) return { retryInMs }
    const read = this.#readApplied(place)
    const reading = this.#share(place, read)
    await read
    return { reading }
  }

  async #await(place: FeedPlace): Promise<FeedBatch | undefined> {
    const { partition, next: offset } = place
    const wait = { timeoutMs: waitMs, isAbandoned: () => this.#isClosed }
    const generation = this.#generationAt(place)
    const applied = await this.#options.readModel.whenApplied({ partition, offset }, wait)
    const isInDoubt = applied === 'late' || this.#generationAt(place) !== generation
    if (isInDoubt && (await this.#isLost(place))) return { events: [], place, isLost: true }
    return applied === 'late' ? undefined : await this.#readApplied(place)
  }

  async #isLost({ partition, next }: FeedPlace): Promise<boolean> {
    const ends = await this.#options.log.endOffsets().catch(() => undefined)
    return ends !== undefined && next > (ends[partition] ?? 0)
  }

  /** Undefined if it cannot be read, or another generation came meanwhile. */
  async #readApplied(place: FeedPlace): Promise<FeedBatch | undefined> {
    const generation = this.#generationAt(place)
    const batch = await this.#batchBehind(place).catch(() => undefined)
    return this.#generationAt(place) === generation ? batch : undefined
  }

  async #batchBehind(place: FeedPlace): Promise<FeedBatch> {
    const { partition, next: from } = place
    const { settled, released } = this.#options
    const { records, next } = await settled.read(partition, from, recordsMax)
    const [first] = records
    if (first?.event?.discards !== undefined && first.outcome === 'discarding') {
      return await released.behind(place, first.event)
    }
    const end = records.findIndex(({ outcome }) => outcome === 'waiting' || outcome === 'discarding')
    const told = end < 0 ? records : records.slice(0, end)
    const effective = told.filter(tookEffect)
    const { events, taken } = batchOf(effective)
    const untold = effective[taken]?.record.offset
    const behindTold = untold ?? (told.at(-1)?.record.offset ?? from - 1) + 1
    // A place behind offsets that carry no record must not be ahead of what this process shows.
    const isPassed = end < 0 && untold === undefined && (await this.#isApplied({ ...place, next: next - 1 }, 1))
    return { events, place: { partition, next: isPassed ? next : behindTold, told: 0 } }
  }
}

function nameOf({ partition, next, told }: FeedPlace): string {
  return `${partition}:${next}:${told}`
}
