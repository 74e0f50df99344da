import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Offset, RecordBatch, Subscriber, Subscription } from '../event-log/event-log.ts'
import { retry } from '../lib/retry.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { type Checkpoint, startOfPartition } from '../read-models/checkpoint.ts'
import type { Checkpoints } from '../read-models/generations.ts'
import type { ReadModelStore } from '../read-models/store.ts'
import { Applier } from './applier.ts'
import type { Rules } from './definition.ts'
import type { ProjectedLog } from './projector.ts'

export interface ReplayOptions<State, Event> extends Rules<State, Event> {
  readonly log: ProjectedLog
  /** An empty store of its own. */
  readonly scratch: ReadModelStore
  /** Used by nobody else. */
  readonly group: string
  readonly logger: Logger
  /** Called again and again: records replayed of those to replay, then what was compared of all there is. */
  readonly progress?: (step: 'replay' | 'compare', done: number, total: number) => void
}

/** The read models changed in a way that verifying cannot follow: to be begun again. */
export class VerifyError extends Error {
  override readonly name = 'VerifyError'
}

/** The log or the read models are not what either was made for: verifying again finds the same. */
export class MismatchError extends Error {
  override readonly name = 'MismatchError'
}

/** How long nothing has to move before the log is asked whether it has what is waited for. */
const askMs = 1000

/** Replays the log into a scratch store, up to exact positions. */
export class Replay<State, Event> implements Subscriber {
  readonly generation = randomUUID()
  readonly #options: ReplayOptions<State, Event>
  readonly #applier: Applier<State, Event>
  readonly #reached = new Map<number, Checkpoint>()
  readonly #targets = new Map<number, Offset>()
  #assigned: readonly number[] = []
  #subscription: Subscription | undefined
  #isClosed = false
  #error: unknown
  /** Resolves when any of these changes. */
  #change = Promise.withResolvers<void>()

  private constructor(options: ReplayOptions<State, Event>) {
    this.#options = options
    this.#applier = new Applier({ ...options, store: options.scratch.projection })
  }

  static async start<State, Event>(options: ReplayOptions<State, Event>): Promise<Replay<State, Event>> {
    const { log, scratch, group } = options
    const replay = new Replay(options)
    await scratch.generations.start({ name: replay.generation, logId: log.logId }, undefined)
    replay.#subscription = await log.subscribe(group, replay)
    replay.assigned(replay.#assigned)
    return replay
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#changed()
    await this.#subscription?.close()
  }

  /** Resolves once everything before these positions is applied, and nothing else. */
  async upTo(checkpoints: Checkpoints): Promise<void> {
    for (const [partition, { next }] of checkpoints) {
      const position = this.#positionOf(partition)
      if (position > next) throw new VerifyError('The positions of the read models went back while they were verified.')
      this.#targets.set(partition, next)
    }
    this.#changed()
    const total = sum([...this.#targets.values()])
    for (;;) {
      if (this.#error !== undefined) throw this.#error
      const done = sum([...this.#targets.keys()].map((partition) => this.#positionOf(partition)))
      if (done === total) return
      this.#options.progress?.('replay', done, total)
      await withTimeout(askMs, this.#change.promise).catch(() => this.#expectInLog())
    }
  }

  assigned(partitions: readonly number[]): void {
    this.#assigned = partitions
    for (const partition of partitions) this.#subscription?.seek(partition, this.#positionOf(partition))
  }

  async batch(batch: RecordBatch): Promise<boolean> {
    const { partition, next } = batch
    try {
      for (let from = batch.from; from < next; from = this.#positionOf(partition)) {
        while (!this.#isClosed && this.#targetOf(partition) <= from) await this.#change.promise
        if (this.#isClosed) return false
        await this.#apply(batch, Math.min(next, this.#targetOf(partition)))
      }
      return true
    } catch (error) {
      this.#error = error
      return false
    } finally {
      this.#changed()
    }
  }

  async #apply(batch: RecordBatch, next: Offset): Promise<void> {
    const { partition } = batch
    const records = batch.records.filter(({ offset }) => offset < next)
    const before = this.#reached.get(partition) ?? startOfPartition
    const reached = await this.#applier.apply(this.generation, before, { ...batch, records, next })
    if (reached === undefined) throw new VerifyError('Something else writes to the scratch read models.')
    this.#reached.set(partition, reached)
    this.#changed()
  }

  /** What is not in the log would be waited for without end, and so would a log that is away. */
  async #expectInLog(): Promise<void> {
    const ends = await retry(() => this.#options.log.endOffsets(), this.#options)
    for (const [partition, next] of this.#targets) {
      const end = ends[partition] ?? 0
      if (next <= end) continue
      throw new MismatchError(`Partition ${partition} of the log ends at ${end}, but the read models are at ${next}.`)
    }
  }

  #positionOf(partition: number): Offset {
    return this.#reached.get(partition)?.next ?? 0
  }

  #targetOf(partition: number): Offset {
    return this.#targets.get(partition) ?? 0
  }

  #changed(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
