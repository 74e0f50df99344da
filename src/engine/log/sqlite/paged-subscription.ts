import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogRecord, Offset, RecordBatch, Subscriber, Subscription } from '../event-log.ts'

/**
 * The records from an offset on. From an offset past the end (of another log) it returns the first records, as Kafka
 * does. May throw.
 */
export type ReadPage = (from: Offset, limit: number) => readonly LogRecord[]

const pageRecords = 1000
/** Another process, such as the command line, can append too; nothing wakes this one then. */
const lookAgainMs = 1000
const redeliveryDelayMs = 250

/** Reads the single partition of an embedded log, page by page, from the subscriber's seeks. */
export class PagedSubscription implements Subscription {
  readonly #subscriber: Subscriber
  readonly #readPage: ReadPage
  /** A new object after each seek: the current batch then does not determine the next position. */
  #position: { next: Offset } | undefined
  #holding = false
  #closed = false
  #reading: Promise<void> = Promise.resolve()
  #wakeUp = Promise.withResolvers<void>()

  constructor(subscriber: Subscriber, readPage: ReadPage) {
    this.#subscriber = subscriber
    this.#readPage = readPage
  }

  /** The partition belongs to this subscription from now on, or to another one of the group. */
  assign(partitions: readonly number[]): void {
    if (this.#closed || this.#holding) return
    this.#holding = partitions.includes(0)
    if (this.#holding) this.#reading = this.#read()
    this.#subscriber.assigned(partitions)
  }

  seek(partition: number, offset: Offset): void {
    if (partition !== 0 || !this.#holding) return
    this.#position = { next: offset }
    this.wake()
  }

  /** There may be new records. */
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
      const mayHaveMore = await this.#readBatch()
      if (!mayHaveMore) await this.#idle(lookAgainMs) // an append meanwhile has woken it already
      await nextTurn() // reading a long log must not block everything else
    }
  }

  async #readBatch(): Promise<boolean> {
    const position = this.#position
    if (position === undefined) return false
    const batch = this.#batchFrom(position.next)
    if (batch === undefined) return false
    const done = await this.#subscriber.batch(batch)
    if (this.#position !== position) return true
    if (!done) await this.#idle(redeliveryDelayMs)
    else position.next = batch.next
    return !done || batch.records.length === pageRecords
  }

  #batchFrom(position: Offset): RecordBatch | undefined {
    try {
      const records = this.#readPage(position, pageRecords)
      const from = records[0]?.offset
      return from === undefined ? undefined : { partition: 0, from, records, next: from + records.length }
    } catch {
      return undefined // the disk may work again later, and damage be gone; the log reports both meanwhile
    }
  }

  async #idle(limitMs: number): Promise<void> {
    const timer = setTimeout(() => this.wake(), limitMs)
    await this.#wakeUp.promise
    clearTimeout(timer)
  }
}
