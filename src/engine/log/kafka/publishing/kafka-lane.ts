import type { Offset } from '../../event-log.ts'
import type { OwnedLane, PartitionTurn, ToldRecord } from '../../published-log.ts'
import type { KafkaReader } from '../kafka-reader.ts'
import {
  nothingStored,
  type PositionRecord,
  positionRecords,
  type ReadPositions,
  type StoredMemory,
} from './positions.ts'
import { type PublisherOf, positionsOf, targetOf, toldTopics } from './publishing-topics.ts'
import { sendTo, type Transaction, type Transactions } from './transactions.ts'

export interface KafkaLaneOptions extends PublisherOf {
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
    const { logId, transactions, position } = this.#options
    const transaction = await transactions.begin()
    const changed = new Map<number, StoredMemory>()
    const positions: PositionRecord[] = []
    for (const turn of turns) {
      const stored = this.#stored.get(turn.partition) ?? nothingStored(logId)
      const ends = { ...stored.ends, ...(await this.#tell(transaction, turn, stored.ends)) }
      changed.set(turn.partition, { ...stored, ends, stale: undefined })
      positions.push(...positionRecords(turn, { ...stored, ends }))
    }
    const to = { topic: positionsOf(this.#options.topic), partition: position }
    const { base, end } = await sendTo(transaction, { ...to, messages: positions })
    if (base < this.#positionsEnd) throw lost(to.topic, position, base, this.#positionsEnd)
    await transaction.commit()
    this.#positionsEnd = end
    for (const [partition, stored] of changed) this.#stored.set(partition, stored)
  }

  async check(): Promise<void> {
    const { topic, reader, position } = this.#options
    for (const told of toldTopics(this.#options)) {
      const found = await reader.offsets(told, 'next', checkLimitMs)
      for (const [partition, { ends }] of this.#stored) {
        const [at = 0, end = 0] = [found[partition], ends[told]]
        if (at < end) throw lost(told, partition, at, end)
      }
    }
    const positions = positionsOf(topic)
    const { [position]: end = 0 } = await reader.offsets(positions, 'next', checkLimitMs)
    if (end < this.#positionsEnd) throw lost(positions, position, end, this.#positionsEnd)
  }

  /** The ends of the topics that got records. */
  async #tell(
    transaction: Transaction,
    { partition, records }: PartitionTurn,
    before: StoredMemory['ends'],
  ): Promise<StoredMemory['ends']> {
    const ends: Record<string, Offset> = {}
    for (const [target, messages] of Map.groupBy(records, (record: ToldRecord) => record.target)) {
      const topic = targetOf(this.#options.topic, target)
      const { base, end } = await sendTo(transaction, { topic, partition, messages })
      const expected = before[topic] ?? 0
      if (base < expected) throw lost(topic, partition, base, expected)
      ends[topic] = end
    }
    return ends
  }

  close(): void {
    this.#options.transactions.close()
  }
}

/** The topic was made anew, or has lost its end: whoever takes the lane over finds out which. */
function lost(topic: string, partition: number, found: Offset, end: Offset): Error {
  return new Error(`partition ${partition} of topic ${topic} ends at offset ${found}, and was written up to ${end}`)
}
