import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogRecord, Offset, RecordBatch, Subscriber, Subscription } from '../event-log.ts'

/** The records of an embedded log. Either may throw, while the disk fails, say. */
export interface RecordSource {
  end(): Offset
  page(from: Offset, limit: number): readonly LogRecord[]
}

const pageRecords = 1000
/** Another process can append too, the command line say: nothing wakes this one then. */
const lookAgainMs = 1000
const redeliveryDelayMs = 250

/** Reads the one partition of an embedded log, page by page, from where the subscriber sought. */
export class PagedSubscription implements Subscription {
  readonly #subscriber: Subscriber
  readonly #source: RecordSource
  #position: Offset | undefined
  #seeks = 0
  #holding = false
  #closed = false
  #reading: Promise<void> = Promise.resolve()
  #wakeUp = Promise.withResolvers<void>()

  constructor(subscriber: Subscriber, source: RecordSource) {
    this.#subscriber = subscriber
    this.#source = source
  }

  /** From now on the partition is this subscription's. */
  hold(): void {
    if (this.#closed) return
    this.#holding = true
    this.#reading = this.#read()
    this.#subscriber.assigned([0])
  }

  /** Another subscription of the group holds the partition. */
  standBy(): void {
    if (!this.#closed) this.#subscriber.assigned([])
  }

  seek(partition: number, offset: Offset): void {
    if (partition !== 0 || !this.#holding) return
    this.#position = offset
    this.#seeks++
    this.wake()
  }

  /** There may be something to read. */
  wake(): void {
    this.#wakeUp.resolve()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#holding = false
    this.wake()
    await this.#reading
  }

  async #read(): Promise<void> {
    while (!this.#closed) {
      this.#wakeUp = Promise.withResolvers()
      const batch = this.#next()
      const mayHaveMore = batch !== undefined && (!(await this.#deliver(batch)) || batch.records.length === pageRecords)
      if (!mayHaveMore) await this.#idle(lookAgainMs) // whoever appends meanwhile has woken it already
      await nextTurn() // a long log must not hold up everything else
    }
  }

  #next(): RecordBatch | undefined {
    if (this.#position === undefined) return undefined
    try {
      const records = this.#source.page(this.#position, pageRecords)
      if (records.length > 0) return batchOf(this.#position, records)
      // A position past the end is one of another log: like Kafka's, reading then starts from the first record.
      return this.#position > this.#source.end() ? batchOf(0, this.#source.page(0, pageRecords)) : undefined
    } catch {
      return undefined // the disk may work again later; appends tell of it meanwhile
    }
  }

  /** Whether the batch is done and what follows it is wanted next. */
  async #deliver(batch: RecordBatch): Promise<boolean> {
    const seeks = this.#seeks
    const done = await this.#subscriber.batch(batch)
    if (this.#seeks !== seeks) return false
    if (done) this.#position = batch.next
    else await this.#idle(redeliveryDelayMs)
    return done
  }

  async #idle(limitMs: number): Promise<void> {
    const timer = setTimeout(() => this.wake(), limitMs)
    await this.#wakeUp.promise
    clearTimeout(timer)
  }
}

function batchOf(from: Offset, records: readonly LogRecord[]): RecordBatch {
  return { partition: 0, from, records, next: from + records.length }
}
