import kafkajs, { type Admin } from 'kafkajs'
import type { Offset } from '../event-log.ts'
import type { KafkaReader } from './kafka-reader.ts'
import type { LogPartOptions } from './log-part-options.ts'

// Node does not detect this name in the CommonJS module.
const { ConfigResourceTypes } = kafkajs

/** Which topics a log has, and their intended settings. */
export type TopicsWanted = Pick<LogPartOptions, 'brokers' | 'topic' | 'idBlocks' | 'partitions' | 'replicationFactor'>

/** The topics of a log as found. */
export interface FoundTopics {
  readonly replicasWanted: number
  readonly events: FoundTopic
  readonly idBlocks: FoundTopic
}

export interface FoundTopic {
  readonly name: string
  /** The broker addresses for the command lines in messages. */
  readonly servers: string
  readonly partitions: number
  /** The number of replicas of the partition that has the fewest. */
  readonly replicas: number
  readonly settings: ReadonlyMap<string, string>
  /** The offset of the first record of each partition. */
  readonly firsts: readonly Offset[]
}

/** Waiting for brokers may resolve it. The message says what to do otherwise. */
export class TooFewBrokers extends Error {
  override readonly name = 'TooFewBrokers'
}

/** Kept forever: the topic is the only source of truth, and any kind of cleaning would remove part of it. */
export const keptForEver = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' }
/** With three or more replicas: acknowledged records survive the loss of any one broker. */
export const inSyncWanted = { 'min.insync.replicas': '2' }
/** So that a crash of the machine loses no reserved block. */
export const flushedAtOnce = { 'flush.messages': '1' }

export const eventsSettings = {
  ...keptForEver,
  'compression.type': 'producer',
  // Otherwise Kafka refuses records whose own time is an hour ahead of its clock.
  'message.timestamp.type': 'LogAppendTime',
}
const idBlocksSettings = { ...eventsSettings, ...flushedAtOnce }
const replicasMax = 3
/** With fewer replicas, the loss of one broker would stop writes. */
export const replicasForInSync = 3
const readLimitMs = 3000

/** Several processes may call this at the same time. Throws TooFewBrokers if there are fewer than requested. */
export async function createTopics(admin: Admin, wanted: TopicsWanted, names: readonly string[]): Promise<void> {
  const missing = [
    { topic: wanted.topic, numPartitions: wanted.partitions, settings: eventsSettings },
    { topic: wanted.idBlocks, numPartitions: 1, settings: idBlocksSettings },
  ].filter(({ topic }) => names.includes(topic))
  if (missing.length === 0) return
  const { brokers } = await admin.describeCluster()
  const replicationFactor = replicasOf(wanted, brokers.length)
  if (replicationFactor > brokers.length) {
    throw new TooFewBrokers(
      `KAFKA_REPLICATION_FACTOR=${replicationFactor} needs as many brokers to create topics, and there ` +
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

/** The number of partitions and the settings of a topic, to create it by hand. */
export function madeByHand({ topic, idBlocks, partitions }: TopicsWanted, name: string | undefined): string {
  const settings = name === idBlocks ? idBlocksSettings : eventsSettings
  const count = name === topic ? partitions : 1
  return `${count} ${count === 1 ? 'partition' : 'partitions'} and ${assignments(settings)}`
}

/** In the syntax of the Kafka tools. */
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
    if (partitions === undefined || entries === undefined) throw new Error(`Kafka does not describe topic ${name}`)
    return {
      name,
      servers: wanted.brokers.join(','),
      partitions: partitions.length,
      replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
      settings: new Map(entries.map(({ configName, configValue }) => [configName, configValue])),
      firsts: await reader.offsets(name, 'first', readLimitMs),
    }
  }

  return {
    replicasWanted: replicasOf(wanted, brokers.length),
    events: await find(wanted.topic),
    idBlocks: await find(wanted.idBlocks),
  }
}

const settingsLookedAt = Object.keys({ ...keptForEver, ...inSyncWanted, ...flushedAtOnce })

function replicasOf({ replicationFactor }: TopicsWanted, brokers: number): number {
  return replicationFactor ?? Math.min(replicasMax, brokers)
}
