import { messageOf } from '../lib/errors/errors.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import type { EventLog, Offset } from '../log/event-log.ts'
import type { Checkpoints, Look } from '../read-models/ports/generations.ts'
import { type Checkpoint, startOfPartition } from '../read-models/stored-texts.ts'
import type { Tracker } from '../read-models/tracker.ts'

const lookMs = 1000

/** How far the active read models are behind the log, from one look at both. */
export type Lag = KnownLag | UnknownLag

export interface KnownLag {
  readonly status: 'known'
  readonly generation: string
  readonly partitions: readonly PartitionLag[]
  /** Records in the log that the generation being built has not handled yet; undefined if none is being built. */
  readonly rebuildEvents?: number | undefined
}

/**
 * Without an answer from both parts, or without anything to compare, the lag is unknown: neither 0 nor the last figure.
 */
export interface UnknownLag {
  readonly status: 'unknown'
  readonly reason: string
  /** Undefined before the first look. */
  readonly logAnswers?: boolean
  readonly readModelsAnswer?: boolean
}

export interface PartitionLag {
  readonly partition: number
  /** Records in the log, as of the last look, that are not handled yet. */
  readonly events: number
  /** How long this process has seen unhandled records in the log: since it first saw the oldest of them. */
  readonly seconds: number
  /** The outcomes of the handled records, and the next position. */
  readonly checkpoint: Checkpoint
}

/** How many events are parked. */
export function parkedIn(partitions: readonly PartitionLag[]): number {
  return partitions.reduce((sum, { checkpoint }) => sum + checkpoint.counts.parked, 0)
}

export interface LagMeterOptions {
  readonly log: Pick<EventLog, 'endOffsets' | 'logId'>
  readonly tracker: Pick<Tracker, 'look'>
  /** Called after each look, with its time in milliseconds of a monotonic clock. */
  readonly looked?: (lag: Lag, atMs: number) => void
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
    const { log, tracker, looked } = this.#options
    // The end offsets are read first: anything applied meanwhile then reduces the lag, and an idle system shows none.
    const [endOffsets] = await Promise.allSettled([log.endOffsets()])
    const [look] = await Promise.allSettled([tracker.look()])
    const atMs = performance.now()
    this.#lag = this.#compare(endOffsets, look, atMs)
    looked?.(this.#lag, atMs)
  }

  #compare(endOffsets: PromiseSettledResult<readonly Offset[]>, look: PromiseSettledResult<Look>, atMs: number): Lag {
    const answers = { logAnswers: endOffsets.status === 'fulfilled', readModelsAnswer: look.status === 'fulfilled' }
    const unknown = (reason: string): Lag => ({ status: 'unknown', reason, ...answers })
    if (endOffsets.status === 'rejected') return unknown(messageOf(endOffsets.reason))
    if (look.status === 'rejected') return unknown(messageOf(look.reason))
    const { logId } = this.#options.log
    const { active, checkpoints, damage, building } = look.value
    if (active === undefined) return unknown('no read models have been started')
    if (active.logId !== logId) return unknown('the read models belong to another log')
    if (checkpoints === undefined) return unknown(damage ?? 'the read models are gone')
    const partitions = endOffsets.value.map((end, partition) => {
      const checkpoint = checkpoints.get(partition) ?? startOfPartition
      this.#histories[partition] ??= new LagHistory()
      const behindMs = this.#histories[partition].observe(atMs, end, checkpoint.next)
      return { partition, events: Math.max(0, end - checkpoint.next), seconds: Math.round(behindMs) / 1000, checkpoint }
    })
    const rebuildEvents = building?.logId === logId ? behind(endOffsets.value, building.checkpoints) : undefined
    return { status: 'known', generation: active.name, partitions, rebuildEvents }
  }
}

function behind(endOffsets: readonly Offset[], checkpoints: Checkpoints): number {
  return endOffsets.reduce((sum, end, partition) => sum + Math.max(0, end - (checkpoints.get(partition)?.next ?? 0)), 0)
}

/** Measures how long one partition has been behind: since the oldest unprocessed end offset was first observed. */
export class LagHistory {
  readonly #seenMax: number
  /** Rising end offsets beyond the position, each with the time when it was first observed. */
  #seen: { readonly atMs: number; end: Offset }[] = []

  /**
   * With more than `seenMax` end offsets, those nearest in time are merged: the lag then looks longer, never shorter.
   */
  constructor(seenMax = 512) {
    this.#seenMax = seenMax
  }

  /** Milliseconds; 0 if nothing is left to apply. */
  observe(atMs: number, end: Offset, next: Offset): number {
    if (end < (this.#seen.at(-1)?.end ?? 0)) this.#seen = [] // another log has replaced it
    this.#seen = this.#seen.filter((seen) => seen.end > next)
    if (end > (this.#seen.at(-1)?.end ?? next)) this.#seen.push({ atMs, end })
    if (this.#seen.length > this.#seenMax) this.#joinNearest()
    const [first] = this.#seen
    return first === undefined ? 0 : atMs - first.atMs
  }

  /**
   * The entry whose neighbours are nearest in time is merged into the previous one: its end offset counts as seen since
   * then.
   */
  #joinNearest(): void {
    const seen = this.#seen
    const spans = seen.slice(2).map(({ atMs }, before) => atMs - (seen[before]?.atMs ?? 0))
    const at = spans.indexOf(Math.min(...spans))
    const [joined] = seen.splice(at + 1, 1)
    const into = seen[at]
    if (joined !== undefined && into !== undefined) into.end = joined.end
  }
}
