import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Offset } from '../event-log.ts'
import { unavailable } from '../failures.ts'
import type { EventsAtStart } from './boot-checks.ts'
import { FirstRecords } from './first-records.ts'
import { encodeBlockRecord, parseBlockRecord, parseIdentity } from './log-identity.ts'
import type { LogPartOptions } from './log-part-options.ts'

export interface LogWatchOptions
  extends Pick<LogPartOptions, 'topic' | 'partitions' | 'idBlocks' | 'reader' | 'idBlocksProducer' | 'logger'> {
  readonly logId: string
  readonly events: EventsAtStart
}

/** A record that must not change. */
interface PinnedRecord {
  readonly offset: Offset
  readonly matches: (value: Buffer | null) => boolean
}

const lookEveryMs = 1000
const lookLimitMs = 2000
const noteLimitMs = 2000

/**
 * Checks once a second whether the topics still hold the log that was opened. They can be deleted and created anew,
 * restored from a backup, or lose their last records in a power failure. The log has been replaced if its identity
 * differs, if the last block reserved here is no longer reserved, or if the events are gone: there are none any more, or
 * none of the first ones.
 */
export class LogWatch {
  readonly #options: LogWatchOptions
  readonly #identity: PinnedRecord
  readonly #replaced = Promise.withResolvers<void>()
  /** Resolves once the log has been replaced. */
  readonly replaced = this.#replaced.promise
  readonly #ended = new AbortController()
  readonly #looking: Promise<void>
  /** Records are lost from the end: if the last block is still there, the earlier ones are too. */
  #lastBlock: PinnedRecord | undefined
  readonly #firstRecords: FirstRecords
  #ends: readonly Offset[] = []
  #hasEvents: boolean
  #isNoted: boolean
  #firstRecordsNoted: number
  #isReplaced = false

  constructor(options: LogWatchOptions) {
    this.#options = options
    this.#hasEvents = options.events.found
    this.#isNoted = options.events.noted
    this.#firstRecords = new FirstRecords(options.reader, options.topic, options.events.firstRecords)
    this.#firstRecordsNoted = options.events.firstRecords.length
    this.#identity = { offset: 0, matches: (value) => parseIdentity(value)?.logId === options.logId }
    this.#looking = this.#lookAgainAndAgain()
  }

  /**
   * Checks now. Throws ServiceError event_log_unavailable if the log was replaced, or if that cannot be determined in
   * time.
   */
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
   * Reserves a block of ids. Its number is the offset at which its record is read back. Throws a ServiceError: whatever
   * the error, no id may be drawn from the block, and another block may be reserved.
   */
  async reserveBlock(limitMs: number): Promise<number> {
    const { idBlocks } = this.#options
    const deadline = performance.now() + limitMs
    await this.confirm(limitMs)
    const token = randomUUID()
    const block = await this.#append('block', token, deadline - performance.now())
    if (block === 0) this.#markReplaced(`${idBlocks} was empty`) // replaced after the check, before the new log got its identity
    this.#lastBlock = { offset: block, matches: (value) => parseBlockRecord(value)?.token === token }
    await this.confirm(deadline - performance.now())
    return block
  }

  /**
   * The offset that the next event of each partition will get. Throws if that cannot be determined, or if the events
   * are gone.
   */
  async endOffsets(limitMs: number): Promise<Offset[]> {
    const { reader, topic, partitions } = this.#options
    const heldEvents = this.#hasEvents // read first: the first events may be appended while the log answers
    const ends = (await reader.offsets(topic, 'next', limitMs)).slice(0, partitions) // added ones are not of the log
    if (ends.some((end) => end > 0)) this.#hasEvents = true
    else if (heldEvents) this.#markReplaced(`${topic} held events, and is empty now`)
    this.failIfReplaced()
    return ends
  }

  /** Throws if it cannot be determined whether the events are those of this log, or if they are not. */
  async confirmEvents(limitMs: number): Promise<void> {
    const deadline = performance.now() + limitMs
    this.#ends = await this.endOffsets(limitMs)
    if (await this.#firstRecords.areGone(deadline)) {
      this.#markReplaced(`${this.#options.topic} has none of its first events`)
    }
    this.failIfReplaced()
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
      await this.confirm(lookLimitMs).catch(() => {}) // unavailable brokers prove nothing about the log
      if (!signal.aborted) await this.#pinFirstRecords()
      const isNoted = this.#isNoted && this.#firstRecords.pinned.length === this.#firstRecordsNoted
      if (this.#hasEvents && !isNoted && !signal.aborted) await this.#noteEvents()
    }
  }

  /** So that a start can distinguish a log whose events are gone from one that has none yet. */
  async #noteEvents(): Promise<void> {
    const { length } = this.#firstRecords.pinned
    try {
      await this.#append('events', randomUUID(), noteLimitMs)
      this.#isNoted = true
      this.#firstRecordsNoted = length
    } catch (error) {
      this.#options.logger.debug(
        { err: error },
        'Kafka: the note that the log has events could not be written, trying again',
      )
    }
  }

  #append(key: string, token: string, limitMs: number): Promise<Offset> {
    const { logId, idBlocksProducer } = this.#options
    const firstRecords = this.#firstRecords.pinned
    const value = encodeBlockRecord({ logId, token, hasEvents: this.#hasEvents, firstRecords })
    return idBlocksProducer.append(0, [{ key, value, headers: {} }], limitMs)
  }

  /** Throws if that cannot be determined. */
  async #look(deadline: number): Promise<void> {
    const { reader, idBlocks } = this.#options
    const pinned = this.#lastBlock === undefined ? [this.#identity] : [this.#identity, this.#lastBlock]
    // A new leader may hold back records for a moment, but then it does not report an end offset either.
    const [end = 0] = await reader.offsets(idBlocks, 'next', deadline - performance.now())
    for (const { offset, matches } of pinned) {
      if (offset >= end) return this.#markReplaced(`${idBlocks} ends before offset ${offset}`)
      const found = await reader.record(idBlocks, offset, deadline - performance.now())
      if (found === undefined) throw new Error(`the record at offset ${offset} of ${idBlocks} cannot be read`)
      if (!matches(found.value)) return this.#markReplaced(`${idBlocks} has another record at offset ${offset}`)
    }
    await this.confirmEvents(deadline - performance.now()).catch(() => {}) // unreachable partitions prove nothing about the log
  }

  /** A record that takes long to decode delays nothing but the note. */
  async #pinFirstRecords(): Promise<void> {
    try {
      await this.#firstRecords.pin(this.#ends, performance.now() + lookLimitMs)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'Kafka: the first events could not be read, trying again')
    }
  }
}
