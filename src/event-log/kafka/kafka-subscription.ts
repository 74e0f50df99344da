import { setTimeout as delay } from 'node:timers/promises'
import type { Offset, RecordBatch, Subscriber, Subscription } from '../event-log.ts'
import { type ConsumerHandlers, type ConsumerOptions, KafkaConsumer } from './kafka-consumer.ts'

export interface SubscriptionOptions extends ConsumerOptions {
  readonly subscriber: Subscriber
}

/** Where the subscriber sought a partition to. Another object each time: batches that an earlier one led to are stale. */
interface Seek {
  readonly offset: Offset
}

const restartDelayMs = 500
const redeliveryDelayMs = 250

/** A member of a Kafka consumer group that only ever reads from where the subscriber sought, until closed. */
export class KafkaSubscription implements Subscription, ConsumerHandlers {
  readonly #options: SubscriptionOptions
  readonly #closing = new AbortController()
  readonly #ended: Promise<void>
  /** The last batch of each partition, of whichever assignment or consumer. */
  readonly #turns = new Map<number, Promise<void>>()
  /** The partitions held. Before a seek kafkajs stands at the committed offset, which is not to be used. */
  #held = new Map<number, Seek | undefined>()
  #consumer: KafkaConsumer | undefined

  constructor(options: SubscriptionOptions) {
    this.#options = options
    this.#ended = this.#run()
  }

  seek(partition: number, offset: Offset): void {
    if (!this.#held.has(partition)) return
    this.#held.set(partition, { offset })
    this.#consumer?.seek(partition, offset)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#held.clear()
    this.#consumer?.stop()
    await this.#ended
    await Promise.allSettled(this.#turns.values())
  }

  assigned(partitions: readonly number[]): void {
    if (this.#closing.signal.aborted) return
    this.#held = new Map(partitions.map((partition) => [partition, undefined]))
    this.#options.subscriber.assigned(partitions)
  }

  /** Batches of one partition are handled one at a time, those of an earlier assignment or consumer included. */
  async batch(batch: RecordBatch): Promise<void> {
    const { partition } = batch
    const seek = this.#held.get(partition)
    if (seek === undefined) return
    const inHand = this.#turns.get(partition)
    this.#turns.set(partition, this.#handle(batch, seek, inHand))
    await inHand
  }

  /** One consumer after the other: kafkajs gives up on some errors, and its own restarts can hide a dead one. */
  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      this.#consumer = new KafkaConsumer(this.#options, this)
      const error = await this.#consumer.run()
      if (signal.aborted) return
      this.#options.logger.warn({ err: error, group: this.#options.group }, 'Kafka: a new consumer is made')
      if (this.#held.size > 0) this.assigned([])
      await delay(restartDelayMs, undefined, { signal }).catch(() => {})
    }
  }

  /** Stale: the partition was assigned anew or sought, so that other batches come, and of this one nothing matters. */
  async #handle(batch: RecordBatch, seek: Seek, before: Promise<void> | undefined): Promise<void> {
    const { partition, from, next } = batch
    const isStale = () => this.#held.get(partition) !== seek
    await before
    if (isStale()) return
    const done = await this.#options.subscriber.batch(batch)
    if (isStale()) return
    if (done) return this.#consumer?.done(partition, next)
    // Read again, but not at once: that would be a hot loop while the read model is away.
    await delay(redeliveryDelayMs, undefined, { signal: this.#closing.signal }).catch(() => {})
    if (!isStale()) this.seek(partition, from)
  }
}
