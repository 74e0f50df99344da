import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Offset } from '../event-log.ts'
import { unavailable } from '../failures.ts'
import type { Events } from './boot-checks.ts'
import type { KafkaProducer } from './kafka-producer.ts'
import type { KafkaReader } from './kafka-reader.ts'
import { encodeBlockRecord, parseBlockRecord, parseIdentity } from './log-identity.ts'

export interface LogWatchOptions {
  readonly logId: string
  readonly events: Events
  readonly topic: string
  readonly idBlocks: string
  readonly reader: KafkaReader
  readonly idBlocksProducer: KafkaProducer
  readonly logger: Logger
}

/** A record that has to stay where it is. */
interface Own {
  readonly offset: Offset
  readonly isIt: (value: Buffer | null) => boolean
}

const lookEveryMs = 1000
const lookLimitMs = 2000
const noteLimitMs = 2000

/**
 * Looks once a second whether the topics still hold the log that was opened: they can be deleted and made anew, put back
 * from a backup, or lose their last records in a power cut. It is another log when its identity is another one, when the
 * last block that was reserved here is reserved no more, or when it held events and holds none.
 */
export class LogWatch {
  readonly #options: LogWatchOptions
  readonly #identity: Own
  readonly #replaced = Promise.withResolvers<void>()
  /** Resolves once another log was found. */
  readonly replaced = this.#replaced.promise
  readonly #ended = new AbortController()
  readonly #looking: Promise<void>
  /** What is lost is lost from the end: with the last block the ones before are there. */
  #lastBlock: Own | undefined
  #hasEvents: boolean
  #isNoted: boolean
  #isReplaced = false

  constructor(options: LogWatchOptions) {
    this.#options = options
    this.#hasEvents = options.events.found
    this.#isNoted = options.events.noted
    this.#identity = { offset: 0, isIt: (value) => parseIdentity(value)?.logId === options.logId }
    this.#looking = this.#lookAgainAndAgain()
  }

  /** Looks now. Throws ServiceError event_log_unavailable when it is another log, or cannot be told within the limit. */
  async confirm(limitMs: number): Promise<void> {
    this.failIfReplaced()
    try {
      await this.#look(performance.now() + limitMs)
    } catch (error) {
      throw unavailable(error)
    }
    this.failIfReplaced()
  }

  /**
   * Reserves a block of ids; its number is where the record of it is read back. Throws a ServiceError: whatever the error,
   * nothing may be drawn from the block, and another one may be reserved.
   */
  async reserveBlock(limitMs: number): Promise<number> {
    const { idBlocks } = this.#options
    const deadline = performance.now() + limitMs
    await this.confirm(limitMs)
    const token = randomUUID()
    const block = await this.#append('block', token, deadline - performance.now())
    if (block === 0) this.#markReplaced(`${idBlocks} was empty`) // after the look, and before the new log got its identity
    this.#lastBlock = { offset: block, isIt: (value) => parseBlockRecord(value)?.token === token }
    await this.confirm(deadline - performance.now())
    return block
  }

  /** The offset that the next event of each partition gets. Throws where that cannot be told, or the events are gone. */
  async ends(limitMs: number): Promise<Offset[]> {
    const { reader, topic } = this.#options
    const heldEvents = this.#hasEvents // before the log is asked: the first ones may be appended while it answers
    const ends = await reader.offsets(topic, 'next', limitMs)
    if (ends.some((end) => end > 0)) this.#hasEvents = true
    else if (heldEvents) this.#markReplaced(`${topic} held events, and is empty now`)
    this.failIfReplaced()
    return ends
  }

  failIfReplaced(): void {
    const { topic, idBlocks } = this.#options
    if (this.#isReplaced) throw unavailable(new Error(`${topic} and ${idBlocks} are not the log that was opened`))
  }

  async close(): Promise<void> {
    this.#ended.abort()
    await this.#looking
  }

  #markReplaced(reason: string): void {
    if (!this.#isReplaced)
      this.#options.logger.error({ reason }, 'Kafka: the topics do not hold the log that was opened')
    this.#isReplaced = true
    this.#ended.abort()
    this.#replaced.resolve()
  }

  async #lookAgainAndAgain(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      await delay(lookEveryMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) return
      await this.confirm(lookLimitMs).catch(() => {}) // brokers that are away say nothing of the log
      if (this.#hasEvents && !this.#isNoted && !signal.aborted) await this.#noteEvents()
    }
  }

  /** So that a start can tell a log whose events are gone from one that has none yet. */
  async #noteEvents(): Promise<void> {
    try {
      await this.#append('events', randomUUID(), noteLimitMs)
      this.#isNoted = true
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'Kafka: that there are events could not be noted; tried again')
    }
  }

  #append(key: string, token: string, limitMs: number): Promise<Offset> {
    const { logId, idBlocksProducer } = this.#options
    const value = encodeBlockRecord({ logId, token, hasEvents: this.#hasEvents })
    return idBlocksProducer.append(0, [{ key, value, headers: {} }], limitMs)
  }

  /** Throws where that cannot be told. */
  async #look(deadline: number): Promise<void> {
    const { reader, idBlocks } = this.#options
    const owned = this.#lastBlock === undefined ? [this.#identity] : [this.#identity, this.#lastBlock]
    // A new leader may hold back records for a moment, but then it does not tell where they end.
    const [end = 0] = await reader.offsets(idBlocks, 'next', deadline - performance.now())
    for (const { offset, isIt } of owned) {
      if (offset >= end) return this.#markReplaced(`${idBlocks} ends before offset ${offset}`)
      const found = await reader.record(idBlocks, offset, deadline - performance.now())
      if (found === undefined) throw new Error(`the record at offset ${offset} of ${idBlocks} cannot be read`)
      if (!isIt(found.value)) return this.#markReplaced(`${idBlocks} has another record at offset ${offset}`)
    }
    await this.ends(deadline - performance.now()).catch(() => {}) // partitions out of reach say nothing of the log
  }
}
