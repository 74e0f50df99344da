import { setTimeout as delay } from 'node:timers/promises'
import { OutOfReachError } from '../../lib/errors.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import { type KafkaAccess, KafkaClient } from './kafka-client.ts'
import { establishIdentity, type LogIdentity } from './kafka-identity.ts'
import type { KafkaProducer } from './kafka-producer.ts'
import type { KafkaReader } from './kafka-reader.ts'
import { BootRefusal, checkTopics, createMissingTopics, type LogTopics } from './kafka-topics.ts'

const retryDelayMs = 500

interface BootParts {
  readonly reader: KafkaReader
  readonly idBlocksProducer: KafkaProducer
}

/** Errors of Kafka that no waiting heals: wrong credentials, missing rights, settings that it refuses. */
const final = /AUTHENTICATION|AUTHORIZATION|SECURITY_DISABLED|UNSUPPORTED_SASL|INVALID_TOPIC|POLICY_VIOLATION/

/**
 * Makes the topics where they are missing, checks them, and gives or reads the log's identity. A broker that has just
 * started, or is about to, answers many things at first: all is tried again until `limitMs` have passed.
 * Throws an Error that says what to do: OutOfReachError when the time is up.
 */
export async function bootLog(
  access: KafkaAccess,
  topics: LogTopics,
  parts: BootParts,
  limitMs: number,
): Promise<LogIdentity> {
  const deadline = performance.now() + limitMs
  for (let attempts = 1; ; attempts++) {
    try {
      return await withTimeout(deadline - performance.now(), attempt(access, topics, parts))
    } catch (error) {
      if (error instanceof BootRefusal) throw error
      if (isFinal(error))
        throw new Error(`Kafka at ${access.brokers.join(', ')}: ${messageOf(error)}`, { cause: error })
      if (performance.now() + retryDelayMs > deadline) throw notReady(access, limitMs, error)
      access.logger[attempts === 1 ? 'info' : 'debug']({ reason: messageOf(error) }, 'Kafka is not ready yet')
    }
    await delay(retryDelayMs)
  }
}

async function attempt(access: KafkaAccess, topics: LogTopics, parts: BootParts): Promise<LogIdentity> {
  const client = new KafkaClient(access)
  const admin = client.kafka.admin()
  try {
    await admin.connect()
    await createMissingTopics(admin, topics)
    await checkTopics(admin, parts.reader, topics)
  } finally {
    client.abandon()
  }
  return await establishIdentity(parts.reader, parts.idBlocksProducer, topics)
}

function isFinal(error: unknown): boolean {
  return causes(error).some(({ name, type }) => name === 'KafkaJSSASLAuthenticationError' || final.test(type ?? ''))
}

function causes(error: unknown): { name?: string; type?: string }[] {
  if (typeof error !== 'object' || error === null) return []
  return [error, ...causes((error as { cause?: unknown }).cause)]
}

function notReady({ brokers }: KafkaAccess, limitMs: number, error: unknown): Error {
  return new OutOfReachError(
    `Kafka at ${brokers.join(', ')} does not answer as it should, for ${limitMs / 1000} s now: ${messageOf(error)}. ` +
      `Is it running, and are KAFKA_BROKERS and its TLS and SASL variables right?`,
    { cause: error },
  )
}

/** The innermost message: of an append that failed, say, what Kafka answered. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? messageOf(error.cause) : error.message
}
