import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../lib/errors.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import type { EventLog, NewRecord, Offset, Subscriber, Subscription } from '../event-log.ts'
import { partitionOf } from './default-partitioner.ts'
import { bootLog } from './kafka-boot.ts'
import { type KafkaAccess, KafkaClient } from './kafka-client.ts'
import { IdentityWatch, type LogIdentity } from './kafka-identity.ts'
import { KafkaProducer } from './kafka-producer.ts'
import { KafkaReader } from './kafka-reader.ts'
import { KafkaSubscription } from './kafka-subscription.ts'
import type { LogTopics } from './kafka-topics.ts'

export interface KafkaLogOptions extends KafkaAccess {
  /** The topic of the events; `<topic>.id-blocks` holds the identity of the log and the blocks reserved. */
  readonly topic: string
  readonly partitions: number
  /** From the call of an append to its outcome. */
  readonly appendTimeoutMs: number
  /** How long to wait for brokers that do not answer yet; 30 s when omitted. */
  readonly bootTimeoutMs?: number | undefined
}

const bootTimeoutMs = 30_000
const endsTimeoutMs = 1900 // the port allows two seconds
const endsQueryMs = 1500
const confirmLimitMs = 1000
const claimTimeoutMs = 1900
const claimRetryDelayMs = 300

/** Opens the log on Kafka; a new one is made. Throws an Error that says what to do where it cannot be used. */
export async function openKafkaEventLog(options: KafkaLogOptions): Promise<EventLog> {
  const { topic, partitions, brokers, logger } = options
  const topics: LogTopics = { events: topic, partitions, idBlocks: `${topic}.id-blocks`, brokers }
  const newClient = () => new KafkaClient(options)
  const parts = {
    reader: new KafkaReader(newClient),
    producer: new KafkaProducer(newClient, topics.events, logger),
    idBlocksProducer: new KafkaProducer(newClient, topics.idBlocks, logger),
  }
  try {
    const identity = await bootLog(options, topics, parts, options.bootTimeoutMs ?? bootTimeoutMs)
    const watch = new IdentityWatch(parts.reader, topics.idBlocks, identity.logId)
    return new KafkaEventLog(options, newClient, identity, { ...parts, watch })
  } catch (error) {
    await Promise.all([parts.reader.close(), parts.idBlocksProducer.close()])
    throw error
  }
}

interface Parts {
  readonly reader: KafkaReader
  readonly producer: KafkaProducer
  readonly idBlocksProducer: KafkaProducer
  readonly watch: IdentityWatch
}

class KafkaEventLog implements EventLog {
  readonly logId: string
  readonly partitions: number
  readonly replaced: Promise<void>
  readonly #options: KafkaLogOptions
  readonly #newClient: () => KafkaClient
  readonly #parts: Parts
  readonly #subscriptions = new Set<KafkaSubscription>()
  readonly #writes = new Set<Promise<unknown>>()
  #appendsSucceed = true
  #endsQuery: Promise<Offset[]> | undefined
  #nextEndsQuery: Promise<Offset[]> | undefined
  #closed: Promise<void> | undefined

  constructor(options: KafkaLogOptions, newClient: () => KafkaClient, identity: LogIdentity, parts: Parts) {
    this.logId = identity.logId
    this.partitions = identity.partitions
    this.replaced = parts.watch.replaced
    void this.replaced.then(() => this.#closeProducers())
    this.#options = options
    this.#newClient = newClient
    this.#parts = parts
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
    return await this.#track(this.#claim())
  }

  /** A new leader that does not know yet what was acknowledged before it says so instead of naming an end (KIP-207). */
  async endOffsets(): Promise<readonly Offset[]> {
    this.#failIfEnded()
    // A query under way may have been answered before an append that its new caller knows of: that one gets the next.
    this.#nextEndsQuery ??= (this.#endsQuery ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        this.#endsQuery = this.#nextEndsQuery
        this.#nextEndsQuery = undefined
        return this.#parts.reader.offsets(this.#options.topic, 'next', endsQueryMs)
      })
    try {
      return await withTimeout(endsTimeoutMs, this.#nextEndsQuery)
    } catch (error) {
      throw unavailable(error)
    }
  }

  async subscribe(group: string, subscriber: Subscriber): Promise<Subscription> {
    this.#failIfEnded()
    const { topic, logger } = this.#options
    const access = { newClient: this.#newClient, topic, partitions: this.partitions, logger }
    const subscription = new KafkaSubscription({ ...access, group, subscriber })
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
    await this.#parts.watch.close()
    await Promise.all([this.#parts.reader.close(), this.#closeProducers()])
  }

  async #closeProducers(): Promise<void> {
    await Promise.all([this.#parts.producer.close(), this.#parts.idBlocksProducer.close()])
  }

  async #append(partition: number, records: readonly NewRecord[]): Promise<Offset> {
    const { producer, watch } = this.#parts
    const deadline = performance.now() + this.#options.appendTimeoutMs
    // Appends fail while topics are made anew: the first that would succeed again must not be one to another log.
    if (!this.#appendsSucceed) await watch.confirm(Math.min(confirmLimitMs, this.#options.appendTimeoutMs))
    this.#appendsSucceed = false
    const messages = records.map(({ key, value, headers }) => ({ key, value, headers: { ...headers } }))
    const offset = await producer.append(partition, messages, deadline - performance.now())
    this.#appendsSucceed = true
    return offset
  }

  /** A claim whose outcome is unknown only leaves a gap, so it is tried again. */
  async #claim(): Promise<number> {
    const { idBlocksProducer, watch } = this.#parts
    const deadline = performance.now() + claimTimeoutMs
    for (;;) {
      try {
        await watch.confirm(deadline - performance.now())
        const record = { key: 'block', value: this.logId }
        const block = await idBlocksProducer.append(0, [record], deadline - performance.now())
        if (block === 0) watch.markReplaced() // after the look, and before the new log got its identity
        watch.failIfReplaced()
        return block
      } catch (error) {
        this.#failIfEnded()
        if (performance.now() + claimRetryDelayMs > deadline) throw unavailable(error)
        await delay(claimRetryDelayMs)
      }
    }
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
    this.#parts.watch.failIfReplaced()
  }
}

function unavailable(cause: unknown): ServiceError {
  return new ServiceError('event_log_unavailable', 'The event log does not answer.', { cause })
}
