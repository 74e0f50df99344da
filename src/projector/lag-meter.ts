import type { EventLog, Offset } from '../event-log/event-log.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import { type Checkpoint, startOfPartition } from '../read-models/checkpoint.ts'
import type { Look, Tracker } from '../read-models/tracker.ts'
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
  return partitions.reduce((sum, { checkpoint }) => sum + checkpoint.counts.parked, 0)
}

export interface LagMeterOptions {
  readonly log: Pick<EventLog, 'endOffsets' | 'logId'>
  readonly tracker: Pick<Tracker, 'look'>
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
    const { log, tracker, looked, now = () => performance.now() } = this.#options
    // The end offsets come first: whatever is applied meanwhile then takes from the lag, and an idle system shows none.
    const [ends] = await Promise.allSettled([log.endOffsets()])
    const [look] = await Promise.allSettled([tracker.look()])
    const atMs = now()
    this.#lag = this.#compare(ends, look, atMs)
    looked?.(this.#lag, atMs)
  }

  #compare(ends: PromiseSettledResult<readonly Offset[]>, look: PromiseSettledResult<Look>, atMs: number): Lag {
    const answers = { logAnswers: ends.status === 'fulfilled', readModelsAnswer: look.status === 'fulfilled' }
    const unknown = (reason: string): Lag => ({ status: 'unknown', reason, ...answers })
    if (ends.status === 'rejected') return unknown(messageOf(ends.reason))
    if (look.status === 'rejected') return unknown(messageOf(look.reason))
    const { active, checkpoints } = look.value
    if (active === undefined) return unknown('no read models have been started')
    if (active.logId !== this.#options.log.logId) return unknown('the read models are made from another log')
    if (checkpoints === undefined) return unknown('the read models are gone')
    const partitions = ends.value.map((end, partition) => {
      const checkpoint = checkpoints.get(partition) ?? startOfPartition
      this.#histories[partition] ??= new LagHistory()
      const behindMs = this.#histories[partition].observe(atMs, end, checkpoint.next)
      return { partition, events: Math.max(0, end - checkpoint.next), seconds: Math.round(behindMs) / 1000, checkpoint }
    })
    return { status: 'known', generation: active.name, partitions }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
