import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../lib/errors/errors.ts'
import type { Warning } from '../lib/operating/warning.ts'
import { unlessAborted } from '../lib/with-timeout.ts'
import type { Offset } from '../log/event-log.ts'
import { type Filled, type LaneMembership, type PublishedLog, StandsStill } from '../log/published-log.ts'
import { type Lag, LagHistory } from '../projector/lag-meter.ts'
import { Lane, type LaneOptions } from './lane.ts'
import type { Telling } from './teller.ts'

export interface PublisherOptions extends Omit<LaneOptions, LaneOwn> {
  readonly telling: Telling
  readonly published: Omit<PublishedLog, 'inspect'>
  /** How far the read models of this process are behind the log. */
  readonly lag: () => Lag
}

type LaneOwn = 'telling' | 'published' | 'group' | 'lane' | 'lanes' | 'heard'

export interface PublishedPartition {
  readonly partition: number
  /** Records of the log that it has not passed yet. */
  readonly events: number
  /** How long this process has seen such records. */
  readonly seconds: number
  /** Streams that wait behind a parked event. */
  readonly waiting: number
  /** Where the copy of the read models is; undefined where nothing is to be copied. */
  readonly filling: Filled['copying']
}

export interface PublishedLane {
  readonly lane: number
  /** Why nothing is published there; undefined while it is. */
  readonly failure: string | undefined
  readonly partitions: readonly PublishedPartition[]
}

/** What one process says of a publisher: the lanes that it has. */
export interface PublisherState {
  readonly publisher: string
  /** Why this process takes no part; undefined while it does. */
  readonly failure: string | undefined
  readonly lanes: readonly PublishedLane[]
  /** Documents that this process left out, since they are too large. */
  readonly leftOut: number
  readonly warnings: readonly Warning[]
}

const tickMs = 1000
const prepareAgainMs = 5000
/** How often the topics are looked at for what could be wrong with them. */
const lookAgainMs = 60_000
/** A process takes part once its read models are so near the end of the log, and no longer when they are so far from it. */
const joinsWithinSeconds = 5
const leavesBehindSeconds = 60

/** One of the publishers of a service: takes its share of the lanes while the read models have caught up. */
export class Publisher {
  readonly #options: PublisherOptions
  readonly #heard = new Map<number, Offset>()
  readonly #histories = new Map<number, LagHistory>()
  readonly #ended = new AbortController()
  readonly #running: Promise<void>
  #lanes: readonly Lane[] = []
  #closing: Promise<unknown> = Promise.resolve()
  #seconds: ReadonlyMap<number, number> = new Map()
  #membership: LaneMembership | undefined
  /** What the last look found, while it takes part. */
  #found: unknown
  #failure: unknown = new Error('The read models have not caught up yet.')

  constructor(options: PublisherOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  get state(): PublisherState {
    const { published, telling } = this.#options
    const failure = this.#failure ?? this.#membership?.failure
    const lanes = this.#lanes.map((lane) => ({
      ...{ lane: lane.lane, failure: lane.failure },
      partitions: lane.progress.map(({ partition, next, waiting, filled }) => ({
        ...{ partition, waiting, filling: filled?.copying, seconds: this.#seconds.get(partition) ?? 0 },
        events: Math.max(0, (endsIn(this.#options.lag()).get(partition) ?? next) - next),
      })),
    }))
    return {
      publisher: published.publisher,
      failure: toldOf(failure),
      lanes,
      leftOut: telling.leftOut,
      warnings: [
        ...published.warnings,
        ...telling.warnings,
        ...standingStill([failure, this.#found, ...this.#lanes.map((lane) => lane.still)]),
      ],
    }
  }

  /** The read models have come so far, as somebody says: what is told is read from them. */
  heard(partition: number, next: Offset): void {
    this.#heard.set(partition, next)
    for (const lane of this.#lanes) lane.wake()
  }

  async close(): Promise<void> {
    this.#ended.abort()
    await this.#running
    this.#options.published.close()
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended
    const { published } = this.#options
    while (!signal.aborted) {
      if (!this.#isNear()) await this.#pause(tickMs)
      else {
        try {
          const lanes = await unlessAborted(signal, published.prepare())
          if (lanes !== undefined) await this.#takePart(lanes)
        } catch (error) {
          this.#failed(error)
          await this.#pause(prepareAgainMs)
        }
      }
    }
  }

  async #takePart(lanes: number): Promise<void> {
    const { signal } = this.#ended
    const { published } = this.#options
    this.#failure = undefined
    this.#found = undefined
    const membership = published.join(lanes, (assigned) => this.#assign(assigned, lanes, membership))
    this.#membership = membership
    for (let preparedMs = performance.now(); !signal.aborted && !this.#isFarBehind(); ) {
      this.#measure()
      await this.#pause(tickMs)
      if (performance.now() - preparedMs < lookAgainMs) continue
      preparedMs = performance.now()
      this.#found = await unlessAborted(signal, published.prepare()).then(
        () => undefined,
        (error: unknown) => error,
      )
    }
    if (!signal.aborted) this.#failed(new Error('The read models are too far behind the log.'))
    this.#assign([], lanes, membership)
    await this.#closing
    await membership.close()
    this.#membership = undefined
  }

  #assign(assigned: readonly number[], lanes: number, group: LaneMembership): void {
    const kept = this.#lanes.filter(({ lane }) => assigned.includes(lane))
    const closing = this.#lanes.filter((lane) => !kept.includes(lane)).map((lane) => lane.close())
    this.#closing = Promise.all([this.#closing, ...closing])
    const taken = assigned.filter((lane) => !kept.some((each) => each.lane === lane))
    const opened = taken.map((lane) => new Lane({ ...this.#options, lane, lanes, group, heard: this.#heard }))
    this.#lanes = [...kept, ...opened].sort((one, other) => one.lane - other.lane)
  }

  #measure(): void {
    const atMs = performance.now()
    const ends = endsIn(this.#options.lag())
    const seconds = this.#lanes.flatMap(({ progress }) =>
      progress.map(({ partition, next }) => {
        const history = this.#histories.get(partition) ?? new LagHistory()
        this.#histories.set(partition, history)
        return [partition, history.observe(atMs, ends.get(partition) ?? next, next) / 1000] as const
      }),
    )
    this.#seconds = new Map(seconds)
    for (const partition of this.#histories.keys()) if (!this.#seconds.has(partition)) this.#histories.delete(partition)
  }

  #isNear(): boolean {
    const lag = this.#options.lag()
    return lag.status === 'known' && lag.partitions.every(({ seconds }) => seconds < joinsWithinSeconds)
  }

  /** While log or read models do not answer nobody publishes, so nobody need make way. */
  #isFarBehind(): boolean {
    const lag = this.#options.lag()
    return lag.status === 'known' && lag.partitions.some(({ seconds }) => seconds > leavesBehindSeconds)
  }

  #failed(error: unknown): void {
    const reason = messageOf(error)
    const { logger, published } = this.#options
    if (toldOf(this.#failure) !== reason)
      logger.warn({ publisher: published.publisher }, `nothing is published by this process: ${reason}`)
    this.#failure = error
  }

  #pause(ms: number): Promise<void> {
    return delay(ms, undefined, { signal: this.#ended.signal }).catch(() => {})
  }
}

function toldOf(failure: unknown): string | undefined {
  return failure === undefined ? undefined : messageOf(failure)
}

/** What an operator has to see to, once each. */
function standingStill(failures: readonly unknown[]): readonly Warning[] {
  const still = failures.filter((each) => each instanceof StandsStill)
  return [...new Map(still.map(({ code, message }) => [message, { code, message }])).values()]
}

/** The ends of the log, as of the last look. */
function endsIn(lag: Lag): ReadonlyMap<number, Offset> {
  const partitions = lag.status === 'known' ? lag.partitions : []
  return new Map(partitions.map(({ partition, events, checkpoint }) => [partition, checkpoint.next + events]))
}
