import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs'
import type { Logger } from 'pino'
import { withTimeout } from '../../lib/with-timeout.ts'
import type { Offset, RecordBatch, UndecodableBatch } from '../event-log.ts'
import { withoutMarker } from './batch-decoding.ts'
import { type KafkaClient, toOffset } from './kafka-client.ts'

export interface ConsumerOptions {
  readonly newClient: () => KafkaClient
  readonly topic: string
  readonly partitions: number
  readonly group: string
  readonly logger: Logger
}

export interface ConsumerHandlers {
  /** The partitions held from now on, in place of those before. Nothing of them is read until `seek`. */
  assigned(partitions: readonly number[]): void
  /** Takes a batch of a partition sought, and resolves once the one before it is handled. */
  batch(batch: RecordBatch): Promise<void>
  /** Nothing more of its partition is read until `seek`; what is before `next` was given to `batch`. */
  cannotDecode(batch: UndecodableBatch, next: Offset): void
}

const restartOnFailure = async () => false
const batchHeartbeatMs = 1000
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
  /** How far each partition held is done, or where it was sought to. */
  readonly #positions = new Map<number, Offset>()
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
      sessionTimeout: 6000, // the least that brokers allow: a killed process loses its partitions after that
      heartbeatInterval: 2000,
      rebalanceTimeout: 10_000,
      maxWaitTimeInMs: 100, // a stop and a rebalance wait for the fetch under way
      // All partitions fetched are decoded in one go, and the read models wait for that; a record may be larger.
      maxBytesPerPartition: 512 * 1024,
      // Explicit, since the defaults of kafkajs differ under NODE_ENV=test. After these a new consumer is made.
      retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 1000, factor: 0.2, multiplier: 2, restartOnFailure },
    })
    this.#listen()
  }

  /** Resolves to what ended it once it has left the group, or cannot; to undefined when it was stopped. */
  async run(): Promise<unknown> {
    const upkeep = setInterval(() => this.#upkeep(), commitIntervalMs)
    this.#start().catch((error) => this.#end.resolve(error))
    const error = await this.#end.promise
    clearInterval(upkeep)
    // A group that is stopped keeps what was committed last: without this, tools would show it behind until it runs again.
    if (error === undefined) await withTimeout(lastCommitLimitMs, this.#commit()).catch(() => {})
    await withTimeout(leaveLimitMs, this.#consumer.disconnect()).catch(() => {}) // the group finds out by itself
    this.#client.abandon()
    return error
  }

  stop(): void {
    this.#end.resolve(undefined)
  }

  seek(partition: number, offset: Offset): void {
    if (this.#stopped) return
    const { topic } = this.#options
    this.#consumer.seek({ topic, partition, offset: String(offset) })
    this.#consumer.resume([{ topic, partitions: [partition] }])
    // A reader that looks once more at the last record it had done, to see that it is the same, has not gone back. One
    // that has, by just this record, is told from it as soon as it gets on.
    if (this.#positions.get(partition) !== offset + 1) this.#positions.set(partition, offset)
  }

  /** Everything before `next` is done. */
  done(partition: number, next: Offset): void {
    this.#positions.set(partition, next)
  }

  async #start(): Promise<void> {
    await this.#consumer.connect()
    await this.#consumer.subscribe({ topics: [this.#options.topic], fromBeginning: true })
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: this.#options.partitions,
      eachBatch: (payload) => this.#eachBatch(payload),
    })
  }

  #listen(): void {
    const { events } = this.#consumer
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => this.#joined(payload.memberAssignment))
    this.#consumer.on(events.HEARTBEAT, () => {
      this.#lastLifeSign = performance.now()
    })
    // What kafkajs filters out whole, such as transaction markers, it steps over by itself; the subscriber hears of it.
    this.#consumer.on(events.START_BATCH_PROCESS, ({ payload }) => {
      const { batchSize, partition, firstOffset, lastOffset } = payload
      if (batchSize > 0 || firstOffset === null) return
      void this.#handlers.batch({ partition, from: toOffset(firstOffset), records: [], next: toOffset(lastOffset) + 1 })
    })
    this.#consumer.on(events.STOP, () => {
      this.#stopped = true // kafkajs takes no seeks from now on; a crash is told only later
    })
    this.#consumer.on(events.CRASH, ({ payload }) => this.#end.resolve(payload.error))
  }

  #joined(assignment: Record<string, number[]>): void {
    this.#lastLifeSign = performance.now()
    const { topic } = this.#options
    const partitions = (assignment[topic] ?? []).toSorted((one, other) => one - other)
    // Of partitions kept nothing is forgotten, as nobody else can have moved them.
    for (const held of this.#positions.keys()) if (!partitions.includes(held)) this.#positions.delete(held)
    if (partitions.length > 0) this.#consumer.pause([{ topic, partitions }])
    this.#handlers.assigned(partitions)
  }

  /**
   * kafkajs fetches only once all that it fetched before is handled. So it is told that a batch is when it has its turn
   * to come, as the one behind the batch in hand: the next fetch then goes on beside that.
   */
  async #eachBatch({ batch, isStale, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> {
    if (isStale()) return
    const { partition } = batch
    const { fetchedOffset } = batch as typeof batch & { fetchedOffset: string } // what kafkajs asked for, not in its type
    const from = toOffset(fetchedOffset)
    const { messages, undecodable } = withoutMarker(batch.messages)
    const records = messages.map(({ offset, key, value }) => ({ offset: toOffset(offset), key, value }))
    const next = undecodable === undefined ? toOffset(batch.lastOffset()) + 1 : Math.max(from, undecodable.offset)
    // A batch of nothing up to `from` would say that the record sought is not there.
    const before =
      next === from
        ? undefined
        : this.#handlers.batch({ partition, from, records, next, leaderEpochs: leaderEpochsOf(messages) })
    if (undecodable === undefined) resolveOffset(batch.lastOffset())
    else {
      this.#consumer.pause([{ topic: this.#options.topic, partitions: [partition] }])
      this.#handlers.cannotDecode({ partition, ...undecodable }, next)
    }
    // Keeps the group membership meanwhile. A heartbeat that fails is sent again after the batch, which then tells.
    const beating = setInterval(() => heartbeat().catch(() => {}), batchHeartbeatMs)
    await before
    clearInterval(beating)
  }

  #upkeep(): void {
    if (performance.now() - this.#lastLifeSign > lifeSignLimitMs) {
      this.#end.resolve(new Error(`no heartbeat was answered for ${lifeSignLimitMs} ms`))
    }
    this.#commit()
  }

  /**
   * For tools that show how far a group is behind. Nothing reads it to go on from there, so it may be late; but each
   * position gets there in the end, on an idle system too, and goes back where the reader goes back. One commit after the
   * other, as kafkajs sends one again for a while: an older one would undo a newer one.
   */
  #commit(): Promise<void> {
    const { topic, logger } = this.#options
    this.#committing = this.#committing.then(async () => {
      const offsets = [...this.#positions].map(([partition, next]) => ({ topic, partition, offset: String(next) }))
      if (offsets.length === 0) return
      await this.#consumer.commitOffsets(offsets).catch((error) => {
        logger.debug({ err: error }, 'Kafka: offsets not committed') // tried again next time
      })
    })
    return this.#committing
  }
}

function leaderEpochsOf(messages: readonly KafkaMessage[]): RecordBatch['leaderEpochs'] {
  const [first, last] = [messages[0], messages.at(-1)].map((message) => {
    const { batchContext } = (message ?? {}) as { batchContext?: { partitionLeaderEpoch?: number } } // not in its type
    return batchContext?.partitionLeaderEpoch
  })
  return first === undefined || last === undefined ? undefined : { first, last }
}
