import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs'
import { withTimeout } from '../../lib/with-timeout.ts'
import type { Offset, RecordBatch, UndecodableBatch } from '../event-log.ts'
import { withoutMarker } from './batch-decoding.ts'
import { assignerWithName } from './group-members.ts'
import { type KafkaClient, toOffset } from './kafka-client.ts'
import type { LogPartOptions } from './log-part-options.ts'
import type { FetchedMessage } from './record-batch.ts'

export interface ConsumerOptions
  extends Pick<LogPartOptions, 'newClient' | 'topic' | 'partitions' | 'logger' | 'commitIntervalMs'> {
  readonly group: string
}

export interface ConsumerHandlers {
  /** The partitions assigned from now on, replacing those before. Nothing is read from them until `seek`. */
  assigned(partitions: readonly number[]): void
  /** Receives a batch of a partition, and resolves once the previous one is handled. */
  batch(batch: RecordBatch): Promise<void>
  /** Nothing more of this partition is read until `seek`. Everything before `next` was passed to `batch`. */
  cannotDecode(batch: UndecodableBatch, next: Offset): void
  /** This batch is left out: an empty record stands for it. */
  leftOut(batch: UndecodableBatch): void
  /** The group has answered: the assignment is the last one told. */
  heartbeat?(): void
}

const restartOnFailure = async () => false
const batchHeartbeatMs = 1000
const lifeSignLimitMs = 30_000
const leaveLimitMs = 5000
const lastCommitLimitMs = 1000

/** One kafkajs consumer, from its start until it crashes, stops responding, or is stopped. */
export class KafkaConsumer {
  readonly #options: ConsumerOptions
  readonly #handlers: ConsumerHandlers
  readonly #client: KafkaClient
  readonly #consumer: Consumer
  readonly #end = Promise.withResolvers<unknown>()
  /** How far each assigned partition has been handled, or the offset of its last seek. */
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
      partitionAssigners: [assignerWithName],
      allowAutoTopicCreation: false,
      readUncommitted: false,
      sessionTimeout: 6000, // the minimum that brokers allow: a killed process loses its partitions after that time
      heartbeatInterval: 2000,
      rebalanceTimeout: 10_000,
      maxWaitTimeInMs: 100, // a stop and a rebalance wait for the current fetch
      // All fetched partitions are decoded at once, and the read models wait for that. A single record may be larger.
      maxBytesPerPartition: 512 * 1024,
      // Set explicitly, since the defaults of kafkajs differ under NODE_ENV=test. After these retries a new consumer is
      // created.
      retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 1000, factor: 0.2, multiplier: 2, restartOnFailure },
    })
    this.#listen()
  }

  /** Resolves to the error that ended it once it has left the group, or cannot; to undefined if it was stopped. */
  async run(): Promise<unknown> {
    const { commitIntervalMs = 5000 } = this.#options
    const commits = setInterval(() => {
      this.#endIfSilent()
      void this.#commit()
    }, commitIntervalMs)
    this.#start().catch((error) => this.#end.resolve(error))
    const error = await this.#end.promise
    clearInterval(commits)
    // A stopped group keeps its last commit. Without this commit, tools would show it as behind until it runs again.
    if (error === undefined) await withTimeout(lastCommitLimitMs, this.#commit()).catch(() => {})
    await withTimeout(leaveLimitMs, this.#consumer.disconnect()).catch(() => {}) // the group notices by itself
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
    // A reader that looks again at the last record it has handled, to see whether it is the same, has not gone back.
    // If it really went back by one record, the next batch corrects the position.
    if (this.#positions.get(partition) !== offset + 1) this.#positions.set(partition, offset)
  }

  /** Everything before `next` has been handled. */
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
      this.#handlers.heartbeat?.()
    })
    // kafkajs skips what it filters out entirely, such as transaction markers; the subscriber must know about it.
    this.#consumer.on(events.START_BATCH_PROCESS, ({ payload }) => {
      const { batchSize, partition, firstOffset, lastOffset } = payload
      if (batchSize > 0 || firstOffset === null) return
      void this.#handlers.batch({ partition, from: toOffset(firstOffset), records: [], next: toOffset(lastOffset) + 1 })
    })
    this.#consumer.on(events.STOP, () => {
      this.#stopped = true // kafkajs accepts no seeks from now on; it reports the crash only later
    })
    this.#consumer.on(events.CRASH, ({ payload }) => this.#end.resolve(payload.error))
  }

  #joined(assignment: Record<string, number[]>): void {
    this.#lastLifeSign = performance.now()
    const { topic, partitions: count } = this.#options
    const all = assignment[topic] ?? []
    // Partitions that were added to the topic stay paused: they are not part of the log.
    const partitions = all.filter((partition) => partition < count).toSorted((one, other) => one - other)
    // Keeps what is known of partitions that stay assigned, as no other reader can have moved them.
    for (const held of this.#positions.keys()) if (!partitions.includes(held)) this.#positions.delete(held)
    if (all.length > 0) this.#consumer.pause([{ topic, partitions: all }])
    this.#handlers.assigned(partitions)
  }

  /**
   * kafkajs fetches only after everything fetched before has been handled. So a batch is reported as handled when its
   * turn comes, while the previous batch is still being handled: the next fetch then runs at the same time.
   */
  async #eachBatch({ batch, isStale, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> {
    if (isStale()) return
    const { partition } = batch
    const { fetchedOffset } = batch as typeof batch & { fetchedOffset: string } // the requested offset, missing from the type
    const from = toOffset(fetchedOffset)
    const { messages, undecodable } = withoutMarker(batch.messages)
    const records = messages.map(({ offset, key, value }) => ({ offset: toOffset(offset), key, value }))
    for (const { offset, tooLarge } of messages as readonly Partial<FetchedMessage>[]) {
      if (offset && tooLarge) this.#handlers.leftOut({ partition, offset: toOffset(offset), reason: tooLarge })
    }
    const next = undecodable === undefined ? toOffset(batch.lastOffset()) + 1 : Math.max(from, undecodable.offset)
    // An empty batch up to `from` would say that the requested record does not exist.
    const before =
      next === from
        ? undefined
        : this.#handlers.batch({ partition, from, records, next, leaderEpochs: leaderEpochsOf(messages) })
    if (undecodable === undefined) resolveOffset(batch.lastOffset())
    else {
      this.#consumer.pause([{ topic: this.#options.topic, partitions: [partition] }])
      this.#handlers.cannotDecode({ partition, ...undecodable }, next)
    }
    // Keeps the group membership meanwhile. A heartbeat that fails is sent again after the batch, which then reports
    // the error.
    const beating = setInterval(() => heartbeat().catch(() => {}), batchHeartbeatMs)
    await before
    clearInterval(beating)
  }

  #endIfSilent(): void {
    if (performance.now() - this.#lastLifeSign <= lifeSignLimitMs) return
    this.#end.resolve(new Error(`no heartbeat was answered for ${lifeSignLimitMs} ms`))
  }

  /**
   * For tools that show the lag of a group. Nothing resumes from it, so it may be late. But each position is committed
   * eventually, even on an idle system, and goes back if the reader goes back. Commits are sent one after the other:
   * kafkajs repeats a failed commit for a while, and an older one would undo a newer one.
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
    return (message as Partial<FetchedMessage> | undefined)?.batchContext?.partitionLeaderEpoch // not in kafkajs's type
  })
  return first === undefined || last === undefined ? undefined : { first, last }
}
