import type { LogRecord, Offset, RecordBatch, Subscriber } from '../../src/event-log/event-log.ts'

/** Small, so that a short log comes in several batches. */
const batchRecordsMax = 3
const redeliveryDelayMs = 10

/** One member of a group: reads the partitions that it is assigned, each by itself. */
export class MemorySubscription {
  readonly #subscriber: Subscriber
  readonly #readers: readonly PartitionReader[]
  #held: readonly number[] = []
  #closed = false

  constructor(records: readonly (readonly LogRecord[])[], subscriber: Subscriber) {
    this.#subscriber = subscriber
    this.#readers = records.map((stored, partition) => new PartitionReader(partition, stored, subscriber))
  }

  get closed(): boolean {
    return this.#closed
  }

  assign(partitions: readonly number[]): void {
    if (this.#closed) return
    this.#held = partitions
    for (const reader of this.#readers) reader.seek(undefined)
    this.#subscriber.assigned(partitions)
  }

  seek(partition: number, offset: Offset): void {
    if (this.#held.includes(partition)) this.#readers[partition]?.seek(offset)
  }

  /** There may be something to read. */
  wake(partition: number): void {
    this.#readers[partition]?.wake()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#held = []
    await Promise.all(this.#readers.map((reader) => reader.close()))
  }
}

/** Gives a subscriber the records of one partition, one batch at a time, while it has a position to read from. */
class PartitionReader {
  readonly #partition: number
  readonly #stored: readonly LogRecord[]
  readonly #subscriber: Subscriber
  #position: Offset | undefined
  #seeks = 0
  #reading: Promise<void> | undefined

  constructor(partition: number, stored: readonly LogRecord[], subscriber: Subscriber) {
    this.#partition = partition
    this.#stored = stored
    this.#subscriber = subscriber
  }

  /** To nowhere, when the partition is no longer held. */
  seek(offset: Offset | undefined): void {
    this.#position = offset
    this.#seeks++
    this.wake()
  }

  wake(): void {
    if (this.#next() !== undefined) this.#reading ??= this.#read()
  }

  async close(): Promise<void> {
    this.seek(undefined)
    await this.#reading
  }

  async #read(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve)) // not inside whoever appends or seeks
      const batch = this.#next()
      if (batch === undefined) break
      await this.#deliver(batch)
    }
    this.#reading = undefined
  }

  #next(): RecordBatch | undefined {
    if (this.#position === undefined) return undefined
    // A position past the end is one of another log: like Kafka's, reading then starts from the first record.
    const from = this.#position > this.#stored.length ? 0 : this.#position
    const records = this.#stored.slice(from, from + batchRecordsMax)
    if (records.length === 0) return undefined
    return { partition: this.#partition, from, records, next: from + records.length }
  }

  async #deliver(batch: RecordBatch): Promise<void> {
    const seeks = this.#seeks
    const done = await this.#subscriber.batch(batch)
    if (this.#seeks !== seeks) return
    if (done) this.#position = batch.next
    else await new Promise((resolve) => setTimeout(resolve, redeliveryDelayMs))
  }
}
