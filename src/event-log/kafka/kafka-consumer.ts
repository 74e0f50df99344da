import type { Consumer, ConsumerStartBatchProcessEvent, EachBatchPayload } from 'kafkajs'
import type { Logger } from 'pino'
import { withTimeout } from '../../lib/with-timeout.ts'
import type { Offset } from '../event-log.ts'
import type { KafkaClient } from './kafka-client.ts'

export interface ConsumerOptions {
  readonly newClient: () => KafkaClient
  readonly topic: string
  readonly partitions: number
  readonly group: string
  readonly logger: Logger
}

export interface ConsumerHandlers {
  /** Nothing of these partitions is read until `seek`. */
  assigned(partitions: readonly number[]): void
  eachBatch(payload: EachBatchPayload): Promise<void>
  /** A batch with nothing but records that are not for readers, such as transaction markers. */
  filtered(event: ConsumerStartBatchProcessEvent): void
}

const sessionTimeoutMs = 6000 // the least that brokers allow: a killed process loses its partitions after that
const heartbeatMs = 2000
const rebalanceTimeoutMs = 10_000
const fetchWaitMs = 100 // a stop and a rebalance wait for the fetch under way
// For one partition: all partitions fetched are decoded in one go, and the read models wait for that; a record may be larger.
const fetchBytes = 512 * 1024
const commitIntervalMs = 5000
const lifeSignLimitMs = 30_000
const leaveLimitMs = 5000
const lastCommitLimitMs = 1000

/** One kafkajs consumer, from its start until it has crashed, shown no sign of life, or been stopped. */
export class KafkaConsumer {
  readonly #options: ConsumerOptions
  readonly #handlers: ConsumerHandlers
  readonly #client: KafkaClient
  readonly #consumer: Consumer
  readonly #end = Promise.withResolvers<unknown>()
  readonly #offsets = new OffsetsToCommit()
  #lastLifeSign = performance.now()
  #stopped = false
  #committing = Promise.resolve()

  constructor(options: ConsumerOptions, handlers: ConsumerHandlers) {
    this.#options = options
    this.#handlers = handlers
    this.#client = options.newClient()
    this.#consumer = this.#client.kafka.consumer({
      groupId: options.group,
      allowAutoTopicCreation: false,
      readUncommitted: false,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: heartbeatMs,
      rebalanceTimeout: rebalanceTimeoutMs,
      maxWaitTimeInMs: fetchWaitMs,
      maxBytesPerPartition: fetchBytes,
      // Explicit, since the defaults of kafkajs differ under NODE_ENV=test. After these a new consumer is made.
      retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 1000, factor: 0.2, multiplier: 2, restartOnFailure },
    })
    this.#listen()
  }

  /** Resolves to what ended it once it has left the group, or cannot; to undefined when stopped by the signal. */
  async run(signal: AbortSignal): Promise<unknown> {
    const stop = () => this.#end.resolve(undefined)
    signal.addEventListener('abort', stop)
    const upkeep = setInterval(() => this.#upkeep(), commitIntervalMs)
    this.#start().catch((error) => this.#end.resolve(error))
    const error = await this.#end.promise
    clearInterval(upkeep)
    signal.removeEventListener('abort', stop)
    // A group that is stopped keeps what was committed last: without this, tools would show it behind until it runs again.
    if (error === undefined) await withTimeout(lastCommitLimitMs, this.#commitInTurn()).catch(() => {})
    await withTimeout(leaveLimitMs, this.#consumer.disconnect()).catch(() => {}) // the group finds out by itself
    this.#client.abandon()
    return error
  }

  seek(partition: number, offset: Offset): void {
    if (this.#stopped) return
    const { topic } = this.#options
    this.#consumer.seek({ topic, partition, offset: String(offset) })
    this.#consumer.resume([{ topic, partitions: [partition] }])
    this.#offsets.sought(partition, offset)
  }

  /** The next offset of a partition, to be committed some time for tools that show how far a group is behind. */
  resolved(partition: number, next: Offset): void {
    this.#offsets.done(partition, next)
  }

  async #start(): Promise<void> {
    await this.#consumer.connect()
    await this.#consumer.subscribe({ topics: [this.#options.topic], fromBeginning: true })
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: this.#options.partitions,
      eachBatch: (payload) => this.#handlers.eachBatch(payload),
    })
  }

  #listen(): void {
    const { events } = this.#consumer
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => this.#joined(payload.memberAssignment))
    this.#consumer.on(events.HEARTBEAT, () => this.#lives())
    this.#consumer.on(events.START_BATCH_PROCESS, (event) =>
      event.payload.batchSize === 0 ? this.#handlers.filtered(event) : undefined,
    )
    this.#consumer.on(events.STOP, () => {
      this.#stopped = true // kafkajs takes no seeks from now on; a crash is told only later
    })
    this.#consumer.on(events.CRASH, ({ payload }) => this.#end.resolve(payload.error))
  }

  #joined(assignment: Record<string, number[]>): void {
    this.#lives()
    const { topic } = this.#options
    const partitions = (assignment[topic] ?? []).toSorted((one, other) => one - other)
    this.#offsets.assigned(partitions)
    if (partitions.length > 0) this.#consumer.pause([{ topic, partitions }])
    this.#handlers.assigned(partitions)
  }

  #lives(): void {
    this.#lastLifeSign = performance.now()
  }

  #upkeep(): void {
    if (performance.now() - this.#lastLifeSign > lifeSignLimitMs) {
      this.#end.resolve(new Error(`no heartbeat was answered for ${lifeSignLimitMs} ms`))
    }
    this.#commitInTurn()
  }

  /** One after the other, as kafkajs sends a commit again for a while: an older one would undo a newer one. */
  #commitInTurn(): Promise<void> {
    this.#committing = this.#committing.then(() => this.#commit())
    return this.#committing
  }

  async #commit(): Promise<void> {
    const { topic, logger } = this.#options
    const pending = this.#offsets.pending()
    if (pending.length === 0) return
    const offsets = pending.map(([partition, next]) => ({ topic, partition, offset: String(next) }))
    try {
      await this.#consumer.commitOffsets(offsets)
      this.#offsets.committed(pending)
    } catch (error) {
      logger.debug({ err: error }, 'Kafka: offsets not committed') // still pending, so tried again next time
    }
  }
}

async function restartOnFailure(): Promise<boolean> {
  return false
}

/**
 * What a consumer is to commit for tools that show how far a group is behind. Nothing reads it to go on from there, so it
 * may be late; but what is said must get there in the end, on an idle system too, and go back where the reader goes back.
 */
export class OffsetsToCommit {
  readonly #next = new Map<number, Offset>()
  readonly #committed = new Map<number, Offset>()

  /** The partitions held from now on. Of those kept nothing is forgotten, as nobody else can have moved them. */
  assigned(partitions: readonly number[]): void {
    for (const map of [this.#next, this.#committed]) {
      for (const partition of map.keys()) if (!partitions.includes(partition)) map.delete(partition)
    }
  }

  /** Everything before `next` is done. */
  done(partition: number, next: Offset): void {
    this.#next.set(partition, next)
  }

  /** Reading goes on from `offset`. */
  sought(partition: number, offset: Offset): void {
    // A reader that looks once more at the last record it had done, to see that it is the same, has not gone back. One
    // that has, by just this record, is told from it as soon as it gets on.
    if (this.#next.get(partition) === offset + 1) return
    this.#next.set(partition, offset)
  }

  /** What differs from what was committed, by partition. */
  pending(): readonly [number, Offset][] {
    return [...this.#next].filter(([partition, next]) => this.#committed.get(partition) !== next)
  }

  committed(offsets: readonly [number, Offset][]): void {
    for (const [partition, next] of offsets) if (this.#next.has(partition)) this.#committed.set(partition, next)
  }
}
