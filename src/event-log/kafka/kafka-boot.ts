import { setTimeout as delay } from 'node:timers/promises'
import kafkajs, { type Admin } from 'kafkajs'
import { OutOfReachError } from '../../lib/errors.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import type { KafkaAccess, KafkaClient } from './kafka-client.ts'
import { type LogIdentity, readIdentity, writeIdentity } from './kafka-identity.ts'
import type { KafkaProducer } from './kafka-producer.ts'
import { type KafkaReader, UndecodableError } from './kafka-reader.ts'

// Not among the names that Node finds in this CommonJS module.
const { ConfigResourceTypes, KafkaJSAggregateError } = kafkajs

export interface KafkaLogOptions extends KafkaAccess {
  /** The topic of the events; `<topic>.id-blocks` holds the identity of the log and the blocks reserved. */
  readonly topic: string
  readonly partitions: number
  /** From the call of an append to its outcome. */
  readonly appendTimeoutMs: number
  /** How long to wait for brokers that do not answer yet; 30 s when omitted. */
  readonly bootTimeoutMs?: number | undefined
}

/** The parts of a log, made before anything is known of it. */
export interface LogParts extends KafkaLogOptions {
  /** The topic, of one partition, with the identity of the log at offset 0, then a record for each block reserved. */
  readonly idBlocks: string
  readonly newClient: () => KafkaClient
  readonly reader: KafkaReader
  readonly idBlocksProducer: KafkaProducer
}

/** Why the log may not be used as it is: waiting would not change it. The message says what to do. */
class BootRefusal extends Error {
  override readonly name = 'BootRefusal'
}

/** Kept for ever: the topic is the only truth, and cleaning of any kind would forget some of it. */
const keptForEver = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' }
const replicasWanted = 3
const readLimitMs = 3000
const retryDelayMs = 500
const orNewLog = 'or set KAFKA_TOPIC to another name for a new log.'

/** Errors of Kafka that no waiting heals: wrong credentials, missing rights, settings that it refuses. */
const final = /AUTHENTICATION|AUTHORIZATION|SECURITY_DISABLED|UNSUPPORTED_SASL|INVALID_(TOPIC|CONFIG)|POLICY_VIOLATION/

/**
 * Makes the topics where they are missing, checks them, and gives or reads the log's identity. A broker that has just
 * started, or is about to, answers many things at first: all is tried again until `bootTimeoutMs` have passed.
 * Throws an Error that says what to do: OutOfReachError when the time is up.
 */
export async function bootLog(parts: LogParts): Promise<LogIdentity> {
  const { logger, bootTimeoutMs: limitMs = 30_000 } = parts
  const servers = parts.brokers.join(', ')
  const deadline = performance.now() + limitMs
  for (let attempts = 1; ; attempts++) {
    try {
      return await withTimeout(deadline - performance.now(), attempt(parts))
    } catch (error) {
      if (error instanceof BootRefusal) throw error
      const reason = messageOf(error)
      if (isFinal(error)) throw new Error(`Kafka at ${servers}: ${reason}`, { cause: error })
      if (performance.now() + retryDelayMs > deadline) {
        throw new OutOfReachError(
          `Kafka at ${servers} does not answer as it should, for ${limitMs / 1000} s now: ${reason}. ` +
            `Is it running, and are KAFKA_BROKERS and its TLS and SASL variables right?`,
          { cause: error },
        )
      }
      logger[attempts === 1 ? 'info' : 'debug']({ reason }, 'Kafka is not ready yet')
    }
    await delay(retryDelayMs)
  }
}

async function attempt(parts: LogParts): Promise<LogIdentity> {
  const client = parts.newClient()
  const admin = client.kafka.admin()
  try {
    await admin.connect()
    await createMissingTopics(admin, parts)
    await checkKeptForEver(admin, parts)
  } finally {
    client.abandon()
  }
  await checkPartitions(parts)
  return await establishIdentity(parts)
}

/** Several processes may do so at once. */
async function createMissingTopics(admin: Admin, { topic, partitions, idBlocks }: LogParts): Promise<void> {
  const existing = await admin.listTopics()
  const wanted = [
    { topic, numPartitions: partitions },
    { topic: idBlocks, numPartitions: 1 },
  ].filter((each) => !existing.includes(each.topic))
  if (wanted.length === 0) return
  const { brokers } = await admin.describeCluster()
  const replicationFactor = Math.min(replicasWanted, brokers.length)
  const config = { ...keptForEver, ...(replicationFactor === replicasWanted ? { 'min.insync.replicas': '2' } : {}) }
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
  try {
    await admin.createTopics({ topics: wanted.map((each) => ({ ...each, replicationFactor, configEntries })) })
  } catch (error) {
    const refused = error instanceof KafkaJSAggregateError && error.errors.find(isFinal)
    if (!(refused instanceof Error)) throw error // another process made one just now, or brokers are still coming up
    throw new BootRefusal(
      `Kafka does not let topic ${(refused as { topic?: string }).topic} be created: ${refused.message}. Let this user ` +
        'create topics, or create it by hand with cleanup.policy=delete, retention.ms=-1 and retention.bytes=-1; ' +
        'KAFKA_TOPIC names it.',
      { cause: error },
    )
  }
}

async function checkKeptForEver(admin: Admin, { brokers, topic, idBlocks }: LogParts): Promise<void> {
  const configNames = Object.keys(keptForEver)
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [topic, idBlocks].map((name) => ({ type: ConfigResourceTypes.TOPIC, name, configNames })),
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

async function checkPartitions({ reader, topic, partitions, idBlocks }: LogParts): Promise<void> {
  const events = await reader.offsets(topic, 'first', readLimitMs)
  const blocks = await reader.offsets(idBlocks, 'first', readLimitMs)
  if (events.length !== partitions) {
    throw new BootRefusal(
      `Topic ${topic} has ${events.length} partitions, but KAFKA_PARTITIONS is ${partitions}. Set ` +
        `KAFKA_PARTITIONS=${events.length}, ${orNewLog}`,
    )
  }
  if (blocks.length !== 1) {
    throw new BootRefusal(
      `Topic ${idBlocks} has ${blocks.length} partitions instead of 1, so ids could be given twice. Set KAFKA_TOPIC ` +
        `to another name for a new log.`,
    )
  }
  for (const { name, firsts } of [
    { name: topic, firsts: events },
    { name: idBlocks, firsts: blocks },
  ]) {
    const partition = firsts.findIndex((first) => first > 0)
    if (partition === -1) continue
    throw new BootRefusal(
      `Partition ${partition} of topic ${name} begins at offset ${firsts[partition]}: the records before were deleted. ` +
        `Restore the topic from a backup, ${orNewLog}`,
    )
  }
}

/** The identity is read back and never assumed from what was written: another process may have been first. */
async function establishIdentity(parts: LogParts): Promise<LogIdentity> {
  const { reader, topic, partitions, idBlocks, idBlocksProducer } = parts
  // Events first: whoever appends them has written the identity before, so that a log being born is not refused.
  const events = await reader.offsets(topic, 'next', readLimitMs)
  const [blocks] = await reader.offsets(idBlocks, 'next', readLimitMs)
  if (blocks === 0 && events.some((end) => end > 0)) {
    throw new BootRefusal(
      `Topic ${idBlocks} is empty, but ${topic} holds events: ids would be given a second time. Restore ${idBlocks} from ` +
        `a backup, ${orNewLog}`,
    )
  }
  if (blocks === 0) await writeIdentity(idBlocksProducer, partitions)
  const identity = await readIdentity(reader, idBlocks)
  if (identity === undefined) {
    throw new BootRefusal(
      `The first record of topic ${idBlocks} is not the identity of a log: something else wrote to it. Restore it from ` +
        `a backup, ${orNewLog}`,
    )
  }
  if (identity.partitions !== partitions) {
    throw new BootRefusal(
      `Topic ${topic} has ${partitions} partitions, but was created with ${identity.partitions} (first record of ` +
        `${idBlocks}): keys would move between partitions. Restore it from a backup with ${identity.partitions} ` +
        `partitions, ${orNewLog}`,
    )
  }
  return identity
}

function isFinal(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { name, type, cause } = error as { name?: string; type?: string; cause?: unknown }
  if (error instanceof UndecodableError) return true
  return name === 'KafkaJSSASLAuthenticationError' || final.test(type ?? '') || isFinal(cause)
}

/** The innermost message: of an append that failed, say, what Kafka answered. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? messageOf(error.cause) : error.message
}
