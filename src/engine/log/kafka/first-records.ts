import type { Offset } from '../event-log.ts'
import { recordIdentity } from '../record-identity.ts'
import { type KafkaReader, UndecodableError } from './kafka-reader.ts'

/** The record at offset 0 of a partition: what can never come again if the topic is made anew (decision 0027). */
export interface FirstRecord {
  readonly partition: number
  /** As `recordIdentity` makes it. */
  readonly identity: string
}

/** More than one, since the end of a log may be lost, and with it all of a partition that has little. */
const pinnedMax = 8

/** The first records of a topic of events, as they were found or noted. */
export class FirstRecords {
  readonly #reader: Pick<KafkaReader, 'record' | 'offsets'>
  readonly #topic: string
  #pinned: readonly FirstRecord[]
  /** Partitions whose first records are like none: looking again would be in vain, and can take much. */
  readonly #passedOver = new Set<number>()

  constructor(reader: Pick<KafkaReader, 'record' | 'offsets'>, topic: string, noted: readonly FirstRecord[]) {
    this.#reader = reader
    this.#topic = topic
    this.#pinned = noted
  }

  get pinned(): readonly FirstRecord[] {
    return this.#pinned
  }

  /** Adds those of partitions that have records by now. `deadline` by performance.now. */
  async pin(ends: readonly Offset[], deadline: number): Promise<void> {
    for (const [partition, end] of ends.entries()) {
      const isKnown = this.#passedOver.has(partition) || this.#pinned.some((each) => each.partition === partition)
      if (end === 0 || isKnown || this.#pinned.length >= pinnedMax) continue
      const found = await this.#find(partition, deadline)
      if (found?.identity !== undefined) this.#pinned = [...this.#pinned, { partition, identity: found.identity }]
      else if (found !== undefined) this.#passedOver.add(partition)
    }
  }

  /**
   * Whether the topic has none of them any more, so that it is another one. False where nothing was pinned, and where
   * one cannot be read for good: it is damaged, or Kafka has deleted the front of its partition. Throws if it cannot be
   * determined.
   */
  async areGone(deadline: number): Promise<boolean> {
    for (const { partition, identity } of this.#pinned) {
      const found = await this.#find(partition, deadline)
      if (found?.identity === identity) return false
      if (found?.identity !== undefined) continue
      const ends = await this.#reader.offsets(this.#topic, 'next', deadline - performance.now())
      if ((ends[partition] ?? 0) > 0) return false
    }
    return this.#pinned.length > 0
  }

  /** Without an identity if it cannot be decoded, or is empty, as what stands for a batch that is left out. */
  async #find(partition: number, deadline: number): Promise<{ readonly identity?: string } | undefined> {
    try {
      const found = await this.#reader.record(this.#topic, 0, deadline - performance.now(), partition)
      if (found === undefined) return undefined
      return found.key === null && found.value === null ? {} : { identity: recordIdentity(found) }
    } catch (error) {
      if (error instanceof UndecodableError) return {}
      throw error
    }
  }
}

/** Those in a record of the id blocks; none where it has none, as those of earlier releases. */
export function parseFirstRecords(value: unknown): readonly FirstRecord[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, pinnedMax).flatMap((each): FirstRecord[] => {
    const { partition, identity } = Object(each)
    return Number.isSafeInteger(partition) && typeof identity === 'string' ? [{ partition, identity }] : []
  })
}
