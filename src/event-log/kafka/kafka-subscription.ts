import { setTimeout as delay } from 'node:timers/promises'
import type { Batch, ConsumerStartBatchProcessEvent, EachBatchPayload } from 'kafkajs'
import type { Logger } from 'pino'
import type { LogRecord, Offset, RecordBatch, Subscriber, Subscription } from '../event-log.ts'
import type { KafkaClient } from './kafka-client.ts'
import { LivingConsumer } from './kafka-consumer.ts'
import { toOffset } from './kafka-offset.ts'

export interface KafkaSubscriptionOptions {
  readonly newClient: () => KafkaClient
  readonly topic: string
  readonly partitions: number
  readonly group: string
  readonly subscriber: Subscriber
  readonly logger: Logger
}

/** A partition held since an assignment; another object after the next one, even for the same partition. */
interface Held {
  /** 0 until the subscriber seeks: before that kafkajs stands at the committed offset, which is not to be used. */
  seeks: number
}

const restartDelayMs = 500
const redeliveryDelayMs = 250
const heartbeatMs = 1000

/** A member of a Kafka consumer group that only ever reads from where the subscriber sought, until closed. */
export class KafkaSubscription implements Subscription {
  readonly #options: KafkaSubscriptionOptions
  readonly #closing = new AbortController()
  readonly #ended: Promise<void>
  /** By partition, the batch last given to the subscriber: they come one at a time, across assignments too. */
  readonly #deliveries = new Map<number, Promise<unknown>>()
  #held = new Map<number, Held>()
  #consumer: LivingConsumer | undefined

  constructor(options: KafkaSubscriptionOptions) {
    this.#options = options
    this.#ended = this.#run()
  }

  seek(partition: number, offset: Offset): void {
    const held = this.#held.get(partition)
    if (held === undefined) return
    held.seeks++
    this.#consumer?.seek(partition, offset)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#held.clear()
    await this.#ended
    await Promise.all(this.#deliveries.values())
  }

  /** One consumer after the other: kafkajs gives up on some errors, and its own restarts can hide a dead one. */
  async #run(): Promise<void> {
    const { signal } = this.#closing
    await delay(0) // the subscriber gets its subscription before its first assignment
    while (!signal.aborted) {
      this.#consumer = new LivingConsumer(this.#options, {
        assigned: (partitions) => this.#assigned(partitions),
        eachBatch: (payload) => this.#eachBatch(payload),
        filtered: (event) => this.#filtered(event),
      })
      const error = await this.#consumer.run(signal)
      if (signal.aborted) return
      this.#options.logger.warn({ err: error, group: this.#options.group }, 'Kafka: a new consumer is made')
      if (this.#held.size > 0) this.#assigned([])
      await delay(restartDelayMs, undefined, { signal }).catch(() => {})
    }
  }

  #assigned(partitions: readonly number[]): void {
    if (this.#closing.signal.aborted) return
    this.#held = new Map(partitions.map((partition) => [partition, { seeks: 0 }]))
    this.#options.subscriber.assigned(partitions)
  }

  async #eachBatch({ batch, isStale, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> {
    const held = this.#held.get(batch.partition)
    await this.#deliveries.get(batch.partition)
    if (held === undefined || held.seeks === 0 || isStale()) return
    const current = this.#sinceNow(batch.partition, held)
    const delivered = toRecordBatch(batch)
    const done = await beating(heartbeat, this.#deliver(delivered, current))
    if (!current()) return
    if (done) {
      resolveOffset(String(delivered.next - 1))
      this.#consumer?.resolved(delivered.partition, delivered.next)
    } else {
      // Not resolved, so fetched again: at once that would be a hot loop while the read model is away.
      await beating(
        heartbeat,
        delay(redeliveryDelayMs, undefined, { signal: this.#closing.signal }).catch(() => {}),
      )
    }
  }

  /** What kafkajs filters out whole, such as transaction markers, it steps over by itself; the subscriber hears of it. */
  async #filtered({ payload }: ConsumerStartBatchProcessEvent): Promise<void> {
    const { partition, firstOffset, lastOffset } = payload
    const held = this.#held.get(partition)
    if (held === undefined || held.seeks === 0 || firstOffset === null) return
    const current = this.#sinceNow(partition, held)
    const batch = { partition, from: toOffset(firstOffset), records: [], next: toOffset(lastOffset) + 1 }
    const done = await this.#deliver(batch, current)
    if (!current()) return
    if (done) this.#consumer?.resolved(partition, batch.next)
    else this.seek(partition, batch.from)
  }

  /** Tells later whether the partition was held without a break and not sought again: else what was read is stale. */
  #sinceNow(partition: number, held: Held): () => boolean {
    const { seeks } = held
    return () => this.#held.get(partition) === held && held.seeks === seeks
  }

  /** Behind the delivery before, of the same partition. */
  async #deliver(batch: RecordBatch, current: () => boolean): Promise<boolean> {
    const before = this.#deliveries.get(batch.partition) ?? Promise.resolve()
    const delivery = before.then(() => (current() ? this.#options.subscriber.batch(batch) : false))
    this.#deliveries.set(batch.partition, delivery)
    return await delivery
  }
}

/** kafkajs keeps the offset it asked for in each batch, beyond its declared type. */
function toRecordBatch(batch: Batch): RecordBatch {
  const { fetchedOffset } = batch as Batch & { fetchedOffset: string }
  const records: LogRecord[] = batch.messages.map(({ offset, key, value }) => ({
    offset: toOffset(offset),
    key,
    value,
  }))
  return { partition: batch.partition, from: toOffset(fetchedOffset), records, next: toOffset(batch.lastOffset()) + 1 }
}

/** Keeps the group membership alive meanwhile. A heartbeat that fails is sent again after the batch, which then tells. */
async function beating<T>(heartbeat: () => Promise<void>, work: Promise<T>): Promise<T> {
  const timer = setInterval(() => heartbeat().catch(() => {}), heartbeatMs)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}
