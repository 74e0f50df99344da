import { setTimeout as delay } from 'node:timers/promises'
import kafkajs, { type Admin } from 'kafkajs'
import { OutOfReachError } from '../../lib/errors.ts'
import { tlsProblem } from '../../lib/tls-errors.ts'
import type { Warning } from '../../lib/warning.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import {
  BootRefusal,
  checkEvents,
  checkIdBlocks,
  type Events,
  establishIdentity,
  refuse,
  refuseWithoutEvents,
} from './boot-checks.ts'
import type { KafkaAccess, KafkaClient } from './kafka-client.ts'
import type { KafkaProducer } from './kafka-producer.ts'
import { type KafkaReader, UndecodableError } from './kafka-reader.ts'
import { createMissingTopics, findTopics, madeByHand, TooFewBrokers } from './kafka-topics.ts'
import type { LogIdentity } from './log-identity.ts'
import { incompleteness, weaknesses } from './topic-faults.ts'

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

export interface BootedLog {
  readonly identity: LogIdentity
  readonly events: Events
  readonly warnings: readonly Warning[]
}

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
      if (tlsProblem(error) !== undefined) {
        throw new Error(
          `Kafka at ${servers} speaks TLS in another way (${tlsProblem(error)}): check KAFKA_TLS and the KAFKA_TLS files.`,
          { cause: error },
        )
      }
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
