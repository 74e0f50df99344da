import { randomUUID } from 'node:crypto'
import type { Offset, RecordBatch, Subscriber, Subscription } from '../log/event-log.ts'
import { RecordGoneError } from '../log/read-at.ts'
import { isSameRecord } from '../log/record-identity.ts'
import { type Checkpoint, encodeCheckpoint, startOfPartition } from '../read-models/checkpoint.ts'
import type { Checkpoints, Look } from '../read-models/generations.ts'
import type { ShardLog } from '../read-models/shards.ts'
import type { ReadModelStore } from '../read-models/store.ts'
import type { Tracker } from '../read-models/tracker.ts'
import { Applier, type ApplierOptions } from './applier.ts'

/** A partition being projected, and what the projector believes about it. */
interface Projecting {
  readonly generation: string
  checkpoint: Checkpoint
  /** The next offset that the subscription reads. */
  from: Offset
  /** The leader epoch of the last record applied; undefined until one was. */
  leaderEpoch: number | undefined
  /** A batch is being applied: the store's comparison detects a wrong belief by itself. */
  isApplying: boolean
  /** A batch has come since the latest look began, so that look may show an older checkpoint. */
  isAheadOfLook: boolean
}

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
  #partitions = new Map<number, Projecting>()
  readonly #takenUp = new Map<number, number>()
  #reconciling: Promise<void> | undefined
  /** A look came while the previous one was being handled. It would be stale by then, so another one is made. */
  #missedLook = false
  /** Whether the last look at log and store succeeded; undefined before the first one. */
  #inStep: boolean | undefined
  /**
   * The last batch could not be applied. A look that succeeds does not disprove that: a store may answer and refuse
   * writes.
   */
  #refused = false

  private constructor(options: ProjectorOptions) {
    this.#options = options
    this.#applier = new Applier({
      ...options,
      store: options.store.projection,
      tookUp: (partition) => {
        this.#takenUp.set(partition, this.takenUp(partition) + 1)
        return this.#partitions.has(partition)
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

  /** 'waiting' until log and store have answered, and while one of them does not. */
  get state(): { status: 'up' | 'waiting'; partitions: readonly number[] } {
    const partitions = [...this.#partitions.keys()].sort((a, b) => a - b)
    return { status: this.#inStep ? 'up' : 'waiting', partitions }
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
    this.#partitions.clear() // breaks off a discard, which may have thousands of events to take up
    await this.#subscription?.close()
    await this.#reconciling
  }

  assigned(partitions: readonly number[]): void {
    this.#assigned = partitions
    this.#partitions = new Map()
    this.#refused = false
    this.#options.tracker.lookSoon()
  }

  async batch(batch: RecordBatch): Promise<boolean> {
    const projecting = this.#partitions.get(batch.partition)
    if (projecting === undefined || projecting.from !== batch.from) {
      this.#outOfStep(batch.partition)
      return false
    }
    if (isInDoubt(projecting, batch)) {
      this.#resume(batch.partition, projecting.generation, projecting.checkpoint)
      return false
    }
    projecting.isApplying = true
    projecting.isAheadOfLook = true
    try {
      const done = await this.#applyBatch(projecting, batch)
      if (this.#refused) this.#recovered()
      this.#refused = false
      if (done) projecting.from = batch.next
      else this.#outOfStep(batch.partition)
      return done
    } catch (error) {
      this.#refused = true
      this.#failed(error)
      this.#outOfStep(batch.partition)
      return false
    } finally {
      projecting.isApplying = false
    }
  }

  /** Whether the batch was applied; if not, the belief about the partition is wrong. */
  async #applyBatch(projecting: Projecting, batch: RecordBatch): Promise<boolean> {
    const { generation, checkpoint, from } = projecting
    const { last } = checkpoint
    if (last !== null && from <= last.offset && !isSameRecord(batch.records[0], last)) {
      const place = `offset ${last.offset} of partition ${batch.partition}`
      await this.#replace(generation, `${place} holds another record`)
      return false
    }
    const reached = await this.#applier.apply(generation, checkpoint, batch).catch(async (error) => {
      if (!(error instanceof RecordGoneError)) throw error
      await this.#replace(generation, error.message)
    })
    if (reached === undefined) return false
    projecting.checkpoint = reached
    projecting.leaderEpoch = batch.leaderEpochs?.last ?? projecting.leaderEpoch
    return true
  }

  #outOfStep(partition: number): void {
    this.#partitions.delete(partition)
    this.#options.tracker.lookSoon()
  }

  #observe(): void {
    const { tracker } = this.#options
    this.#endObserving = tracker.observe({
      looking: () => {
        for (const each of this.#partitions.values()) each.isAheadOfLook = each.isApplying
      },
      looked: (look) => this.#looked(look),
      failed: (error) => this.#failed(error),
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
      if (!this.#refused) this.#recovered()
    } catch (error) {
      this.#failed(error)
    }
    this.#reconciling = undefined
    if (this.#missedLook) this.#options.tracker.lookSoon()
    this.#missedLook = false
  }

  async #follow({ active, checkpoints }: Look): Promise<void> {
    if (active === undefined) return this.#replace(undefined, 'there is none')
    const { name, logId } = active
    if (logId !== this.#options.log.logId) return this.#replace(name, 'it belongs to another log')
    if (checkpoints === undefined) return this.#replace(name, 'its checkpoints are gone')
    const assigned = this.#assigned
    const differing = assigned.filter((partition) => !this.#agrees(partition, name, storedAt(checkpoints, partition)))
    if (differing.length === 0) return
    const past = await this.#pastTheEnd(differing, checkpoints)
    if (past !== undefined) return this.#replace(name, `partition ${past} of the log ends before its position`)
    if (assigned !== this.#assigned) return
    for (const partition of differing) this.#resume(partition, name, storedAt(checkpoints, partition))
  }

  #agrees(partition: number, generation: string, stored: Checkpoint): boolean {
    const projecting = this.#partitions.get(partition)
    if (projecting?.generation !== generation) return false
    return projecting.isAheadOfLook || encodeCheckpoint(projecting.checkpoint) === encodeCheckpoint(stored)
  }

  /** Resumes at the last record applied, not after it, to see whether it is still the same. */
  #resume(partition: number, generation: string, checkpoint: Checkpoint): void {
    const from = checkpoint.last?.offset ?? checkpoint.next
    const believed = { generation, checkpoint, from, leaderEpoch: undefined }
    this.#partitions.set(partition, { ...believed, isApplying: false, isAheadOfLook: false })
    this.#subscription?.seek(partition, from)
    this.#options.logger.debug({ partition, from, generation }, 'projector resumes')
  }

  async #pastTheEnd(partitions: readonly number[], checkpoints: Checkpoints): Promise<number | undefined> {
    const endOffsets = await this.#options.log.endOffsets()
    return partitions.find((partition) => storedAt(checkpoints, partition).next > (endOffsets[partition] ?? 0))
  }

  /** If several projectors start a generation at the same time, the first one wins and the others find it. */
  async #replace(instead: string | undefined, reason: string): Promise<void> {
    const { log, store, tracker } = this.#options
    if (instead !== undefined) await log.confirm() // the last copy of what a lost log held is not replaced (decision 0027)
    const generation = { name: randomUUID(), logId: log.logId }
    const isStarted = await store.generations.start(generation, instead)
    tracker.lookSoon()
    if (!isStarted) return
    const place = { generation: generation.name, instead, reason }
    if (instead === undefined) this.#options.logger.info(place, 'building read models for the first time')
    else this.#options.logger.warn(place, 'building read models anew')
  }

  #failed(error: unknown): void {
    if (this.#inStep !== false)
      this.#options.logger.error({ err: error }, 'projector is waiting for log and read models')
    this.#inStep = false
  }

  #recovered(): void {
    if (this.#inStep === false) this.#options.logger.info('projector continues')
    this.#inStep = true
  }
}

function storedAt(checkpoints: Checkpoints, partition: number): Checkpoint {
  return checkpoints.get(partition) ?? startOfPartition
}

/** Whether the last record applied may have been lost and replaced since it was read. */
function isInDoubt({ checkpoint: { last }, leaderEpoch }: Projecting, { from, leaderEpochs }: RecordBatch): boolean {
  if (last === null || from <= last.offset || leaderEpoch === undefined || leaderEpochs === undefined) return false
  return leaderEpochs.first !== leaderEpoch
}
