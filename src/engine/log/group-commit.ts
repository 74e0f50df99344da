import { Distribution } from '../lib/distribution.ts'
import { ServiceError } from '../lib/errors/errors.ts'
import type { EventLog, NewRecord, Position } from './event-log.ts'
import { notSentInTime, outcomeUnknown } from './failures.ts'

export interface GroupCommitLimits {
  /** Per append. */
  readonly recordsMax: number
  readonly bytesMax: number
  /** Records waiting or in flight; more are refused. */
  readonly queuedMax: number
}

export const defaultLimits = { recordsMax: 1000, bytesMax: 512 * 1024, queuedMax: 20_000 }

interface Queued {
  readonly record: NewRecord
  readonly deadline: number
  readonly resolve: (position: Position) => void
  readonly reject: (error: Error) => void
}

const sweepMs = 100
/** Turns of the event loop to wait, as long as each brings more requests: they share the append and its cost. */
const gatheringTurnsMax = 8

/**
 * Collects records while an append is in flight and appends them together: one append at a time, to one partition, so
 * that each append has one batch and one outcome (decision 0003). Partitions with waiting records take turns.
 */
export class GroupCommit {
  /** Records in each append, and how long it took, whether it succeeded or not. */
  readonly appendRecords = new Distribution([1, 2, 5, 10, 25, 50, 100, 250, 500, 1000])
  readonly appendSeconds = new Distribution([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
  readonly #log: Pick<EventLog, 'append' | 'partitions'>
  readonly #limits: GroupCommitLimits
  readonly #queues: Queued[][]
  readonly #sweep: NodeJS.Timeout
  #inFlight: readonly Queued[] = []
  #queued = 0
  #gathering = 0
  #scheduled = false
  #idle: (() => void) | undefined

  constructor(log: Pick<EventLog, 'append' | 'partitions'>, limits: GroupCommitLimits) {
    this.#log = log
    this.#limits = limits
    this.#queues = Array.from({ length: log.partitions }, () => [])
    this.#sweep = setInterval(() => this.#expire(), sweepMs).unref()
  }

  /** Records waiting or in flight. */
  get queued(): number {
    return this.#queued
  }

  /** The partition to append to next. */
  get gathering(): number {
    return this.#gathering
  }

  /**
   * Resolves once the record is durable. Settles by the deadline, in the time of `performance.now()`. Throws ServiceError
   * overloaded (too many waiting) and event_log_unavailable: surely not appended; append_outcome_unknown: the record may
   * be in the log, or appear there.
   */
  append(partition: number, record: NewRecord, deadline: number): Promise<Position> {
    if (deadline <= performance.now()) return Promise.reject(notSentInTime())
    if (this.#queued >= this.#limits.queuedMax) {
      return Promise.reject(new ServiceError('overloaded', 'Too many writes are waiting for the event log.'))
    }
    return new Promise((resolve, reject) => {
      this.#queue(partition).push({ record, deadline, resolve, reject })
      this.#queued++
      this.#schedule(gatheringTurnsMax)
    })
  }

  /** Resolves once nothing waits any more. Append nothing after the call. */
  async close(): Promise<void> {
    if (this.#queued > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
    clearInterval(this.#sweep)
  }

  #queue(partition: number): Queued[] {
    const queue = this.#queues[partition]
    if (queue === undefined) throw new RangeError(`partition ${partition} of ${this.#queues.length}`)
    return queue
  }

  #schedule(gatheringTurns: number): void {
    if (this.#scheduled || this.#inFlight.length > 0 || this.#queued === 0) return
    this.#scheduled = true
    this.#gather(gatheringTurns)
  }

  /** Appends once a turn of the event loop has brought no more records, or after a number of turns. */
  #gather(turns: number): void {
    const before = this.#queued
    setImmediate(() => {
      if (this.#queued > before && turns > 1) return this.#gather(turns - 1)
      this.#scheduled = false
      void this.#takeTurn()
    })
  }

  async #takeTurn(): Promise<void> {
    const partition = this.#nextWithWork()
    if (partition === undefined) return
    this.#gathering = (partition + 1) % this.#queues.length
    const batch = this.#takeBatch(partition)
    this.#inFlight = batch
    const begun = performance.now()
    try {
      const records = batch.map(({ record }) => record)
      const first = await this.#log.append(partition, records)
      for (const [index, { resolve }] of batch.entries()) resolve({ partition, offset: first + index })
    } catch (error) {
      for (const { reject } of batch) reject(error as Error)
    }
    this.appendRecords.add(batch.length)
    this.appendSeconds.add((performance.now() - begun) / 1000)
    this.#inFlight = []
    this.#settled(batch.length)
    this.#schedule(1) // waiting records were collected meanwhile
  }

  #nextWithWork(): number | undefined {
    for (let turn = 0; turn < this.#queues.length; turn++) {
      const partition = (this.#gathering + turn) % this.#queues.length
      if (this.#queue(partition).length > 0) return partition
    }
    return undefined
  }

  #takeBatch(partition: number): Queued[] {
    const queue = this.#queue(partition)
    let bytes = 0
    let count = 0
    for (const { record } of queue) {
      bytes += Buffer.byteLength(record.value)
      if (count === this.#limits.recordsMax || (count > 0 && bytes > this.#limits.bytesMax)) break
      count++
    }
    return queue.splice(0, count)
  }

  #settled(count: number): void {
    this.#queued -= count
    if (this.#queued === 0) this.#idle?.()
  }

  // A record still waiting was surely not appended. One in flight may be: its append continues without its caller.
  #expire(): void {
    const now = performance.now()
    for (const [partition, queue] of this.#queues.entries()) {
      const expired = queue.filter(({ deadline }) => deadline <= now)
      if (expired.length === 0) continue
      this.#queues[partition] = queue.filter(({ deadline }) => deadline > now)
      for (const { reject } of expired) reject(notSentInTime())
      this.#settled(expired.length)
    }
    for (const { deadline, reject } of this.#inFlight) {
      if (deadline <= now) reject(outcomeUnknown(new Error('the append took too long')))
    }
  }
}
