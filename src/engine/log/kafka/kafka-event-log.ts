import { setTimeout as delay } from 'node:timers/promises'
import type { Admin } from 'kafkajs'
import type { Warning } from '../../lib/operating/warning.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import type {
  EventLog,
  NewRecord,
  Offset,
  ReadRecords,
  Subscriber,
  Subscription,
  UndecodableBatch,
} from '../event-log.ts'
import { outcomeUnknown, unanswered, unavailable } from '../failures.ts'
import { partitionOf } from './default-partitioner.ts'
import { ownersIn } from './group-members.ts'
import { type BootedLog, bootLog } from './kafka-boot.ts'
import { KafkaClient, KafkaConnection } from './kafka-client.ts'
import { KafkaProducer } from './kafka-producer.ts'
import { KafkaReader, UndecodableError } from './kafka-reader.ts'
import { KafkaSubscription } from './kafka-subscription.ts'
import { findTopics } from './kafka-topics.ts'
import { LeftOutBatches } from './left-out-batches.ts'
import type { KafkaLogOptions, LogPartOptions } from './log-part-options.ts'
import { LogWatch } from './log-watch.ts'
import { notedEvents } from './noted-events.ts'
import { foreignRecords, incompleteness, partitionsChanged, weaknesses } from './topic-faults.ts'
import { TopicWatch } from './topic-watch.ts'

const endOffsetsTimeoutMs = 1900 // the port allows two seconds
const endOffsetsQueryMs = 1500
const ownersTimeoutMs = 1900
const confirmLimitMs = 1000
const reserveTimeoutMs = 1900
const reserveRetryDelayMs = 300
const readLimitMs = 1900
/** More than most records need; a fetch that brings fewer than requested is followed by another one. */
const bytesPerRecord = 2048
const fetchBytesMin = 16 * 1024
const fetchBytesMax = 1024 * 1024

/** Opens the log on Kafka, or creates a new one. Throws an Error that says what to do if it cannot be used. */
export async function openKafkaEventLog(options: KafkaLogOptions): Promise<EventLog> {
  const newClient = () => new KafkaClient(options)
  const idBlocks = `${options.topic}.id-blocks`
  const reader = new KafkaReader(newClient)
  const idBlocksProducer = new KafkaProducer(newClient, idBlocks, options.logger)
  const all = { ...options, idBlocks, newClient, reader, idBlocksProducer }
  try {
    return new KafkaEventLog(all, await bootLog(all))
  } catch (error) {
    reader.close()
    idBlocksProducer.close()
    throw error
  }
}

class KafkaEventLog implements EventLog {
  readonly logId: string
  readonly partitions: number
  readonly replaced: Promise<void>
  readonly #options: LogPartOptions
  readonly #producer: KafkaProducer
  /** One of its own, since a fetch holds up what comes behind it on the same connection. */
  readonly #reader: KafkaReader
  readonly #watch: LogWatch
  readonly #admin: KafkaConnection<Admin>
  readonly #topics: TopicWatch
  readonly #leftOut: LeftOutBatches
  readonly #subscriptions = new Set<KafkaSubscription>()
  readonly #writes = new Set<Promise<unknown>>()
  #appendsSucceed = true
  /** The furthest end that this process knows of, by partition. */
  readonly #reached: Offset[] = []
  #endOffsetsQuery: Promise<unknown> = Promise.resolve()
  #nextEndOffsetsQuery: Promise<Offset[]> | undefined
  #closed: Promise<void> | undefined

  constructor(options: LogPartOptions, { identity: { logId, partitions }, events, warnings }: BootedLog) {
    this.logId = logId
    this.partitions = partitions
    this.#options = options
    this.#producer = new KafkaProducer(options.newClient, options.topic, options.logger)
    this.#reader = new KafkaReader(options.newClient)
    this.#leftOut = new LeftOutBatches(options)
    this.#watch = new LogWatch({ ...options, logId, events })
    this.replaced = this.#watch.replaced
    void this.replaced.then(() => this.#closeProducers())
    this.#admin = new KafkaConnection(options.newClient, (kafka) => kafka.admin(), { isShared: true })
    this.#topics = new TopicWatch({
      ...options,
      connection: this.#admin,
      found: warnings,
      look: async (admin) => {
        const found = await findTopics(admin, options.reader, options)
        const foreign = (await notedEvents(options.reader, options.idBlocks, logId))?.foreign
        return [
          ...incompleteness(found),
          ...partitionsChanged(found, partitions),
          ...weaknesses(found),
          ...foreignRecords(options.idBlocks, foreign),
        ]
      },
    })
  }

  get warnings(): readonly Warning[] {
    return [...this.#topics.warnings, ...this.#leftOut.warnings]
  }

  get undecodable(): readonly UndecodableBatch[] {
    return [...this.#subscriptions].flatMap(({ undecodable }) => undecodable)
  }

  partitionFor(key: string): number {
    return partitionOf(key, this.partitions)
  }

  async append(partition: number, records: readonly NewRecord[]): Promise<Offset> {
    this.#failIfEnded()
    return await this.#track(this.#append(partition, records))
  }

  async reserveIdBlock(): Promise<number> {
    this.#failIfEnded()
    return await this.#track(this.#reserve())
  }

  /**
   * A new leader that does not yet know what was acknowledged before it answers with an error instead of an end offset
   * (KIP-207).
   */
  async endOffsets(): Promise<readonly Offset[]> {
    this.#failIfEnded()
    // A query in progress may have been answered before an append that the new caller knows of, so that caller gets the
    // next one.
    this.#nextEndOffsetsQuery ??= this.#endOffsetsQuery.then(() => this.#queryEndOffsets())
    try {
      return await withTimeout(endOffsetsTimeoutMs, this.#nextEndOffsetsQuery)
    } catch (error) {
      throw unanswered(error)
    }
  }

  async read(partition: number, from: Offset, limit: number): Promise<ReadRecords> {
    this.#failIfEnded()
    const { topic } = this.#options
    try {
      const bytesMax = Math.min(Math.max(fetchBytesMin, limit * bytesPerRecord), fetchBytesMax)
      const place = { topic, partition, from, bytesMax, isolation: 'committed' } as const
      const fetched = await this.#reader.records(place, readLimitMs)
      if (fetched.records.length <= limit) return fetched
      const records = fetched.records.slice(0, limit)
      return { records, next: (records.at(-1)?.offset ?? from) + 1 }
    } catch (error) {
      throw error instanceof UndecodableError
        ? unanswered(error, 'The event log cannot be decoded there.')
        : unanswered(error)
    }
  }

  async confirm(): Promise<void> {
    this.#failIfEnded()
    await this.#confirm(confirmLimitMs)
  }

  async ownersIn(group: string): Promise<ReadonlyMap<number, string>> {
    this.#failIfEnded()
    try {
      return await this.#admin.use(ownersTimeoutMs, (admin) => ownersIn(admin, group, this.#options.topic))
    } catch (error) {
      throw unanswered(error)
    }
  }

  async subscribe(group: string, subscriber: Subscriber): Promise<Subscription> {
    this.#failIfEnded()
    const leftOut = (batch: UndecodableBatch) => this.#leftOut.report(batch)
    const subscription = new KafkaSubscription({ ...this.#options, group, subscriber, leftOut })
    this.#subscriptions.add(subscription)
    return {
      seek: (partition, offset) => subscription.seek(partition, offset),
      close: async () => {
        await subscription.close()
        this.#subscriptions.delete(subscription)
      },
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.close()))
    await Promise.allSettled(this.#writes) // each has its time limit
    await Promise.all([this.#watch.close(), this.#topics.close()])
    this.#options.reader.close()
    this.#reader.close()
    this.#closeProducers()
  }

  #closeProducers(): void {
    this.#producer.close()
    this.#options.idBlocksProducer.close()
  }

  async #append(partition: number, records: readonly NewRecord[]): Promise<Offset> {
    const { appendTimeoutMs } = this.#options
    const deadline = performance.now() + appendTimeoutMs
    // Appends fail while topics are created anew. The first one that would succeed again must not go to another log.
    if (!this.#appendsSucceed) await this.#confirm(Math.min(confirmLimitMs, appendTimeoutMs))
    this.#appendsSucceed = false
    const offset = await this.#producer.append(partition, records, deadline - performance.now())
    await this.#confirmAppended(partition, offset, deadline)
    this.#reached[partition] = offset + records.length
    this.#appendsSucceed = true
    return offset
  }

  /** An offset that the partition had already given out: it has lost its end, or is one of another log. */
  async #confirmAppended(partition: number, offset: Offset, deadline: number): Promise<void> {
    if (offset >= (this.#reached[partition] ?? 0)) return
    const limitMs = Math.min(confirmLimitMs, deadline - performance.now())
    await this.#confirm(limitMs).catch((error) => {
      throw outcomeUnknown(error)
    })
  }

  async #confirm(limitMs: number): Promise<void> {
    const deadline = performance.now() + limitMs
    await this.#watch.confirm(limitMs)
    try {
      await this.#watch.confirmEvents(deadline - performance.now()) // it must be known that the events are still there
    } catch (error) {
      throw unavailable(error)
    }
  }

  /** A reservation whose outcome is unknown only leaves a gap, so it is tried again. */
  async #reserve(): Promise<number> {
    const deadline = performance.now() + reserveTimeoutMs
    for (;;) {
      try {
        return await this.#watch.reserveBlock(deadline - performance.now())
      } catch (error) {
        this.#failIfEnded()
        if (performance.now() + reserveRetryDelayMs > deadline) throw unavailable(error)
        await delay(reserveRetryDelayMs)
      }
    }
  }

  #queryEndOffsets(): Promise<Offset[]> {
    this.#nextEndOffsetsQuery = undefined
    const query = this.#watch.endOffsets(endOffsetsQueryMs)
    this.#endOffsetsQuery = query.then(
      (ends) => {
        for (const [partition, end] of ends.entries()) {
          this.#reached[partition] = Math.max(end, this.#reached[partition] ?? 0)
        }
      },
      () => {},
    )
    return query
  }

  async #track<T>(write: Promise<T>): Promise<T> {
    this.#writes.add(write)
    try {
      return await write
    } finally {
      this.#writes.delete(write)
    }
  }

  #failIfEnded(): void {
    if (this.#closed) throw unavailable(new Error('the event log is closed'))
    this.#watch.failIfReplaced()
  }
}
