import { ServiceError } from '../lib/errors/errors.ts'
import type { Offset } from '../log/event-log.ts'
import { after, nothingTold, type PartitionMemory, type Progress } from '../log/published-log.ts'
import { DamagedError } from '../read-models/damaged.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import type { StreamId } from '../read-models/stored-texts.ts'
import type { LanePartition } from './teller.ts'
import { type TakenTurn, type TurnOptions, takeTurn } from './turn.ts'

export interface LaneTurnsOptions extends TurnOptions {
  readonly readModel: Pick<ReadModel, 'loadAll' | 'reportDamage'>
  /** How far the read models are said to be, by partition: a hint when a turn is due. */
  readonly heard: ReadonlyMap<number, Offset>
  /** How often a partition has a turn where nothing is new: its last record may be another one. By default a minute. */
  readonly lookMs?: number
}

interface PartitionState extends LanePartition {
  /** Streams that wait and are to be looked at. */
  readonly due: ReadonlySet<StreamId>
  readonly lookedMs: number
}

/** No further partition has its turn in a transaction after that. */
const beginWithinMs = 2000
const lookEveryMs = 60_000

/** What was committed of the partitions of a lane, and their next turns. */
export class LaneTurns {
  readonly #options: LaneTurnsOptions
  #states: readonly PartitionState[]

  constructor(
    options: LaneTurnsOptions,
    partitions: readonly number[],
    readBack: ReadonlyMap<number, PartitionMemory>,
  ) {
    this.#options = options
    this.#states = partitions.map((partition) => {
      const memory = readBack.get(partition) ?? nothingTold
      return { partition, memory, due: new Set(memory.waiting.keys()), lookedMs: -Infinity }
    })
  }

  get progress(): readonly (Progress & { readonly partition: number; readonly waiting: number })[] {
    return this.#states.map(({ partition, memory: { waiting, ...progress } }) => ({
      ...{ ...progress, partition, waiting: waiting.size },
    }))
  }

  get areFilling(): boolean {
    return this.#states.some((state) => this.#isUnfilled(state))
  }

  get areDue(): boolean {
    return this.#states.some((state) => this.#isDue(state))
  }

  /** Those that change something. */
  async take(): Promise<readonly TakenTurn[]> {
    const beganMs = performance.now()
    const unfilled = this.#states.filter((state) => this.#isUnfilled(state))
    const filling = await this.#fill(unfilled)
    const due = this.#states.filter((state) => this.#isDue(state) && !unfilled.includes(state))
    return [...filling, ...(await this.#passEvents(due, beganMs))]
  }

  committed(taken: readonly TakenTurn[]): void {
    const lookedMs = performance.now()
    const byPartition = new Map(taken.map((each) => [each.turn.partition, each]))
    this.#states = this.#states.map((state) => {
      const each = byPartition.get(state.partition)
      if (each === undefined) return state
      return { partition: state.partition, memory: after(state.memory, each.turn), due: each.due, lookedMs }
    })
  }

  async #fill(unfilled: readonly PartitionState[]): Promise<readonly TakenTurn[]> {
    const { filling } = this.#options.teller
    const [first] = unfilled
    if (filling === undefined || first === undefined) return []
    const turns = (await this.#unlessAway(first.partition, () => filling.turns(unfilled))) ?? []
    return turns.map((turn) => {
      const memory = unfilled.find(({ partition }) => partition === turn.partition)?.memory ?? nothingTold
      return { turn, due: new Set(after(memory, turn).waiting.keys()), leavesMore: true }
    })
  }

  /** Begins with another partition each time, so that none starves. */
  async #passEvents(due: readonly PartitionState[], beganMs: number): Promise<readonly TakenTurn[]> {
    const from = Math.floor(Math.random() * due.length)
    const taken: TakenTurn[] = []
    for (const { partition, memory, due: streams } of [...due.slice(from), ...due.slice(0, from)]) {
      if (performance.now() - beganMs > beginWithinMs) break
      const readable = this.#options.heard.get(partition) ?? 0
      const each = await this.#unlessAway(partition, () => takeTurn(this.#options, partition, memory, streams))
      if (each === undefined) continue
      const { progress, places } = each.turn
      const leavesMore = each.leavesMore || progress.next < readable
      if (progress.next > memory.next || places.size > 0) taken.push({ ...each, leavesMore })
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
    const lookedMs = performance.now()
    this.#states = this.#states.map((state) => (state.partition === partition ? { ...state, due, lookedMs } : state))
  }

  #isUnfilled({ memory }: PartitionState): boolean {
    return this.#options.teller.filling?.isDone(memory) === false
  }

  #isDue(state: PartitionState): boolean {
    const { partition, memory, due, lookedMs } = state
    const { heard, lookMs = lookEveryMs } = this.#options
    if (due.size > 0 || (heard.get(partition) ?? 0) > memory.next || this.#isUnfilled(state)) return true
    return memory.last !== null && performance.now() - lookedMs >= lookMs
  }
}
