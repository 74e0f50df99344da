import type { Logger } from 'pino'
import type { EventLog, LogRecord, Offset, RecordBatch, Subscriber, Subscription } from '../event-log/event-log.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import { encodeCheckpoint } from '../read-models/checkpoint.ts'
import type { AppliedTo, PartitionState, ReadModels } from '../read-models/read-models.ts'
import { Applier } from './applier.ts'
import type { ReadModelDefinition } from './definition.ts'
import { recordIdentity } from './read-record.ts'
import { ActiveTarget, type Target } from './target.ts'

/** A partition this projector works on, and what it believes about it. */
interface Held {
  readonly generation: string
  state: PartitionState
  /** The offset the subscription reads from next. */
  from: Offset
  /** A batch is being applied: the store's comparison finds out by itself whether the belief is right. */
  busy: boolean
}

export interface ProjectorOptions<Event> {
  readonly log: Pick<EventLog, 'epoch' | 'ends' | 'subscribe'>
  readonly store: ReadModels
  readonly definition: ReadModelDefinition<Event>
  readonly group: string
  readonly logger: Logger
  /** The active generation unless said otherwise. */
  readonly target?: Target
  /** How often the store is looked at although nothing says that it changed. */
  readonly reconcileMs?: number
}

/**
 * Moves the read models along the log. The stored checkpoint is the only position that counts: it moves in one step
 * with the data, and the projector reconciles with it whenever the two may differ (on assignment, on each connection,
 * after a refused apply, once a second), so that an emptied, restored or shared store heals by itself.
 */
export class Projector<Event> implements Subscriber {
  readonly #options: ProjectorOptions<Event>
  readonly #logger: Logger
  readonly #target: Target
  readonly #applier: Applier<Event>
  readonly #endListening: () => void
  readonly #timer: NodeJS.Timeout
  #subscription: Subscription | undefined
  #assigned: readonly number[] = []
  #held = new Map<number, Held>()
  readonly #reconciling = new SingleFlight(() => this.#reconcile())
  /** Whether the last look at log and store worked; undefined before the first one. */
  #inStep: boolean | undefined
  /** The last batch could not be applied. Looks that work say nothing against that: a store may answer and refuse writes. */
  #refused = false

  private constructor(options: ProjectorOptions<Event>) {
    this.#options = options
    this.#logger = options.logger
    this.#target = options.target ?? new ActiveTarget(options)
    this.#applier = new Applier(options)
    const reconcile = () => this.#reconcileSoon()
    const progress = (_generation: string, at?: AppliedTo) => {
      if (at === undefined) reconcile() // another generation is the active one
    }
    this.#endListening = options.store.listen({ connected: reconcile, disconnected() {}, progress })
    this.#timer = setInterval(reconcile, options.reconcileMs ?? 1000)
  }

  /** Resolves once subscribed. The projector runs until it is closed, whatever becomes of log and store. */
  static async start<Event>(options: ProjectorOptions<Event>): Promise<Projector<Event>> {
    const projector = new Projector(options)
    projector.#subscription = await options.log.subscribe(options.group, projector)
    projector.#reconcileSoon()
    return projector
  }

  /** 'waiting' until log and store have answered, and while one of them does not. */
  get state(): { status: 'up' | 'waiting'; partitions: readonly number[] } {
    const partitions = [...this.#held.keys()].sort((a, b) => a - b)
    return { status: this.#inStep ? 'up' : 'waiting', partitions }
  }

  /** What the log gave it to project, whether it can or not. */
  get assignment(): readonly number[] {
    return this.#assigned
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#endListening()
    await this.#subscription?.close()
    await this.#reconciling.stop()
  }

  assigned(partitions: readonly number[]): void {
    this.#assigned = partitions
    this.#held = new Map()
    this.#refused = false
    this.#reconcileSoon()
  }

  async batch(batch: RecordBatch): Promise<boolean> {
    const held = this.#held.get(batch.partition)
    if (held === undefined || held.from !== batch.from) {
      this.#outOfStep(batch.partition)
      return false
    }
    held.busy = true
    try {
      const done = await this.#applyBatch(held, batch)
      if (this.#refused) this.#recovered()
      this.#refused = false
      if (done) held.from = batch.next
      else this.#outOfStep(batch.partition)
      return done
    } catch (error) {
      this.#refused = true
      this.#failed(error)
      this.#outOfStep(batch.partition)
      return false
    } finally {
      held.busy = false
    }
  }

  /** Whether the batch is applied; if not, what is believed of the partition is wrong. */
  async #applyBatch(held: Held, batch: RecordBatch): Promise<boolean> {
    const { last } = held.state.checkpoint
    if (last !== null && held.from <= last.offset && !isSameRecord(batch.records[0], last)) {
      const place = `offset ${last.offset} of partition ${batch.partition}`
      await this.#replace(held.generation, `${place} holds another record`)
      return false
    }
    const state = await this.#applier.apply(held.generation, held.state, batch)
    if (state === undefined) return false
    held.state = state
    return true
  }

  #outOfStep(partition: number): void {
    this.#held.delete(partition)
    this.#reconcileSoon()
  }

  #reconcileSoon(): void {
    if (this.#subscription !== undefined) void this.#reconciling.request()
  }

  async #reconcile(): Promise<void> {
    try {
      await this.#readPositions()
      if (!this.#refused) this.#recovered()
    } catch (error) {
      this.#failed(error)
    }
  }

  async #readPositions(): Promise<void> {
    const { store } = this.#options
    const generation = await this.#target.current()
    const assigned = this.#assigned
    const states = await store.partitionStates(generation, assigned)
    if (states === undefined) return this.#replace(generation, 'its checkpoints are gone')
    const differing = [...states].filter(([partition, state]) => !this.#agrees(partition, generation, state))
    if (differing.length === 0 || assigned !== this.#assigned) return
    const past = await this.#pastTheEnd(differing)
    if (past !== undefined) return this.#replace(generation, `partition ${past} of the log ends before its position`)
    for (const [partition, state] of differing) this.#resume(partition, generation, state)
  }

  #agrees(partition: number, generation: string, { checkpoint }: PartitionState): boolean {
    const held = this.#held.get(partition)
    if (held?.generation !== generation) return false
    return held.busy || encodeCheckpoint(held.state.checkpoint) === encodeCheckpoint(checkpoint)
  }

  /** Resumes at the last record applied, not after it, so as to see whether it is still the same one. */
  #resume(partition: number, generation: string, state: PartitionState): void {
    const { next, last } = state.checkpoint
    const from = last?.offset ?? next
    this.#held.set(partition, { generation, state, from, busy: false })
    this.#subscription?.seek(partition, from)
    this.#logger.debug({ partition, from, generation }, 'projector resumes')
  }

  async #pastTheEnd(states: [number, PartitionState][]): Promise<number | undefined> {
    const ends = await this.#options.log.ends()
    return states.find(([partition, { checkpoint }]) => checkpoint.next > (ends[partition] ?? 0))?.[0]
  }

  async #replace(generation: string, reason: string): Promise<void> {
    if (await this.#target.replace(generation, reason)) this.#reconcileSoon()
  }

  #failed(error: unknown): void {
    if (this.#inStep !== false) this.#logger.error({ err: error }, 'projector waits for log and read models')
    this.#inStep = false
  }

  #recovered(): void {
    if (this.#inStep === false) this.#logger.info('projector goes on')
    this.#inStep = true
  }
}

function isSameRecord(record: LogRecord | undefined, last: { offset: Offset; identity: string }): boolean {
  return record?.offset === last.offset && recordIdentity(record) === last.identity
}
