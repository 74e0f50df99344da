import { messageOf, OutOfReachError } from '../../../lib/errors/errors.ts'
import type { Warning } from '../../../lib/operating/warning.ts'
import {
  type LaneMembership,
  type OwnedLane,
  type PublishedLog,
  type PublishedLook,
  type PublisherName,
  StandsStill,
} from '../../published-log.ts'
import { ownersIn } from '../group-members.ts'
import type { KafkaAccess } from '../kafka-access.ts'
import { asAdmin } from '../kafka-boot.ts'
import { KafkaClient } from '../kafka-client.ts'
import { KafkaReader } from '../kafka-reader.ts'
import { checkEach } from './checked-memory.ts'
import { KafkaLane } from './kafka-lane.ts'
import { LaneGroup } from './lane-group.ts'
import { lookAtLane } from './look.ts'
import { readPositions } from './positions.ts'
import {
  groupOf,
  lookAtTopics,
  type PreparedTopics,
  type PublisherOf,
  positionOf,
  positionsOf,
  prepareTopics,
  publishers,
  toldTopics,
  transactionalIdOf,
} from './publishing-topics.ts'
import { askForRights, asRefusal } from './rights.ts'
import { Transactions } from './transactions.ts'

export interface KafkaPublishedLogOptions extends KafkaAccess, PublisherOf {
  readonly logId: string
}

const prepareLimitMs = 8000
const ownersLimitMs = 2000

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
    const prepare = asAdmin(this.#newClient(), prepareLimitMs, (admin) =>
      prepareTopics(admin, this.#options, this.#options.brokers.join(',')),
    )
    const { lanes, warnings } = await prepare.catch(asRefusal(this.#options))
    this.#warnings = warnings
    await askForRights(this.#reader, this.#options)
    return lanes
  }

  join(lanes: number, assigned: (lanes: readonly number[]) => void): LaneMembership {
    const { topic, logger } = this.#options
    const first = positionOf(this.#options, 0, lanes)
    const options = {
      newClient: () => this.#newClient(),
      topic: positionsOf(topic),
      partitions: publishers.length * lanes,
      logger,
      group: groupOf(this.#options),
    }
    const toLanes = (partitions: readonly number[]) =>
      assigned(partitions.map((each) => each - first).filter((lane) => lane >= 0 && lane < lanes))
    return new LaneGroup(options, toLanes, () => askForRights(this.#reader, this.#options))
  }

  async takeOver(lane: number, lanes: number): Promise<OwnedLane> {
    const { topic } = this.#options
    const found = await this.prepare()
    if (found !== lanes)
      throw new StandsStill(
        `Topic ${positionsOf(topic)} has another number of partitions than before: restart the service.`,
      )
    const id = transactionalIdOf(this.#options, lane)
    const transactions = await Transactions.open(() => this.#newClient(), id).catch(asRefusal(this.#options))
    try {
      return await this.#readBack(lane, lanes, transactions)
    } catch (error) {
      transactions.close()
      return asRefusal(this.#options)(error)
    }
  }

  async inspect(): Promise<PublishedLook> {
    const topics = toldTopics(this.#options)
    const nothing = { topics, missing: [], failure: undefined, lanes: [], warnings: [] }
    try {
      const [found, owners] = await asAdmin(this.#newClient(), prepareLimitMs, async (admin) => {
        const looked = await lookAtTopics(admin, this.#options, this.#options.brokers.join(','))
        return [looked, 'missing' in looked ? undefined : await this.#owners()] as const
      })
      if ('missing' in found) return { ...nothing, missing: found.missing }
      return { ...nothing, ...found, lanes: await this.#lookAtLanes(found, owners) }
    } catch (error) {
      if (error instanceof StandsStill) return { ...nothing, failure: error.message }
      throw new OutOfReachError(`Kafka does not tell what is published in ${topics.join(', ')}: ${messageOf(error)}.`, {
        cause: error,
      })
    }
  }

  close(): void {
    this.#reader.close()
  }

  async #lookAtLanes({ lanes }: PreparedTopics, owners: ReadonlyMap<number, string> | undefined) {
    const looks = Array.from({ length: lanes }, async (_, lane) => {
      const position = positionOf(this.#options, lane, lanes)
      const looked = await lookAtLane({ ...this.#options, reader: this.#reader, lane, lanes, position })
      return { ...looked, owner: owners && (owners.get(position) ?? null) }
    })
    return await Promise.all(looks)
  }

  /** Undefined where Kafka does not tell. */
  async #owners(): Promise<ReadonlyMap<number, string> | undefined> {
    const { topic } = this.#options
    return await asAdmin(this.#newClient(), ownersLimitMs, (admin) =>
      ownersIn(admin, groupOf(this.#options), positionsOf(topic)),
    ).catch(() => undefined)
  }

  async #readBack(lane: number, lanes: number, transactions: Transactions): Promise<OwnedLane> {
    const position = positionOf(this.#options, lane, lanes)
    const read = await readPositions(this.#reader, positionsOf(this.#options.topic), position)
    const by = { ...this.#options, reader: this.#reader }
    const checked = await checkEach(by, { lane, lanes }, async (partition, check) => {
      return [partition, await check(read.memory.get(partition))] as const
    })
    return new KafkaLane({ ...by, transactions, position, read: { ...read, memory: new Map(checked) } })
  }

  #newClient(): KafkaClient {
    return new KafkaClient(this.#options)
  }
}
