import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogRecord, Offset, RecordBatch, Subscriber, Subscription } from '../event-log.ts'

/** Records from an offset on; from a position past the end, one of another log, the first ones: like Kafka's. May throw. */
export type ReadPage = (from: Offset, limit: number) => readonly LogRecord[]

const pageRecords = 1000
/** Another process can append too, the command line say: nothing wakes this one then. */
const lookAgainMs = 1000
const redeliveryDelayMs = 250

/** Reads the one partition of an embedded log, page by page, from where the subscriber sought. */
export class PagedSubscription implements Subscription {
  readonly #subscriber: Subscriber
  readonly #readPage: ReadPage
  /** Another object after each seek: the batch in hand has then no say in what comes next. */
  #position: { next: Offset } | undefined
  #holding = false
  #closed = false
  #reading: Promise<void> = Promise.resolve()
  #wakeUp = Promise.withResolvers<void>()

  constructor(subscriber: Subscriber, readPage: ReadPage) {
    this.#subscriber = subscriber
    this.#readPage = readPage
  }

  /** The partition is this subscription's from now on; or another one of the group holds it. */
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
      const mayHaveMore = await this.#readBatch()
      if (!mayHaveMore) await this.#idle(lookAgainMs) // whoever appends meanwhile has woken it already
      await nextTurn() // a long log must not hold up everything else
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
      return undefined // the disk may work again later; appends tell of it meanwhile
    }
  }

  async #idle(limitMs: number): Promise<void> {
    const timer = setTimeout(() => this.wake(), limitMs)
    await this.#wakeUp.promise
    clearTimeout(timer)
  }
}
