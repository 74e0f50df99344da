import { setTimeout as delay } from 'node:timers/promises'
import type { Offset, RecordBatch, Subscriber, Subscription, UndecodableBatch } from '../event-log.ts'
import { type ConsumerHandlers, type ConsumerOptions, KafkaConsumer } from './kafka-consumer.ts'
import type { LogPartOptions } from './log-part-options.ts'

export interface SubscriptionOptions extends ConsumerOptions, Pick<LogPartOptions, 'undecodableDelayMs'> {
  readonly subscriber: Subscriber
  /** Told of each batch that is left out because of what it decodes to; again if it is read again. */
  readonly leftOut: (batch: UndecodableBatch) => void
}

/** The target of the subscriber's last seek. A new object each time: batches of an earlier seek are stale. */
interface Seek {
  readonly offset: Offset
}

const restartDelayMs = 500
/** A batch that was not tried again in the time of so many tries is no longer what stops its partition. */
const triesKept = 3
const redeliveryDelayMs = 250
/** A new broker makes the topic of consumer groups when it is first asked about one, and has no coordinator until then. */
const coordinatorWithinMs = 10_000

/** A member of a Kafka consumer group that reads only from the subscriber's seeks, until it is closed. */
export class KafkaSubscription implements Subscription, ConsumerHandlers {
  readonly #options: SubscriptionOptions
  readonly #undecodableDelayMs: number
  readonly #closing = new AbortController()
  readonly #began = performance.now()
  readonly #ended: Promise<void>
  /** The last batch of each partition, of any assignment or consumer. */
  readonly #turns = new Map<number, Promise<void>>()
  /** The batch that each partition was last stopped by, and when it was last tried. */
  readonly #undecodable = new Map<number, { readonly batch: UndecodableBatch; readonly triedMs: number }>()
  /** The assigned partitions. Before a seek kafkajs is at the committed offset, which must not be used. */
  #assigned = new Map<number, Seek | undefined>()
  #consumer: KafkaConsumer | undefined

  constructor(options: SubscriptionOptions) {
    this.#options = options
    this.#undecodableDelayMs = options.undecodableDelayMs ?? 5000
    this.#ended = this.#run()
  }

  /** Without those that were not tried for some time: the log may have lost them, and then nothing is behind them. */
  get undecodable(): readonly UndecodableBatch[] {
    const sinceMs = performance.now() - triesKept * this.#undecodableDelayMs
    return [...this.#undecodable.values()].flatMap(({ batch, triedMs }) => (triedMs < sinceMs ? [] : batch))
  }

  seek(partition: number, offset: Offset): void {
    if (!this.#assigned.has(partition)) return
    this.#assigned.set(partition, { offset })
    this.#consumer?.seek(partition, offset)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#assigned.clear()
    this.#consumer?.stop()
    await this.#ended
    await Promise.allSettled(this.#turns.values())
  }

  assigned(partitions: readonly number[]): void {
    for (const partition of this.#undecodable.keys()) {
      if (!partitions.includes(partition)) this.#undecodable.delete(partition) // the process that holds it now reports it
    }
    this.#assign(partitions)
  }

  /** Batches of one partition are handled one at a time, including those of an earlier assignment or consumer. */
  async batch(batch: RecordBatch): Promise<void> {
    const { partition } = batch
    const seek = this.#assigned.get(partition)
    if (seek === undefined) return
    const undecodable = this.#undecodable.get(partition)?.batch
    if (undecodable !== undefined && undecodable.offset < batch.next) {
      this.#undecodable.delete(partition)
      this.#options.logger.info(undecodable, 'Kafka: the batch can be decoded now')
    }
    const inHand = this.#turns.get(partition)
    this.#turns.set(partition, this.#handle(batch, seek, inHand))
    await inHand
  }

  /** Logged once per batch, although it is tried again and again. */
  cannotDecode(batch: UndecodableBatch, next: Offset): void {
    const { partition, offset, reason } = batch
    const seek = this.#assigned.get(partition)
    if (seek === undefined) return
    const known = this.#undecodable.get(partition)?.batch
    this.#undecodable.set(partition, { batch, triedMs: performance.now() })
    if (known?.offset !== offset || known.reason !== reason) {
      this.#options.logger.error(batch, 'Kafka: a batch cannot be decoded, so nothing behind it is read')
    }
    void this.#tryAgain(partition, next, seek)
  }

  leftOut(batch: UndecodableBatch): void {
    this.#options.leftOut(batch)
  }

  /**
   * Runs one consumer after the other: kafkajs gives up on some errors, and its own restarts can hide a dead consumer.
   */
  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      this.#consumer = new KafkaConsumer(this.#options, this)
      const error = await this.#consumer.run()
      if (signal.aborted) return
      this.#tell(error)
      if (this.#assigned.size > 0) this.#assign([])
      await delay(restartDelayMs, undefined, { signal }).catch(() => {})
    }
  }

  #tell(error: unknown): void {
    const { logger, group } = this.#options
    const { name, message } = error as Error
    const isStarting = performance.now() - this.#began < coordinatorWithinMs
    if (isStarting && name === 'KafkaJSGroupCoordinatorNotFound')
      logger.info({ reason: message, group }, 'Kafka: waiting for the coordinator of the consumer group')
    else logger.warn({ err: error, group }, 'Kafka: creating a new consumer')
  }

  #assign(partitions: readonly number[]): void {
    if (this.#closing.signal.aborted) return
    this.#assigned = new Map(partitions.map((partition) => [partition, undefined]))
    this.#options.subscriber.assigned(partitions)
  }

  /** Another replica may become leader of the partition, with an undamaged batch. */
  async #tryAgain(partition: number, next: Offset, seek: Seek): Promise<void> {
    await this.#turns.get(partition)
    await delay(this.#undecodableDelayMs, undefined, { signal: this.#closing.signal }).catch(() => {})
    if (this.#assigned.get(partition) === seek) this.seek(partition, next)
  }

  /** Stale: the partition was assigned again or sought, so other batches will come, and this one does not matter. */
  async #handle(batch: RecordBatch, seek: Seek, before: Promise<void> | undefined): Promise<void> {
    const { partition, from, next } = batch
    const isStale = () => this.#assigned.get(partition) !== seek
    await before
    if (isStale()) return
    const done = await this.#options.subscriber.batch(batch)
    if (isStale()) return
    if (done) return this.#consumer?.done(partition, next)
    // Read again, but after a pause: otherwise this is a busy loop while the read models are unavailable.
    await delay(redeliveryDelayMs, undefined, { signal: this.#closing.signal }).catch(() => {})
    if (!isStale()) this.seek(partition, from)
  }
}
