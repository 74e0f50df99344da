import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { retry } from '../lib/retry.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Offset, RecordBatch, Subscriber, Subscription } from '../log/event-log.ts'
import { RecordGoneError } from '../log/read-at.ts'
import { type Checkpoint, startOfPartition } from '../read-models/checkpoint.ts'
import type { Checkpoints } from '../read-models/generations.ts'
import type { ShardLog } from '../read-models/shards.ts'
import type { ReadModelStore } from '../read-models/store.ts'
import { Applier } from './applier.ts'
import type { Rules } from './definition.ts'

export interface ReplayOptions extends Rules {
  readonly log: ShardLog
  /** An empty store for this purpose only. */
  readonly scratch: ReadModelStore
  /** A group that nobody else uses. */
  readonly group: string
  readonly logger: Logger
  /** How long without progress until the log is asked whether it has the awaited records; by default a second. */
  readonly askMs?: number
  /**
   * Called repeatedly: first with the number of records replayed and to replay, then with what has been compared and
   * its total.
   */
  readonly progress?: (step: 'replay' | 'compare', done: number, total: number) => void
}

/** The read models changed in a way that verification cannot follow. Start it again. */
export class VerifyError extends Error {
  override readonly name = 'VerifyError'
}

/** Log and read models do not belong together: verifying again gives the same result. */
export class MismatchError extends Error {
  override readonly name = 'MismatchError'
}

/** Replays the log into a scratch store, up to exact positions. */
export class Replay implements Subscriber {
  readonly generation = randomUUID()
  readonly #options: ReplayOptions
  readonly #applier: Applier
  readonly #reached = new Map<number, Checkpoint>()
  /** Batches that are not completely applied, by partition. */
  readonly #pending = new Map<number, { readonly batch: RecordBatch; done(isDone: boolean): void }>()
  #arrival = Promise.withResolvers<void>()
  #subscription: Promise<Subscription> | undefined
  #isClosed = false

  private constructor(options: ReplayOptions) {
    this.#options = options
    const { log } = options
    this.#applier = new Applier({
      ...options,
      store: options.scratch.projection,
      log: {
        partitionFor: (key) => log.partitionFor(key),
        endOffsets: () => retry(() => log.endOffsets(), options),
        read: (...place) => retry(() => log.read(...place), options),
      },
    })
  }

  static async start(options: ReplayOptions): Promise<Replay> {
    const { log, scratch, group } = options
    const replay = new Replay(options)
    await scratch.generations.start({ name: replay.generation, logId: log.logId }, undefined)
    replay.#subscription = log.subscribe(group, replay)
    await replay.#subscription
    return replay
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const { done } of this.#pending.values()) done(false)
    await (await this.#subscription)?.close()
  }

  /** Resolves once everything before these positions is applied, and nothing else. Call it once at a time. */
  async upTo(targets: Checkpoints): Promise<void> {
    const goals = [...targets].map(([partition, { next }]) => ({ partition, next }))
    if (goals.some(({ partition, next }) => this.#positionOf(partition) > next)) {
      throw new VerifyError('The positions of the read models went back during the verification.')
    }
    const { askMs = 1000 } = this.#options
    const total = goals.reduce((sum, { next }) => sum + next, 0)
    for (;;) {
      const done = goals.reduce((sum, { partition }) => sum + this.#positionOf(partition), 0)
      if (done === total) return
      this.#options.progress?.('replay', done, total)
      const behind = goals.filter(({ partition, next }) => this.#positionOf(partition) < next)
      const due = behind.filter(({ partition }) => this.#pending.has(partition))
      for (const { partition, next } of due) await this.#apply(partition, next)
      if (due.length === 0) await withTimeout(askMs, this.#arrival.promise).catch(() => this.#expectInLog(behind))
    }
  }

  async assigned(partitions: readonly number[]): Promise<void> {
    const subscription = await this.#subscription
    for (const partition of partitions) subscription?.seek(partition, this.#positionOf(partition))
  }

  /** The batch is done once `upTo` has reached its end. */
  async batch(batch: RecordBatch): Promise<boolean> {
    if (this.#isClosed) return false
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#pending.set(batch.partition, { batch, done: resolve })
    this.#arrival.resolve()
    this.#arrival = Promise.withResolvers()
    return await promise
  }

  /** Applies the pending records of a partition before `end`. */
  async #apply(partition: number, end: Offset): Promise<void> {
    const pending = this.#pending.get(partition)
    if (pending === undefined) return
    const { batch, done } = pending
    const next = Math.min(batch.next, end)
    const records = batch.records.filter(({ offset }) => offset < next)
    const before = this.#reached.get(partition) ?? startOfPartition
    const applying = this.#applier.apply(this.generation, before, { ...batch, records, next })
    const reached = await applying.catch((error) => {
      throw error instanceof RecordGoneError ? new MismatchError(`A parked event is lost: ${error.message}.`) : error
    })
    if (reached === undefined) throw new VerifyError('Something else writes to the scratch read models.')
    this.#reached.set(partition, reached)
    if (reached.next < batch.next) return
    this.#pending.delete(partition)
    done(true)
  }

  /** Records that are not in the log would be awaited forever, and so would an unavailable log. */
  async #expectInLog(goals: readonly { readonly partition: number; readonly next: Offset }[]): Promise<void> {
    const endOffsets = await retry(() => this.#options.log.endOffsets(), this.#options)
    for (const { partition, next } of goals) {
      const end = endOffsets[partition] ?? 0
      if (next <= end) continue
      throw new MismatchError(`Partition ${partition} of the log ends at ${end}, but the read models are at ${next}.`)
    }
  }

  #positionOf(partition: number): Offset {
    return this.#reached.get(partition)?.next ?? 0
  }
}
