import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { timeOfDay } from '../../lib/clock.ts'
import { unavailable } from '../failures.ts'
import type { KafkaProducer } from './kafka-producer.ts'
import type { KafkaReader } from './kafka-reader.ts'

/** What makes this log this one: the first record of the id-blocks topic, as JSON in which the log id is named `epoch`. */
export interface LogIdentity {
  readonly logId: string
  readonly partitions: number
}

const readLimitMs = 3000
const appendLimitMs = 5000
const readsMax = 20
const lookEveryMs = 1000
const lookLimitMs = 2000

/** Gives a log its identity. Of several processes that do so at once, the first one to write decides for all. */
export async function writeIdentity(idBlocksProducer: KafkaProducer, partitions: number): Promise<void> {
  const value = JSON.stringify({ epoch: randomUUID(), partitions, createdAt: timeOfDay().toISOString() })
  await idBlocksProducer.append(0, [{ key: 'identity', value, headers: {} }], appendLimitMs)
}

/** The identity that the log has; undefined where something else stands in its place. */
export async function readIdentity(reader: KafkaReader, idBlocks: string): Promise<LogIdentity | undefined> {
  for (let reads = 0; reads < readsMax; reads++) {
    const record = await reader.firstRecord(idBlocks, readLimitMs)
    if (record) return parseIdentity(record.value)
    await delay(100) // acknowledged, but not yet given to readers
  }
  throw new Error(`the first record of ${idBlocks} cannot be read`)
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

/** Looks once a second whether the topics still hold the log that was opened: they can be deleted and made anew. */
export class IdentityWatch {
  readonly #reader: KafkaReader
  readonly #idBlocks: string
  readonly #logId: string
  readonly #replaced = Promise.withResolvers<void>()
  /** Resolves once another log was found. */
  readonly replaced = this.#replaced.promise
  readonly #ended = new AbortController()
  readonly #looking: Promise<void>
  #isReplaced = false

  constructor(reader: KafkaReader, idBlocks: string, logId: string) {
    this.#reader = reader
    this.#idBlocks = idBlocks
    this.#logId = logId
    this.#looking = this.#look()
  }

  /** Looks now. Throws ServiceError event_log_unavailable when it is another log, or cannot be told within the limit. */
  async confirm(limitMs: number): Promise<void> {
    this.failIfReplaced()
    try {
      if (!(await this.#isThere(limitMs))) this.markReplaced()
    } catch (error) {
      throw unavailable(error)
    }
    this.failIfReplaced()
  }

  markReplaced(): void {
    this.#isReplaced = true
    this.#ended.abort()
    this.#replaced.resolve()
  }

  failIfReplaced(): void {
    if (this.#isReplaced) throw unavailable(new Error(`${this.#idBlocks} is not that of the log that was opened`))
  }

  async close(): Promise<void> {
    this.#ended.abort()
    await this.#looking
  }

  async #look(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      await delay(lookEveryMs, undefined, { signal, ref: false }).catch(() => {})
      if (!signal.aborted) await this.confirm(lookLimitMs).catch(() => {}) // brokers that are away say nothing of the log
    }
  }

  /** Throws where that cannot be told. */
  async #isThere(limitMs: number): Promise<boolean> {
    const first = await this.#reader.firstRecord(this.#idBlocks, limitMs / 2)
    if (first !== undefined) return parseIdentity(first.value)?.logId === this.#logId
    // A new leader may hold back records for a moment, but then it does not tell where they end.
    const [end] = await this.#reader.offsets(this.#idBlocks, 'next', limitMs / 2)
    if (end === 0) return false
    throw new Error(`the first record of ${this.#idBlocks} cannot be read`)
  }
}
