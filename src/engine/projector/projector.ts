import type { RecordBatch, Subscriber, Subscription } from '../log/event-log.ts'
import { RecordGoneError } from '../log/read-at.ts'
import { DamagedError } from '../read-models/damaged.ts'
import type { Look } from '../read-models/ports/generations.ts'
import type { ReadModelStore } from '../read-models/ports/store.ts'
import type { ShardLog } from '../read-models/shards.ts'
import type { Checkpoint } from '../read-models/stored-texts.ts'
import type { Tracker } from '../read-models/tracker.ts'
import { Applier, type ApplierOptions } from './applier.ts'
import { type Belief, beliefIn, isInDoubt, replacedRecord } from './belief.ts'
import { replaceGeneration, verdictOn } from './reconciling.ts'
import { Standing } from './standing.ts'

export interface ProjectorOptions extends Omit<ApplierOptions, 'store' | 'tookUp'> {
  readonly log: ShardLog
  readonly store: Pick<ReadModelStore, 'projection' | 'generations'>
  /** A tracker of the same store. */
  readonly tracker: Pick<Tracker, 'observe' | 'lookSoon'>
  readonly group: string
}

/**
 * Moves the read models along the log. Only the stored checkpoint counts as the position: it moves in one step with the
 * data. The projector reconciles with it on every look of the tracker (once a second, on each connection), and requests
 * one on assignment and after a refused batch. So an emptied, restored or shared store repairs itself.
 */
export class Projector implements Subscriber {
  readonly #options: ProjectorOptions
  readonly #applier: Applier
  #endObserving = () => {}
  #subscription: Subscription | undefined
  #assigned: readonly number[] = []
  #beliefs = new Map<number, Belief>()
  readonly #takenUp = new Map<number, number>()
  #reconciling: Promise<void> | undefined
  /** A look came while the previous one was being handled. It would be stale by then, so another one is made. */
  #missedLook = false
  readonly #standing: Standing

  private constructor(options: ProjectorOptions) {
    this.#options = options
    this.#standing = new Standing(options.logger)
    this.#applier = new Applier({
      ...options,
      store: options.store.projection,
      tookUp: (partition) => {
        this.#takenUp.set(partition, this.takenUp(partition) + 1)
        return this.#beliefs.has(partition)
      },
    })
  }

  /** Resolves once subscribed. The projector runs until it is closed, whatever happens to log and store. */
  static async start(options: ProjectorOptions): Promise<Projector> {
    const projector = new Projector(options)
    projector.#subscription = await options.log.subscribe(options.group, projector)
    projector.#observe()
    return projector
  }

  /** The status, and the partitions that are projected. */
  get state(): { status: Standing['status']; partitions: readonly number[] } {
    return { status: this.#standing.status, partitions: [...this.#beliefs.keys()].sort((a, b) => a - b) }
  }

  /** The assigned partitions, whether they can be projected or not. */
  get assignment(): readonly number[] {
    return this.#assigned
  }

  /** How many pages of parked events of the partition discards have taken up: progress, although the position stands. */
  takenUp(partition: number): number {
    return this.#takenUp.get(partition) ?? 0
  }

  async close(): Promise<void> {
    this.#endObserving()
    this.#beliefs.clear() // breaks off a discard, which may have thousands of events to take up
    await this.#subscription?.close()
    await this.#reconciling
    this.#applier.close()
  }

  assigned(partitions: readonly number[]): void {
    this.#assigned = partitions
    this.#beliefs = new Map()
    this.#standing.assigned()
    this.#options.tracker.lookSoon()
  }

  async batch(batch: RecordBatch): Promise<boolean> {
    const belief = this.#beliefs.get(batch.partition)
    if (belief === undefined || belief.from !== batch.from) {
      this.#outOfStep(batch.partition)
      return false
    }
    if (isInDoubt(belief, batch)) {
      this.#resume(batch.partition, belief.generation, belief.checkpoint)
      return false
    }
    belief.isApplying = true
    belief.isAheadOfLook = true
    try {
      const done = await this.#applyBatch(belief, batch)
      this.#standing.applied()
      if (done) belief.from = batch.next
      else this.#outOfStep(batch.partition)
      return done
    } catch (error) {
      if (error instanceof DamagedError) {
        this.#beliefs.delete(batch.partition) // the next look comes by itself: to look at once would have no pause
        return false
      }
      this.#standing.refused(error)
      this.#outOfStep(batch.partition)
      return false
    } finally {
      belief.isApplying = false
    }
  }

  /** Whether the batch was applied; if not, the belief about the partition is wrong. */
  async #applyBatch(belief: Belief, batch: RecordBatch): Promise<boolean> {
    const { generation, checkpoint } = belief
    const replaced = replacedRecord(belief, batch)
    if (replaced !== undefined) {
      await this.#replace(generation, `offset ${replaced} of partition ${batch.partition} holds another record`)
      return false
    }
    const reached = await this.#applier.apply(generation, checkpoint, batch).catch(async (error) => {
      if (!(error instanceof RecordGoneError)) throw error
      await this.#replace(generation, error.message)
    })
    if (reached === undefined) return false
    belief.checkpoint = reached
    belief.leaderEpoch = batch.leaderEpochs?.last ?? belief.leaderEpoch
    return true
  }

  #outOfStep(partition: number): void {
    this.#beliefs.delete(partition)
    this.#options.tracker.lookSoon()
  }

  #observe(): void {
    const { tracker } = this.#options
    this.#endObserving = tracker.observe({
      looking: () => {
        for (const each of this.#beliefs.values()) each.isAheadOfLook = each.isApplying
      },
      looked: (look) => this.#looked(look),
      failed: (error) => this.#standing.failed(error),
    })
    tracker.lookSoon()
  }

  #looked(look: Look): void {
    if (this.#reconciling === undefined) this.#reconciling = this.#reconcile(look)
    else this.#missedLook = true
  }

  async #reconcile(look: Look): Promise<void> {
    try {
      await this.#follow(look)
      this.#standing.looked()
    } catch (error) {
      this.#standing.failed(error)
    }
    this.#reconciling = undefined
    if (this.#missedLook) this.#options.tracker.lookSoon()
    this.#missedLook = false
  }

  async #follow(look: Look): Promise<void> {
    const assigned = this.#assigned
    const verdict = await verdictOn(look, this.#options.log, assigned, this.#beliefs)
    if ('reason' in verdict) return this.#replace(verdict.instead, verdict.reason)
    if (assigned !== this.#assigned) return
    for (const [partition, stored] of verdict.differing) this.#resume(partition, verdict.generation, stored)
  }

  #resume(partition: number, generation: string, checkpoint: Checkpoint): void {
    const belief = beliefIn(generation, checkpoint)
    this.#beliefs.set(partition, belief)
    this.#subscription?.seek(partition, belief.from)
    this.#options.logger.debug({ partition, from: belief.from, generation }, 'projector resumes')
  }

  async #replace(instead: string | undefined, reason: string): Promise<void> {
    const { tracker } = this.#options
    await replaceGeneration(this.#options, instead, reason)
    tracker.lookSoon()
  }
}
