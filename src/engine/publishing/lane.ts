import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { messageOf } from '../lib/errors/errors.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { type LaneMembership, type OwnedLane, type PublishedLog, StandsStill } from '../log/published-log.ts'
import { LaneTurns, type LaneTurnsOptions } from './lane-turns.ts'
import type { Telling } from './teller.ts'
import type { TakenTurn } from './turn.ts'

export interface LaneOptions extends Omit<LaneTurnsOptions, 'teller'> {
  readonly telling: Pick<Telling, 'newTeller'>
  readonly published: Pick<PublishedLog, 'takeOver' | 'publisher'>
  readonly group: Pick<LaneMembership, 'heartbeat'>
  readonly lane: number
  readonly lanes: number
  readonly logger: Logger
  /** After a failure the lane waits no longer for a heartbeat: it may be the only one that has it. By default 20 s. */
  readonly beatMs?: number
}

/**
 * From one turn to the next that leaves nothing behind, by how much the last one told: a transaction costs the same for one
 * record and for hundreds, so that the rarer they are, the more of the machine is left to who appends (decision 0069).
 */
const turnMs = { least: 300, most: 1000, perRecord: 1 }
/** Kafka ends a transaction by itself after twice as long. */
const commitLimitMs = 5000
const checkEveryMs = 1000
const checkLimitMs = 3000
const retryMs = 500
const stillMs = 5000
const closeLimitMs = 2000
const startsWithinMs = 10_000
const beatWithinMs = 20_000

/** Takes over a lane and publishes its partitions, until closed. After any failure it takes it over again. */
export class Lane {
  readonly #options: LaneOptions
  readonly #ended = new AbortController()
  readonly #beganMs = performance.now()
  readonly #running: Promise<void>
  #owned: OwnedLane | undefined
  #turns: LaneTurns | undefined
  #failure: unknown
  #warnedOf: string | undefined
  #wake = () => {}

  constructor(options: LaneOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  get lane(): number {
    return this.#options.lane
  }

  /** What was committed of each partition; none before the lane is taken over. */
  get progress(): LaneTurns['progress'] {
    return this.#turns?.progress ?? []
  }

  /** Why it does not publish; undefined while it does. */
  get failure(): string | undefined {
    return this.#failure === undefined ? undefined : messageOf(this.#failure)
  }

  /** The same, if an operator has to see to it. */
  get still(): StandsStill | undefined {
    return this.#failure instanceof StandsStill ? this.#failure : undefined
  }

  /** More may have been applied. */
  wake(): void {
    this.#wake()
  }

  /** Finishes the transaction in hand, if that takes no more than a moment. Whatever is under way then publishes nothing. */
  async close(): Promise<void> {
    this.#ended.abort()
    this.#wake()
    await withTimeout(closeLimitMs, this.#running).catch(() => this.#owned?.close())
  }

  async #run(): Promise<void> {
    const { published, lane, lanes, group, beatMs = beatWithinMs } = this.#options
    const { signal } = this.#ended
    while (!signal.aborted) {
      try {
        this.#owned = await published.takeOver(lane, lanes)
        if (!signal.aborted) await this.#publish(this.#owned)
      } catch (error) {
        if (!signal.aborted) this.#failed(error)
      } finally {
        this.#owned?.close()
        this.#owned = undefined
        this.#turns = undefined
      }
      const pauseMs = this.#failure instanceof StandsStill ? stillMs : retryMs
      await delay(pauseMs, undefined, { signal }).catch(() => {})
      // Without it two processes that wake up would fence each other until both know who has the lane.
      await Promise.race([group.heartbeat(), delay(beatMs, undefined, { signal }).catch(() => {})])
    }
  }

  async #publish(owned: OwnedLane): Promise<void> {
    const { signal } = this.#ended
    const { lane, lanes, log } = this.#options
    const own = Array.from({ length: log.partitions }, (_, partition) => partition).filter(
      (each) => each % lanes === lane,
    )
    const teller = this.#options.telling.newTeller() // what the one before told last may have come to nothing
    const turns = new LaneTurns({ ...this.#options, teller }, own, owned.memory)
    this.#turns = turns
    let wereFilling = false
    for (let checkedMs = performance.now(); !signal.aborted; ) {
      const beganMs = performance.now()
      if (turns.areFilling !== wereFilling) this.#tellFilling(turns)
      wereFilling = turns.areFilling
      const taken = await turns.take()
      if (taken.length > 0) {
        await withTimeout(commitLimitMs, owned.commit(taken.map(({ turn }) => turn)))
        turns.committed(taken)
        this.#goesOn()
      }
      if (performance.now() - checkedMs >= checkEveryMs) {
        if (taken.length === 0) {
          await withTimeout(checkLimitMs, owned.check())
          this.#goesOn()
        }
        checkedMs = performance.now()
      }
      const restMs = taken.some(({ leavesMore }) => leavesMore)
        ? 0
        : beganMs + turnAfterMs(told(taken)) - performance.now()
      await delay(Math.max(0, restMs), undefined, { signal }).catch(() => {})
      if (!signal.aborted && !turns.areDue) await this.#nap()
    }
  }

  #nap(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, checkEveryMs)
    this.#wake = resolve
    return promise.finally(() => clearTimeout(timer))
  }

  /** One line for each reason, however often it is met; a new broker has no coordinator until it is first asked for one. */
  #failed(error: unknown): void {
    this.#failure = error
    const { logger, lane, published } = this.#options
    const [of, reason] = [{ publisher: published.publisher, lane }, messageOf(error)]
    if (error instanceof StandsStill) {
      if (this.#warnedOf !== reason) logger.error(of, reason)
    } else if (performance.now() - this.#beganMs < startsWithinMs) {
      logger.info({ ...of, reason }, 'publishing: the lane cannot be taken over yet')
      return
    } else if (this.#warnedOf !== reason) logger.warn({ ...of, err: error }, 'publishing: taking the lane over again')
    this.#warnedOf = reason
  }

  #tellFilling({ areFilling }: LaneTurns): void {
    const { logger, lane, published } = this.#options
    const message = areFilling
      ? 'publishing: the read models are copied'
      : 'publishing: the read models have been copied'
    logger.info({ publisher: published.publisher, lane }, message)
  }

  /** Only Kafka's answer says so: a lane that is taken over may be refused again at once. */
  #goesOn(): void {
    const { logger, lane, published } = this.#options
    if (this.#warnedOf !== undefined) logger.info({ publisher: published.publisher, lane }, 'publishing goes on')
    this.#warnedOf = undefined
    this.#failure = undefined
  }
}

function told(taken: readonly TakenTurn[]): number {
  return taken.reduce((sum, { turn }) => sum + turn.records.length, 0)
}

/** From the beginning of a turn that told so many records to that of the next one. */
export function turnAfterMs(records: number): number {
  return Math.min(turnMs.most, Math.max(turnMs.least, records * turnMs.perRecord))
}
