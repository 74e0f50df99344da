import type { Offset } from '../../event-log.ts'
import type { OwnedLane, PartitionTurn } from '../../published-log.ts'
import { cloudEventHeaders } from '../../record-codec.ts'
import type { KafkaReader } from '../kafka-reader.ts'
import {
  nothingStored,
  type PositionRecord,
  positionRecords,
  type ReadPositions,
  type StoredMemory,
} from './positions.ts'
import type { PublishingTopics } from './publishing-topics.ts'
import { sendTo, type Transactions } from './transactions.ts'

export interface KafkaLaneOptions {
  readonly topics: PublishingTopics
  readonly logId: string
  readonly reader: KafkaReader
  readonly transactions: Transactions
  /** Its partition of the positions. */
  readonly position: number
  readonly read: ReadPositions
}

const checkLimitMs = 2500

/** A lane that this process has taken over. */
export class KafkaLane implements OwnedLane {
  readonly memory: ReadonlyMap<number, StoredMemory>
  readonly #options: KafkaLaneOptions
  /** What is stored of the partitions, but for what turns say. */
  readonly #stored: Map<number, StoredMemory>
  #positionsEnd: Offset

  constructor(options: KafkaLaneOptions) {
    this.#options = options
    this.memory = options.read.memory
    this.#positionsEnd = options.read.end
    this.#stored = new Map(this.memory)
  }

  async commit(turns: readonly PartitionTurn[]): Promise<void> {
    const { topics, logId, transactions, position } = this.#options
    const transaction = await transactions.begin()
    const changed = new Map<number, StoredMemory>()
    const positions: PositionRecord[] = []
    for (const turn of turns) {
      const { partition, records } = turn
      const stored = this.#stored.get(partition) ?? nothingStored(logId)
      const messages = records.map(({ key, value }) => ({ key, value, headers: cloudEventHeaders }))
      const end = stored.ends[topics.published] ?? 0
      const base =
        messages.length === 0 ? undefined : await sendTo(transaction, { topic: topics.published, partition, messages })
      if (base !== undefined && base < end) throw lost(topics.published, partition, base, end)
      const ends = base === undefined ? stored.ends : { ...stored.ends, [topics.published]: base + messages.length }
      changed.set(partition, { ...stored, ends, stale: undefined })
      positions.push(...positionRecords(turn, { ...stored, ends }))
    }
    const base = await sendTo(transaction, { topic: topics.positions, partition: position, messages: positions })
    if (base < this.#positionsEnd) throw lost(topics.positions, position, base, this.#positionsEnd)
    await transaction.commit()
    this.#positionsEnd = base + positions.length
    for (const [partition, stored] of changed) this.#stored.set(partition, stored)
  }

  async check(): Promise<void> {
    const { topics, reader, position } = this.#options
    const published = await reader.offsets(topics.published, 'next', checkLimitMs)
    for (const [partition, { ends }] of this.#stored) {
      const [found = 0, end = 0] = [published[partition], ends[topics.published]]
      if (found < end) throw lost(topics.published, partition, found, end)
    }
    const { [position]: end = 0 } = await reader.offsets(topics.positions, 'next', checkLimitMs)
    if (end < this.#positionsEnd) throw lost(topics.positions, position, end, this.#positionsEnd)
  }

  close(): void {
    this.#options.transactions.close()
  }
}

/** The topic was made anew, or has lost its end: whoever takes the lane over finds out which. */
function lost(topic: string, partition: number, found: Offset, end: Offset): Error {
  return new Error(`partition ${partition} of topic ${topic} ends at offset ${found}, and was written up to ${end}`)
}
