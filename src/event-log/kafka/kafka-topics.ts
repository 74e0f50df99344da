import kafkajs, { type Admin } from 'kafkajs'
import type { Offset } from '../event-log.ts'
import type { KafkaReader } from './kafka-reader.ts'

// Not among the names that Node finds in this CommonJS module.
const { ConfigResourceTypes, KafkaJSAggregateError, KafkaJSProtocolError } = kafkajs

/** Why the log may not be used as it is: waiting would not change it. The message says what to do. */
export class BootRefusal extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BootRefusal'
  }
}

/** What makes up the log on Kafka. */
export interface LogTopics {
  readonly events: string
  readonly partitions: number
  /** One partition: the identity of the log at offset 0, then a record for each block claimed. */
  readonly idBlocks: string
  /** For the commands in messages. */
  readonly brokers: readonly string[]
}

/** Kept for ever: the topic is the only truth, and cleaning of any kind would forget some of it. */
const keptForEver = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' }
const finalFailures = [
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'POLICY_VIOLATION',
  'INVALID_TOPIC_EXCEPTION',
  'INVALID_CONFIG',
]
const replicasWanted = 3
const readLimitMs = 3000

/** Creates the topics that are missing. Several processes may do so at once. */
export async function createMissingTopics(admin: Admin, topics: LogTopics): Promise<void> {
  const existing = await admin.listTopics()
  const wanted = [
    { topic: topics.events, numPartitions: topics.partitions },
    { topic: topics.idBlocks, numPartitions: 1 },
  ].filter(({ topic }) => !existing.includes(topic))
  if (wanted.length === 0) return
  const { brokers } = await admin.describeCluster()
  const replicationFactor = Math.min(replicasWanted, brokers.length)
  const config = { ...keptForEver, ...(replicationFactor === replicasWanted ? { 'min.insync.replicas': '2' } : {}) }
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
  try {
    await admin.createTopics({ topics: wanted.map((topic) => ({ ...topic, replicationFactor, configEntries })) })
  } catch (error) {
    throw creationFailure(error)
  }
}

function creationFailure(error: unknown): unknown {
  if (!(error instanceof KafkaJSAggregateError)) return error
  const final = error.errors
    .filter((each) => each instanceof KafkaJSProtocolError)
    .find(({ type }) => finalFailures.includes(type))
  if (final === undefined) return error // another process made one of them just now, or brokers are still coming up
  const { topic } = final as { topic?: string }
  return new BootRefusal(
    `Kafka does not let topic ${topic} be created: ${final.message}. Let this user create topics, or create it by hand ` +
      'with cleanup.policy=delete, retention.ms=-1 and retention.bytes=-1; KAFKA_TOPIC names it.',
    { cause: error },
  )
}

/** Throws BootRefusal unless both topics keep everything and have lost nothing so far. */
export async function checkTopics(admin: Admin, reader: KafkaReader, topics: LogTopics): Promise<void> {
  await checkKeptForEver(admin, topics)
  const firsts = await reader.offsets(topics.events, 'first', readLimitMs)
  const idBlockFirsts = await reader.offsets(topics.idBlocks, 'first', readLimitMs)
  checkPartitionCounts(topics, { events: firsts.length, idBlocks: idBlockFirsts.length })
  checkNothingLost(topics.events, firsts)
  checkNothingLost(topics.idBlocks, idBlockFirsts)
}

async function checkKeptForEver(admin: Admin, { events, idBlocks, brokers }: LogTopics): Promise<void> {
  const configNames = Object.keys(keptForEver)
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [events, idBlocks].map((name) => ({ type: ConfigResourceTypes.TOPIC, name, configNames })),
  })
  for (const { resourceName, configEntries } of resources) {
    for (const [name, wanted] of Object.entries(keptForEver)) {
      const found = configEntries.find((entry) => entry.configName === name)?.configValue
      if (found === wanted) continue
      throw new BootRefusal(
        `Topic ${resourceName} has ${name}=${found}, so Kafka would delete events, which are kept for ever. Run ` +
          `kafka-configs.sh --bootstrap-server ${brokers.join(',')} --alter --entity-type topics ` +
          `--entity-name ${resourceName} --add-config ${name}=${wanted}`,
      )
    }
  }
}

function checkPartitionCounts(
  { events, partitions, idBlocks }: LogTopics,
  found: { events: number; idBlocks: number },
): void {
  if (found.events !== partitions) {
    throw new BootRefusal(
      `Topic ${events} has ${found.events} partitions, but KAFKA_PARTITIONS is ${partitions}. Set ` +
        `KAFKA_PARTITIONS=${found.events}, or set KAFKA_TOPIC to another name for a new log.`,
    )
  }
  if (found.idBlocks !== 1) {
    throw new BootRefusal(
      `Topic ${idBlocks} has ${found.idBlocks} partitions instead of 1, so ids could be given twice. Set KAFKA_TOPIC ` +
        `to another name for a new log.`,
    )
  }
}

function checkNothingLost(topic: string, firsts: readonly Offset[]): void {
  const partition = firsts.findIndex((first) => first > 0)
  if (partition === -1) return
  throw new BootRefusal(
    `Partition ${partition} of topic ${topic} begins at offset ${firsts[partition]}: the records before were deleted. ` +
      `Restore the topic from a backup, or set KAFKA_TOPIC to another name for a new log.`,
  )
}
