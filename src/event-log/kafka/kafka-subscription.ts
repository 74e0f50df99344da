import { setTimeout as delay } from 'node:timers/promises'
import type { Batch, ConsumerStartBatchProcessEvent, EachBatchPayload } from 'kafkajs'
import type { Logger } from 'pino'
import type { LogRecord, Offset, RecordBatch, Subscriber, Subscription } from '../event-log.ts'
import { type KafkaClient, toOffset } from './kafka-client.ts'
import { KafkaConsumer } from './kafka-consumer.ts'

export interface KafkaSubscriptionOptions {
  readonly newClient: () => KafkaClient
  readonly topic: string
  readonly partitions: number
  readonly group: string
  readonly subscriber: Subscriber
  readonly logger: Logger
}

/** A partition assigned to this member: another object after the next rebalance, even for the same partition. */
interface Assignment {
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
  readonly #turns = new Map<number, Promise<void>>()
  #assignments = new Map<number, Assignment>()
  #consumer: KafkaConsumer | undefined

  constructor(options: KafkaSubscriptionOptions) {
    this.#options = options
    this.#ended = this.#run()
  }

  seek(partition: number, offset: Offset): void {
    const assignment = this.#assignments.get(partition)
    if (assignment === undefined) return
    assignment.seeks++
    this.#consumer?.seek(partition, offset)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#assignments.clear()
    await this.#ended
    await Promise.allSettled(this.#turns.values())
  }

  /** One consumer after the other: kafkajs gives up on some errors, and its own restarts can hide a dead one. */
  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      this.#consumer = new KafkaConsumer(this.#options, {
        assigned: (partitions) => this.#assigned(partitions),
        eachBatch: (payload) => this.#eachBatch(payload),
        filtered: (event) => this.#filtered(event),
      })
      const error = await this.#consumer.run(signal)
      if (signal.aborted) return
      this.#options.logger.warn({ err: error, group: this.#options.group }, 'Kafka: a new consumer is made')
      if (this.#assignments.size > 0) this.#assigned([])
      await delay(restartDelayMs, undefined, { signal }).catch(() => {})
    }
  }

  #assigned(partitions: readonly number[]): void {
    if (this.#closing.signal.aborted) return
    this.#assignments = new Map(partitions.map((partition) => [partition, { seeks: 0 }]))
    this.#options.subscriber.assigned(partitions)
  }

  /**
   * kafkajs fetches only once all that it fetched before is handled. So it is told that a batch is when it has its turn
   * to come, as the one behind the batch in hand: the next fetch then goes on beside that.
   */
  async #eachBatch({ batch, isStale, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> {
    const assignment = this.#assignments.get(batch.partition)
    if (assignment === undefined || assignment.seeks === 0 || isStale()) return
    const inHand = this.#turns.get(batch.partition)
    this.#handleInTurn(toRecordBatch(batch), assignment)
    resolveOffset(batch.lastOffset())
    await beating(heartbeat, inHand)
  }

  /** What kafkajs filters out whole, such as transaction markers, it steps over by itself; the subscriber hears of it. */
  #filtered({ payload }: ConsumerStartBatchProcessEvent): void {
    const { partition, firstOffset, lastOffset } = payload
    const assignment = this.#assignments.get(partition)
    if (assignment === undefined || assignment.seeks === 0 || firstOffset === null) return
    this.#handleInTurn(
      { partition, from: toOffset(firstOffset), records: [], next: toOffset(lastOffset) + 1 },
      assignment,
    )
  }

  /** Batches of one partition are handled one at a time, those of an earlier assignment or consumer included. */
  #handleInTurn(batch: RecordBatch, assignment: Assignment): void {
    const { partition } = batch
    const { seeks } = assignment
    const isStale = () => this.#assignments.get(partition) !== assignment || assignment.seeks !== seeks
    const inHand = this.#turns.get(partition)
    this.#turns.set(partition, this.#handle(batch, isStale, inHand))
  }

  /** Stale: the partition was assigned anew or sought, so that other batches come, and of this one nothing matters. */
  async #handle(batch: RecordBatch, isStale: () => boolean, before: Promise<void> | undefined): Promise<void> {
    await before
    if (isStale()) return
    const done = await this.#options.subscriber.batch(batch)
    if (isStale()) return
    if (done) {
      this.#consumer?.resolved(batch.partition, batch.next)
      return
    }
    // Read again, but not at once: that would be a hot loop while the read model is away.
    await delay(redeliveryDelayMs, undefined, { signal: this.#closing.signal }).catch(() => {})
    if (!isStale()) this.seek(batch.partition, batch.from)
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
async function beating(heartbeat: () => Promise<void>, work: Promise<void> | undefined): Promise<void> {
  const timer = setInterval(() => heartbeat().catch(() => {}), heartbeatMs)
  await work
  clearInterval(timer)
}
