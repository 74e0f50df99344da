import { setTimeout as delay } from 'node:timers/promises'
import kafkajs, { type Admin } from 'kafkajs'
import { OutOfReachError } from '../../lib/errors.ts'
import type { Warning } from '../../lib/warning.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import type { KafkaAccess, KafkaClient } from './kafka-client.ts'
import type { KafkaProducer } from './kafka-producer.ts'
import { type KafkaReader, UndecodableError } from './kafka-reader.ts'
import { createMissingTopics, findTopics, madeByHand, TooFewBrokers } from './kafka-topics.ts'
import { heldEvents, type LogIdentity, readIdentity, writeIdentity } from './log-identity.ts'
import { copyInstead, incompleteness, orNewLog, otherPartitions, weaknesses } from './topic-faults.ts'

// Not among the names that Node finds in this CommonJS module.
const { KafkaJSAggregateError } = kafkajs

export interface KafkaLogOptions extends KafkaAccess {
  /** The topic of the events; `<topic>.id-blocks` holds the identity of the log and the blocks reserved. */
  readonly topic: string
  readonly partitions: number
  /** How many brokers have each record of topics that are made; undefined: three, or as many as there are. */
  readonly replicationFactor?: number | undefined
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

/** What a start knew of the events. */
export interface Events {
  /** Whether there were some. */
  readonly found: boolean
  /** Whether that is noted, for the starts to come. */
  readonly noted: boolean
}

export interface BootedLog {
  readonly identity: LogIdentity
  readonly events: Events
  readonly warnings: readonly Warning[]
}

/** Why the log may not be used as it is: waiting would not change it. The message says what to do. */
class BootRefusal extends Error {
  override readonly name = 'BootRefusal'
}

const readLimitMs = 3000
const retryDelayMs = 500

/** Errors of Kafka that no waiting heals: wrong credentials, missing rights, settings that it refuses. */
const final = /AUTHENTICATION|AUTHORIZATION|SECURITY_DISABLED|UNSUPPORTED_SASL|INVALID_(TOPIC|CONFIG)|POLICY_VIOLATION/

/**
 * Makes the topics where they are missing, checks them, and gives or reads the log's identity. A broker that has just
 * started, or is about to, answers many things at first: all is tried again until `bootTimeoutMs` have passed.
 * Throws an Error that says what to do: OutOfReachError when the time is up.
 */
export async function bootLog(parts: LogParts): Promise<BootedLog> {
  const { logger, bootTimeoutMs: limitMs = 30_000 } = parts
  const servers = parts.brokers.join(', ')
  const deadline = performance.now() + limitMs
  let reasonBefore: string | undefined
  for (;;) {
    try {
      return await withTimeout(deadline - performance.now(), attempt(parts))
    } catch (error) {
      if (error instanceof BootRefusal) throw error
      const reason = messageOf(error)
      if (isFinal(error)) throw new Error(`Kafka at ${servers}: ${reason}`, { cause: error })
      if (performance.now() + retryDelayMs > deadline) {
        if (error instanceof TooFewBrokers)
          throw new OutOfReachError(`Kafka at ${servers}: ${reason}.`, { cause: error })
        throw new OutOfReachError(
          `Kafka at ${servers} does not answer as it should, for ${limitMs / 1000} s now: ${reason}. ` +
            `Is it running, and are KAFKA_BROKERS and its TLS and SASL variables right?`,
          { cause: error },
        )
      }
      logger[reason === reasonBefore ? 'debug' : 'info']({ reason }, 'Kafka is not ready yet')
      reasonBefore = reason
    }
    await delay(retryDelayMs)
  }
}

async function attempt(parts: LogParts): Promise<BootedLog> {
  const client = parts.newClient()
  const admin = client.kafka.admin()
  try {
    await admin.connect()
    await refuseWithoutEvents(admin, parts)
    await makeTopics(admin, parts)
    const found = await findTopics(admin, parts.reader, parts)
    refuse(incompleteness(found))
    checkIdBlocks(parts, found.idBlocks.partitions)
    const identity = await establishIdentity(parts, found.events.partitions)
    return { identity, events: await checkEvents(parts), warnings: weaknesses(found) }
  } finally {
    client.abandon()
  }
}

async function makeTopics(admin: Admin, parts: LogParts): Promise<void> {
  try {
    await createMissingTopics(admin, parts)
  } catch (error) {
    const refused = error instanceof KafkaJSAggregateError && error.errors.find(isFinal)
    if (!(refused instanceof Error)) throw error // another process made one just now, or brokers are still coming up
    const { topic } = refused as { topic?: string }
    throw new BootRefusal(
      `Kafka does not let topic ${topic} be created: ${refused.message}. Let this user create topics, or create it by ` +
        `hand with ${madeByHand(parts, topic)}; KAFKA_TOPIC names it.`,
      { cause: error },
    )
  }
}

/** Before an empty topic takes the place of one that is gone. */
async function refuseWithoutEvents(admin: Admin, { reader, topic, idBlocks }: LogParts): Promise<void> {
  const existing = await admin.listTopics()
  if (existing.includes(topic) || !existing.includes(idBlocks)) return
  const held = await heldEvents(reader, idBlocks)
  if (held !== false) throw eventsGone(`There is no topic ${topic}`, { topic, idBlocks })
}

/** Refuses a log that could have held events, and holds none. */
async function checkEvents({ reader, topic, idBlocks }: LogParts): Promise<Events> {
  const noted = await heldEvents(reader, idBlocks)
  // After that: another process notes the first events of a new log once they are there.
  const ends = await reader.offsets(topic, 'next', readLimitMs)
  const found = ends.some((end) => end > 0)
  if (noted !== false && !found) {
    throw eventsGone(`Topic ${topic} is empty`, { topic, idBlocks })
  }
  return { found, noted: noted === true }
}

function eventsGone(found: string, { topic, idBlocks }: Pick<LogParts, 'topic' | 'idBlocks'>): BootRefusal {
  return new BootRefusal(
    `${found}, but ${idBlocks} is that of a log with events: they are gone. Restore ${topic} from a backup. To begin ` +
      `a new log, delete ${idBlocks} as well, ${orNewLog}`,
  )
}

/** All at once, so that whoever follows one piece of advice does not meet the next refusal. */
function refuse(faults: readonly Warning[]): void {
  if (faults.length > 0) throw new BootRefusal(faults.map(({ message }) => message).join('\n'))
}

/** The identity is read back and never assumed from what was written: another process may have been first. */
async function establishIdentity(parts: LogParts, partitionsFound: number): Promise<LogIdentity> {
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
  if (blocks === 0) {
    checkPartitions(parts, partitionsFound, partitionsFound)
    await writeIdentity(idBlocksProducer, partitions)
  }
  const identity = await readIdentity(reader, idBlocks)
  if (identity === undefined) {
    throw new BootRefusal(
      `The first record of topic ${idBlocks} is not the identity of a log: something else wrote to it. Restore it from ` +
        `a backup, ${orNewLog}`,
    )
  }
  checkPartitions(parts, partitionsFound, identity.partitions)
  return identity
}

function checkIdBlocks({ idBlocks }: LogParts, found: number): void {
  if (found === 1) return
  throw new BootRefusal(
    `Topic ${idBlocks} has ${found} partitions instead of 1, so ids could be given twice. ${copyInstead(1)}`,
  )
}

/** Only the number that the log was made with is ever advised. */
function checkPartitions({ topic, partitions }: LogParts, found: number, madeWith: number): void {
  if (found !== madeWith) {
    throw new BootRefusal(`${otherPartitions(topic, found, madeWith)} ${copyInstead(madeWith)}`)
  }
  if (found === partitions) return
  throw new BootRefusal(
    `Topic ${topic} has ${found} partitions, but KAFKA_PARTITIONS is ${partitions}. Set KAFKA_PARTITIONS=${found}, ` +
      orNewLog,
  )
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
