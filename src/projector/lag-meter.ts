import type { EventLog, Offset } from '../event-log/event-log.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import { type Checkpoint, startOfPartition } from '../read-models/checkpoint.ts'
import type { ReadModels } from '../read-models/read-models.ts'
import { LagHistory } from './lag-history.ts'

const lookMs = 1000

/** How far the active read models are behind the log, as of one look at both. */
export type Lag = KnownLag | UnknownLag

export interface KnownLag {
  readonly status: 'known'
  readonly generation: string
  readonly partitions: readonly PartitionLag[]
}

/** While a part gives no answer, or has nothing that could be compared, there is no lag: not a 0 and not the last one. */
export interface UnknownLag {
  readonly status: 'unknown'
  readonly reason: string
  /** Undefined before the first look. */
  readonly logAnswers?: boolean
  readonly readModelsAnswer?: boolean
}

export interface PartitionLag {
  readonly partition: number
  /** Records in the log when it was looked at that are not handled yet. */
  readonly events: number
  /** For how long this process has seen unhandled records in the log, since the first of those that still are. */
  readonly seconds: number
  /** What became of the records handled, and the position behind them. */
  readonly checkpoint: Checkpoint
}

/** How many events are parked. */
export function parkedIn(partitions: readonly PartitionLag[]): number {
  return partitions.reduce((sum, { checkpoint }) => sum + checkpoint.parked, 0)
}

export interface LagMeterOptions {
  readonly log: Pick<EventLog, 'ends' | 'epoch'>
  readonly store: Pick<ReadModels, 'active' | 'checkpoints'>
  /** Called after each look, with the time of the look on the clock that `now` reads. */
  readonly looked?: (lag: Lag, atMs: number) => void
  /** Milliseconds of a clock that is never set back. */
  readonly now?: () => number
}

/** Looks at log and read models once a second, until closed. */
export class LagMeter {
  readonly #options: LagMeterOptions
  readonly #timer: NodeJS.Timeout
  readonly #looking = new SingleFlight(() => this.#look())
  #histories: LagHistory[] = []
  #lag: Lag = { status: 'unknown', reason: 'not looked at yet' }

  constructor(options: LagMeterOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#looking.request(), lookMs).unref()
    this.#looking.request()
  }

  /** As of the last look. */
  get lag(): Lag {
    return this.#lag
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking.stop()
  }

  async #look(): Promise<void> {
    const { log, looked, now = () => performance.now() } = this.#options
    // The ends come first: whatever is applied meanwhile then takes from the lag, and an idle system shows none.
    const ends = await attempt(() => log.ends())
    const progress = await attempt(() => this.#progress())
    const atMs = now()
    this.#lag = this.#compare(ends, progress, atMs)
    looked?.(this.#lag, atMs)
  }

  /** The checkpoints of the active generation, or why there are none. */
  async #progress(): Promise<Progress | string> {
    const { log, store } = this.#options
    const active = await store.active()
    if (active === undefined) return 'no read models have been started'
    if (active.epoch !== log.epoch) return 'the read models are made from another log'
    const checkpoints = await store.checkpoints(active.name)
    return checkpoints === undefined ? 'the read models are gone' : { generation: active.name, checkpoints }
  }

  #compare(ends: Attempt<readonly Offset[]>, progress: Attempt<Progress | string>, atMs: number): Lag {
    const answers = { logAnswers: ends.done, readModelsAnswer: progress.done }
    if (!ends.done) return { status: 'unknown', reason: ends.reason, ...answers }
    if (!progress.done) return { status: 'unknown', reason: progress.reason, ...answers }
    if (typeof progress.value === 'string') return { status: 'unknown', reason: progress.value, ...answers }
    const { generation, checkpoints } = progress.value
    const partitions = ends.value.map((end, partition) => {
      const checkpoint = checkpoints.get(partition) ?? startOfPartition
      this.#histories[partition] ??= new LagHistory()
      const behindMs = this.#histories[partition].observe(atMs, end, checkpoint.next)
      return { partition, events: Math.max(0, end - checkpoint.next), seconds: Math.round(behindMs) / 1000, checkpoint }
    })
    return { status: 'known', generation, partitions }
  }
}

interface Progress {
  readonly generation: string
  readonly checkpoints: ReadonlyMap<number, Checkpoint>
}

type Attempt<T> = { readonly done: true; readonly value: T } | { readonly done: false; readonly reason: string }

async function attempt<T>(ask: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { done: true, value: await ask() }
  } catch (error) {
    return { done: false, reason: error instanceof Error ? error.message : String(error) }
  }
}
