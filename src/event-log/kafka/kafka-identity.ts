import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { ServiceError } from '../../lib/errors.ts'
import { SingleFlight } from '../../lib/single-flight.ts'
import type { LogRecord } from '../event-log.ts'
import type { KafkaProducer } from './kafka-producer.ts'
import type { KafkaReader } from './kafka-reader.ts'
import { BootRefusal, type LogTopics } from './kafka-topics.ts'

/** What makes this log this one: the first record of the id-blocks topic, as JSON in which the log id is named `epoch`. */
export interface LogIdentity {
  readonly logId: string
  readonly partitions: number
}

const readLimitMs = 3000
const appendLimitMs = 5000
const readsMax = 20

/**
 * The identity of the log; a new log is given one. It is read back and never assumed from what was written: of several
 * processes that find the topic empty, the first one to write decides for all.
 */
export async function establishIdentity(
  reader: KafkaReader,
  idBlocksProducer: KafkaProducer,
  topics: LogTopics,
): Promise<LogIdentity> {
  // Events first: whoever appends them has written the identity before, so that a log being born is not refused.
  const events = await reader.offsets(topics.events, 'next', readLimitMs)
  const [idBlocks] = await reader.offsets(topics.idBlocks, 'next', readLimitMs)
  if (idBlocks === 0) {
    refuseLostIdentity(topics, events)
    const identity = { epoch: randomUUID(), partitions: topics.partitions, createdAt: new Date().toISOString() }
    await idBlocksProducer.append(0, [{ key: 'identity', value: JSON.stringify(identity) }], appendLimitMs)
  }
  return checkIdentity(await firstRecord(reader, topics.idBlocks), topics)
}

/** Whether the log that is there is still the one with this log id. Throws where that cannot be told. */
export async function holdsIdentity(
  reader: KafkaReader,
  idBlocks: string,
  logId: string,
  limitMs: number,
): Promise<boolean> {
  const first = await reader.firstRecord(idBlocks, limitMs / 2)
  if (first !== undefined) return parseIdentity(first.value)?.logId === logId
  // A new leader may hold back records for a moment, but then it does not tell where they end.
  const [end] = await reader.offsets(idBlocks, 'next', limitMs / 2)
  if (end === 0) return false
  throw new Error(`the first record of ${idBlocks} cannot be read`)
}

function refuseLostIdentity({ events, idBlocks }: LogTopics, ends: readonly number[]): void {
  if (ends.every((end) => end === 0)) return
  throw new BootRefusal(
    `Topic ${idBlocks} is empty, but ${events} holds events: ids would be given a second time. Restore ${idBlocks} from ` +
      `a backup, or set KAFKA_TOPIC to another name for a new log.`,
  )
}

async function firstRecord(reader: KafkaReader, topic: string): Promise<LogRecord> {
  for (let reads = 0; reads < readsMax; reads++) {
    const record = await reader.firstRecord(topic, readLimitMs)
    if (record) return record
    await delay(100) // acknowledged, but not yet given to readers
  }
  throw new Error(`the first record of ${topic} cannot be read`)
}

function checkIdentity({ value }: LogRecord, { events, partitions, idBlocks }: LogTopics): LogIdentity {
  const identity = parseIdentity(value)
  if (identity === undefined) {
    throw new BootRefusal(
      `The first record of topic ${idBlocks} is not the identity of a log: something else wrote to it. Restore it from ` +
        `a backup, or set KAFKA_TOPIC to another name for a new log.`,
    )
  }
  if (identity.partitions !== partitions) {
    throw new BootRefusal(
      `Topic ${events} has ${partitions} partitions, but was created with ${identity.partitions} (first record of ` +
        `${idBlocks}): keys would move between partitions. Restore it from a backup with ${identity.partitions} ` +
        `partitions, or set KAFKA_TOPIC to another name for a new log.`,
    )
  }
  return identity
}

function parseIdentity(value: Buffer | null): LogIdentity | undefined {
  try {
    const { epoch: logId, partitions } = JSON.parse(value?.toString('utf8') ?? '')
    if (typeof logId === 'string' && logId !== '' && Number.isInteger(partitions)) return { logId, partitions }
  } catch {
    // not JSON, or not an object
  }
  return undefined
}

const lookEveryMs = 1000
const lookLimitMs = 2000

/** Looks once a second whether the topics still hold the log that was opened: they can be deleted and made anew. */
export class IdentityWatch {
  readonly #reader: KafkaReader
  readonly #idBlocks: string
  readonly #logId: string
  readonly #replaced = Promise.withResolvers<void>()
  readonly #looking = new SingleFlight(() => this.#look())
  readonly #timer: NodeJS.Timeout
  #isReplaced = false

  constructor(reader: KafkaReader, idBlocks: string, logId: string) {
    this.#reader = reader
    this.#idBlocks = idBlocks
    this.#logId = logId
    this.#timer = setInterval(() => void this.#looking.request(), lookEveryMs).unref()
  }

  /** Resolves once another log was found. */
  get replaced(): Promise<void> {
    return this.#replaced.promise
  }

  /** Looks now. Throws ServiceError event_log_unavailable when it is another log, or cannot be told within the limit. */
  async confirm(limitMs: number): Promise<void> {
    this.failIfReplaced()
    try {
      if (!(await holdsIdentity(this.#reader, this.#idBlocks, this.#logId, limitMs))) this.markReplaced()
    } catch (error) {
      throw unavailable(error)
    }
    this.failIfReplaced()
  }

  markReplaced(): void {
    this.#isReplaced = true
    clearInterval(this.#timer)
    this.#replaced.resolve()
  }

  failIfReplaced(): void {
    if (this.#isReplaced) throw unavailable(new Error(`${this.#idBlocks} is not that of the log that was opened`))
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking.stop()
  }

  async #look(): Promise<void> {
    await this.confirm(lookLimitMs).catch(() => {}) // brokers that are away say nothing of the log
  }
}

function unavailable(cause: unknown): ServiceError {
  return new ServiceError('event_log_unavailable', 'The event log does not answer, or is another one.', { cause })
}
