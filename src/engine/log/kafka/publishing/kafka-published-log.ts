import type { Warning } from '../../../lib/operating/warning.ts'
import { type LaneMembership, type OwnedLane, type PublishedLog, StandsStill } from '../../published-log.ts'
import { asAdmin } from '../kafka-boot.ts'
import { type KafkaAccess, KafkaClient } from '../kafka-client.ts'
import { KafkaReader } from '../kafka-reader.ts'
import { KafkaLane } from './kafka-lane.ts'
import { LaneGroup } from './lane-group.ts'
import { nothingStored, type ReadPositions, readPositions, type StoredMemory } from './positions.ts'
import { type PublisherName, prepareTopics, publishers, publishingTopics } from './publishing-topics.ts'
import { asRefusal } from './rights.ts'
import { findTargets, stateOf } from './targets.ts'
import { Transactions } from './transactions.ts'

export interface KafkaPublishedLogOptions extends KafkaAccess {
  /** The topic of the journal. */
  readonly topic: string
  readonly logId: string
  readonly publisher: PublisherName
}

const prepareLimitMs = 8000
const targetsAtOnce = 8

/** The topics of one publisher on Kafka. */
export class KafkaPublishedLog implements PublishedLog {
  readonly publisher: PublisherName
  readonly #options: KafkaPublishedLogOptions
  readonly #reader: KafkaReader
  #warnings: readonly Warning[] = []

  constructor(options: KafkaPublishedLogOptions) {
    this.#options = options
    this.publisher = options.publisher
    this.#reader = new KafkaReader(() => this.#newClient())
  }

  get warnings(): readonly Warning[] {
    return this.#warnings
  }

  async prepare(): Promise<number> {
    const { topic, brokers } = this.#options
    const prepare = asAdmin(this.#newClient(), prepareLimitMs, (admin) =>
      prepareTopics(admin, topic, brokers.join(',')),
    )
    const { lanes, warnings } = await prepare.catch(asRefusal(this.#options))
    this.#warnings = warnings
    return lanes
  }

  join(lanes: number, assigned: (lanes: readonly number[]) => void): LaneMembership {
    const { topic, logger } = this.#options
    const first = publishers.indexOf(this.publisher) * lanes
    const group = `${topic}.projector.publish-${this.publisher}`
    const { positions } = publishingTopics(topic)
    const options = {
      newClient: () => this.#newClient(),
      topic: positions,
      partitions: publishers.length * lanes,
      logger,
      group,
    }
    return new LaneGroup(options, (partitions) =>
      assigned(partitions.map((each) => each - first).filter((lane) => lane >= 0 && lane < lanes)),
    )
  }

  async takeOver(lane: number, lanes: number): Promise<OwnedLane> {
    const { topic } = this.#options
    const found = await this.prepare()
    if (found !== lanes)
      throw new StandsStill(
        `Topic ${publishingTopics(topic).positions} has another number of partitions than before: restart the service.`,
      )
    const transactionalId = `${topic}.${this.publisher}-${lane}`
    const transactions = await Transactions.open(() => this.#newClient(), transactionalId).catch(
      asRefusal(this.#options),
    )
    try {
      return await this.#readBack(lane, lanes, transactions)
    } catch (error) {
      transactions.close()
      return asRefusal(this.#options)(error)
    }
  }

  close(): void {
    this.#reader.close()
  }

  async #readBack(lane: number, lanes: number, transactions: Transactions): Promise<OwnedLane> {
    const { topic, logId } = this.#options
    const topics = publishingTopics(topic)
    const position = publishers.indexOf(this.publisher) * lanes + lane
    const read = await readPositions(this.#reader, topics.positions, position)
    const memory = await this.#checked(read, topics.published, (partition) => partition % lanes === lane)
    return new KafkaLane({ topics, logId, reader: this.#reader, transactions, position, read: { ...read, memory } })
  }

  /** The memory of the partitions that are as they were left; the others are told from the beginning. */
  async #checked(
    { memory }: ReadPositions,
    published: string,
    isOwn: (partition: number) => boolean,
  ): Promise<ReadonlyMap<number, StoredMemory>> {
    const { logId, topic } = this.#options
    const targets = (await findTargets(this.#reader, published)).filter(({ partition }) => isOwn(partition))
    const ends = await this.#reader.offsets(topic, 'next', prepareLimitMs)
    const checked = new Map<number, StoredMemory>()
    for (let at = 0; at < targets.length; at += targetsAtOnce) {
      await Promise.all(
        targets.slice(at, at + targetsAtOnce).map(async (target) => {
          const { partition } = target
          const stored = memory.get(partition)
          if (stored !== undefined && stored.logId !== logId) throw ofAnotherLog(topic)
          const state = await stateOf(this.#reader, target, stored && (stored.ends[published] ?? 0))
          if (state === 'new' || stored === undefined) checked.set(partition, begunAnew(stored, logId))
          else if (stored.next > (ends[partition] ?? 0))
            throw beyondLog(topic, partition, stored.next, ends[partition] ?? 0)
          else checked.set(partition, stored)
        }),
      )
    }
    return checked
  }

  #newClient(): KafkaClient {
    return new KafkaClient(this.#options)
  }
}

/** What waited before is forgotten with the first transaction: it would be told twice. */
function begunAnew(stored: StoredMemory | undefined, logId: string): StoredMemory {
  return { ...nothingStored(logId), stale: [...(stored?.waiting.keys() ?? [])] }
}

function ofAnotherLog(topic: string): StandsStill {
  const { published, positions } = publishingTopics(topic)
  return new StandsStill(
    `Topic ${positions} is of another event log than ${topic}. Delete ${published} and ${positions}: both come back.`,
  )
}

function beyondLog(topic: string, partition: number, next: number, end: number): StandsStill {
  return new StandsStill(
    `Partition ${partition} of topic ${topic} ends at offset ${end}, and was published up to ${next}: it has lost its end. ` +
      `What consumers saw cannot be unsaid. Decide what they keep, and delete ${publishingTopics(topic).published}: it comes back as the log is now.`,
  )
}
