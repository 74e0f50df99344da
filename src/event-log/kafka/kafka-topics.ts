import kafkajs, { type Admin } from 'kafkajs'
import type { Offset } from '../event-log.ts'
import type { KafkaReader } from './kafka-reader.ts'

// Not among the names that Node finds in this CommonJS module.
const { ConfigResourceTypes } = kafkajs

/** Which topics a log has, and how they are wanted. */
export interface TopicsWanted {
  readonly brokers: readonly string[]
  readonly topic: string
  readonly idBlocks: string
  readonly partitions: number
  /** How many brokers have each record; undefined: three, or as many as there are. */
  readonly replicationFactor?: number | undefined
}

/** The topics of a log as they were found. */
export interface FoundTopics {
  /** How the tools of Kafka are told where it is. */
  readonly servers: string
  readonly replicasWanted: number
  readonly events: FoundTopic
  readonly idBlocks: FoundTopic
}

export interface FoundTopic {
  readonly name: string
  readonly partitions: number
  /** Of the partition that has the fewest. */
  readonly replicas: number
  readonly settings: ReadonlyMap<string, string>
  /** The offset of the first record of each partition. */
  readonly firsts: readonly Offset[]
}

/** Waiting for brokers may heal it. The message says what to do otherwise. */
export class TooFewBrokers extends Error {
  override readonly name = 'TooFewBrokers'
}

/** Kept for ever: the topic is the only truth, and cleaning of any kind would forget some of it. */
export const keptForEver = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' }
/** With three replicas or more: so that what was acknowledged outlives any one broker. */
export const inSyncWanted = { 'min.insync.replicas': '2' }
/** So that a crash of the machine takes back no block that was reserved. */
export const flushedAtOnce = { 'flush.messages': '1' }

const eventsSettings = {
  ...keptForEver,
  'compression.type': 'producer',
  // Kafka refuses records whose own time is an hour ahead of it.
  'message.timestamp.type': 'LogAppendTime',
}
const idBlocksSettings = { ...eventsSettings, ...flushedAtOnce }
const replicasMax = 3
/** Fewer brokers could not do without one of them. */
export const replicasForInSync = 3
const readLimitMs = 3000

/** Several processes may do so at once. Throws TooFewBrokers where there are fewer than were asked for. */
export async function createMissingTopics(admin: Admin, wanted: TopicsWanted): Promise<void> {
  const existing = await admin.listTopics()
  const missing = [
    { topic: wanted.topic, numPartitions: wanted.partitions, settings: eventsSettings },
    { topic: wanted.idBlocks, numPartitions: 1, settings: idBlocksSettings },
  ].filter((each) => !existing.includes(each.topic))
  if (missing.length === 0) return
  const { brokers } = await admin.describeCluster()
  const replicationFactor = replicasOf(wanted, brokers.length)
  if (replicationFactor > brokers.length) {
    throw new TooFewBrokers(
      `KAFKA_REPLICATION_FACTOR=${replicationFactor} needs as many brokers to make topics, and there ` +
        `${brokers.length === 1 ? 'is' : 'are'} ${brokers.length}. Start the others, or set it to a lower number`,
    )
  }
  const replication = replicationFactor >= replicasForInSync ? inSyncWanted : {}
  const topics = missing.map(({ settings, ...topic }) => {
    const configEntries = Object.entries({ ...settings, ...replication }).map(([name, value]) => ({ name, value }))
    return { ...topic, replicationFactor, configEntries }
  })
  await admin.createTopics({ topics })
}

/** What to make by hand where this service may not. */
export function madeByHand({ topic, idBlocks, partitions }: TopicsWanted, name: string | undefined): string {
  const settings = name === idBlocks ? idBlocksSettings : eventsSettings
  const count = name === topic ? partitions : 1
  return `${count} ${count === 1 ? 'partition' : 'partitions'} and ${assignments(settings)}`
}

/** As the tools of Kafka take them. */
export function assignments(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
}

export async function findTopics(admin: Admin, reader: KafkaReader, wanted: TopicsWanted): Promise<FoundTopics> {
  const names = [wanted.topic, wanted.idBlocks]
  const { brokers } = await admin.describeCluster()
  const { topics } = await admin.fetchTopicMetadata({ topics: names })
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: names.map((name) => ({ type: ConfigResourceTypes.TOPIC, name, configNames: settingsLookedAt })),
  })

  async function find(name: string): Promise<FoundTopic> {
    const partitions = topics.find((each) => each.name === name)?.partitions
    const entries = resources.find((each) => each.resourceName === name)?.configEntries
    if (partitions === undefined || entries === undefined) throw new Error(`Kafka says nothing of topic ${name}`)
    return {
      name,
      partitions: partitions.length,
      replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
      settings: new Map(entries.map(({ configName, configValue }) => [configName, configValue])),
      firsts: await reader.offsets(name, 'first', readLimitMs),
    }
  }

  return {
    servers: wanted.brokers.join(','),
    replicasWanted: replicasOf(wanted, brokers.length),
    events: await find(wanted.topic),
    idBlocks: await find(wanted.idBlocks),
  }
}

const settingsLookedAt = Object.keys({ ...keptForEver, ...inSyncWanted, ...flushedAtOnce })

function replicasOf({ replicationFactor }: TopicsWanted, brokers: number): number {
  return replicationFactor ?? Math.min(replicasMax, brokers)
}
