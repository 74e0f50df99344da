import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { messageOf, ServiceError } from '../lib/errors/errors.ts'
import { abortOf, withTimeout } from '../lib/with-timeout.ts'
import type { Offset } from '../log/event-log.ts'
import {
  after,
  type LaneMembership,
  nothingTold,
  type OwnedLane,
  type PartitionTurn,
  type Progress,
  type PublishedLog,
  StandsStill,
} from '../log/published-log.ts'
import { DamagedError } from '../read-models/damaged.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import type { StreamId } from '../read-models/stored-texts.ts'
import type { LanePartition, Teller, Telling } from './teller.ts'
import { type TakenTurn, type TurnOptions, takeTurn } from './turn.ts'

export interface LaneOptions extends Omit<TurnOptions, 'teller'> {
  readonly telling: Pick<Telling, 'newTeller'>
  readonly readModel: Pick<ReadModel, 'loadAll' | 'reportDamage'>
  readonly published: Pick<PublishedLog, 'takeOver' | 'publisher'>
  readonly group: Pick<LaneMembership, 'heartbeat'>
  readonly lane: number
  readonly lanes: number
  /** How far the read models are said to be, by partition: a hint when a turn is due. */
  readonly heard: ReadonlyMap<number, Offset>
  readonly logger: Logger
}

interface PartitionState extends LanePartition {
  /** Streams that wait and are to be looked at. */
  readonly due: ReadonlySet<StreamId>
}

/**
 * The least time from one turn to the next that leaves nothing behind: a transaction costs the same for one event and for
 * hundreds. With 100 ms POST lost a third of its highest rate to transactions, with this a tenth (bench/README.md).
 */
const turnMs = 300
/** No further partition has its turn in a transaction after that. */
const beginWithinMs = 2000
/** Kafka ends a transaction by itself after twice as long. */
const commitLimitMs = 5000
const checkEveryMs = 1000
const checkLimitMs = 3000
const retryMs = 500
const stillMs = 5000
const closeLimitMs = 2000
const startsWithinMs = 10_000

/** Takes over a lane and publishes its partitions, until closed. After any failure it takes it over again. */
export class Lane {
  readonly #options: LaneOptions
  readonly #ended = new AbortController()
  readonly #beganMs = performance.now()
  readonly #running: Promise<void>
  #teller: Teller
  #owned: OwnedLane | undefined
  #states: readonly PartitionState[] = []
  #failure: unknown
  #warnedOf: string | undefined
  #wake = () => {}

  constructor(options: LaneOptions) {
    this.#options = options
    this.#teller = options.telling.newTeller()
    this.#running = this.#run()
  }

  get lane(): number {
    return this.#options.lane
  }

  /** What was committed of each partition; none before the lane is taken over. */
  get progress(): readonly (Progress & { readonly partition: number; readonly waiting: number })[] {
    return this.#states.map(({ partition, memory: { waiting, ...progress } }) => ({
      ...{ ...progress, partition, waiting: waiting.size },
    }))
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
    const { published, lane, lanes, group } = this.#options
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
        this.#states = []
        this.#teller = this.#options.telling.newTeller() // what the one before told last may have come to nothing
      }
      const pauseMs = this.#failure instanceof StandsStill ? stillMs : retryMs
      await delay(pauseMs, undefined, { signal }).catch(() => {})
      // Without it two processes that wake up would fence each other until both know who has the lane.
      if (!signal.aborted) await Promise.race([group.heartbeat(), abortOf(signal)])
    }
  }

  async #publish(owned: OwnedLane): Promise<void> {
    const { signal } = this.#ended
    const { lane, lanes, log } = this.#options
    const own = Array.from({ length: log.partitions }, (_, partition) => partition).filter(
      (each) => each % lanes === lane,
    )
    this.#states = own.map((partition) => {
      const memory = owned.memory.get(partition) ?? nothingTold
      return { partition, memory, due: new Set(memory.waiting.keys()) }
    })
    for (let checkedMs = performance.now(); !signal.aborted; ) {
      const beganMs = performance.now()
      const taken = await this.#takeTurns(beganMs)
      if (taken.length > 0) {
        await withTimeout(commitLimitMs, owned.commit(taken.map(({ turn }) => turn)))
        this.#adopt(taken)
        this.#goesOn()
      }
      if (performance.now() - checkedMs >= checkEveryMs) {
        if (taken.length === 0) {
          await withTimeout(checkLimitMs, owned.check())
          this.#goesOn()
        }
        checkedMs = performance.now()
      }
      const restMs = taken.some(({ isFull }) => isFull) ? 0 : beganMs + turnMs - performance.now()
      await delay(Math.max(0, restMs), undefined, { signal }).catch(() => {})
      if (!signal.aborted && !this.#states.some((state) => this.#isDue(state))) await this.#nap()
    }
  }

  /** Those that change something. */
  async #takeTurns(beganMs: number): Promise<readonly TakenTurn[]> {
    const unfilled = this.#states.filter((state) => this.#isUnfilled(state))
    const filling = await this.#fill(unfilled)
    const due = this.#states.filter((state) => this.#isDue(state) && !unfilled.includes(state))
    return [...filling, ...(await this.#passEvents(due, beganMs))]
  }

  #isUnfilled({ memory }: PartitionState): boolean {
    return this.#teller.filling?.isDone(memory) === false
  }

  async #fill(unfilled: readonly PartitionState[]): Promise<readonly TakenTurn[]> {
    const { filling } = this.#teller
    const [first] = unfilled
    if (filling === undefined || first === undefined) return []
    const turns = await this.#unlessAway(first.partition, () => filling.turns(unfilled))
    return (turns ?? []).map((turn: PartitionTurn) => {
      const memory = this.#states.find(({ partition }) => partition === turn.partition)?.memory ?? nothingTold
      return { turn, due: new Set(after(memory, turn).waiting.keys()), isFull: true }
    })
  }

  /** Begins with another partition each time, so that none starves. */
  async #passEvents(due: readonly PartitionState[], beganMs: number): Promise<readonly TakenTurn[]> {
    const options = { ...this.#options, teller: this.#teller }
    const from = Math.floor(Math.random() * due.length)
    const taken: TakenTurn[] = []
    for (const { partition, memory, due: streams } of [...due.slice(from), ...due.slice(0, from)]) {
      if (performance.now() - beganMs > beginWithinMs) break
      const each = await this.#unlessAway(partition, () => takeTurn(options, partition, memory, streams))
      if (each === undefined) continue
      const { progress, places } = each.turn
      if (progress.next > memory.next || places.size > 0) taken.push(each)
      else this.#settle(partition, each.due)
    }
    return taken
  }

  /** Undefined where log or read models do not answer, or are behind: then there is no turn. */
  async #unlessAway<T>(partition: number, take: () => Promise<T>): Promise<T | undefined> {
    try {
      return await take()
    } catch (error) {
      if (error instanceof DamagedError) this.#options.readModel.reportDamage(partition, error)
      if (!(error instanceof ServiceError)) throw error
      return undefined
    }
  }

  /** The streams that were looked at need no other look, although nothing of them has changed. */
  #settle(partition: number, due: ReadonlySet<StreamId>): void {
    this.#states = this.#states.map((state) => (state.partition === partition ? { ...state, due } : state))
  }

  #adopt(taken: readonly TakenTurn[]): void {
    const byPartition = new Map(taken.map((each) => [each.turn.partition, each]))
    this.#states = this.#states.map((state) => {
      const each = byPartition.get(state.partition)
      if (each === undefined) return state
      return { partition: state.partition, memory: after(state.memory, each.turn), due: each.due }
    })
  }

  #isDue(state: PartitionState): boolean {
    const { partition, memory, due } = state
    return due.size > 0 || (this.#options.heard.get(partition) ?? 0) > memory.next || this.#isUnfilled(state)
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

  /** Only Kafka's answer says so: a lane that is taken over may be refused again at once. */
  #goesOn(): void {
    const { logger, lane, published } = this.#options
    if (this.#warnedOf !== undefined) logger.info({ publisher: published.publisher, lane }, 'publishing goes on')
    this.#warnedOf = undefined
    this.#failure = undefined
  }
}
