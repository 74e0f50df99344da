import { setTimeout as delay } from 'node:timers/promises'
import kafkajs, { type Admin } from 'kafkajs'
import { OutOfReachError } from '../../lib/errors/errors.ts'
import { tlsProblem } from '../../lib/errors/tls-errors.ts'
import type { Warning } from '../../lib/operating/warning.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import { BootRefusal, checkLog, createIdentity, type EventsAtStart, missingTopics } from './boot-checks.ts'
import type { KafkaClient } from './kafka-client.ts'
import { UndecodableError } from './kafka-reader.ts'
import { createTopics, findTopics, madeByHand, TooFewBrokers } from './kafka-topics.ts'
import type { LogIdentity } from './log-identity.ts'
import type { LogPartOptions } from './log-part-options.ts'
import { foreignRecords, weaknesses } from './topic-faults.ts'

// Node does not detect this name in the CommonJS module.
const { KafkaJSAggregateError } = kafkajs

export interface BootedLog {
  readonly identity: LogIdentity
  readonly events: EventsAtStart
  readonly warnings: readonly Warning[]
}

const retryDelayMs = 500

/** Kafka errors that waiting does not resolve: wrong credentials, missing rights, refused settings. */
const permanent =
  /AUTHENTICATION|AUTHORIZATION|SECURITY_DISABLED|UNSUPPORTED_SASL|INVALID_(TOPIC|CONFIG)|POLICY_VIOLATION/

/**
 * Creates missing topics, checks all of them, and writes or reads the log's identity. Brokers answer many requests with
 * errors while they start, so everything is tried again for `bootTimeoutMs`.
 * Throws an Error that says what to do; OutOfReachError when the time is up.
 */
export async function bootLog(options: LogPartOptions): Promise<BootedLog> {
  const { logger, bootTimeoutMs: limitMs = 30_000 } = options
  const servers = options.brokers.join(', ')
  const deadline = performance.now() + limitMs
  let reasonBefore: string | undefined
  for (;;) {
    try {
      return await attempt(options, deadline - performance.now())
    } catch (error) {
      if (error instanceof BootRefusal) throw error
      const reason = messageOf(error)
      if (tlsProblem(error) !== undefined) {
        throw new Error(
          `No TLS connection to Kafka at ${servers} (${tlsProblem(error)}): check KAFKA_TLS and the KAFKA_TLS files.`,
          { cause: error },
        )
      }
      if (isPermanent(error)) throw new Error(`Kafka at ${servers}: ${reason}`, { cause: error })
      if (performance.now() + retryDelayMs > deadline) {
        if (error instanceof TooFewBrokers)
          throw new OutOfReachError(`Kafka at ${servers}: ${reason}.`, { cause: error })
        throw new OutOfReachError(
          `Kafka at ${servers} has not answered properly for ${limitMs / 1000} s: ${reason}. ` +
            `Is it running? Check KAFKA_BROKERS and the TLS and SASL variables.`,
          { cause: error },
        )
      }
      logger[reason === reasonBefore ? 'debug' : 'info']({ reason }, 'Kafka is not ready yet')
      reasonBefore = reason
    }
    await delay(retryDelayMs)
  }
}

async function attempt(options: LogPartOptions, limitMs: number): Promise<BootedLog> {
  return await asAdmin(options.newClient(), limitMs, async (admin) => {
    await makeTopics(admin, options, await missingTopics(admin, options))
    const found = await findTopics(admin, options.reader, options)
    const { identity, events } = await checkLog(options, found)
    const warnings = [...weaknesses(found), ...foreignRecords(options.idBlocks, events.foreign)]
    return { identity: identity ?? (await createIdentity(options, found)), events, warnings }
  })
}

/** Connects the client for this work alone. */
export async function asAdmin<T>(client: KafkaClient, limitMs: number, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = client.kafka.admin()
  try {
    return await withTimeout(
      limitMs,
      admin.connect().then(() => work(admin)),
    )
  } finally {
    client.abandon()
  }
}

async function makeTopics(admin: Admin, options: LogPartOptions, missing: readonly string[]): Promise<void> {
  try {
    await createTopics(admin, options, missing)
  } catch (error) {
    const refused = error instanceof KafkaJSAggregateError && error.errors.find(isPermanent)
    if (!(refused instanceof Error)) throw error // another process has just created one, or brokers are still starting
    const { topic } = refused as { topic?: string }
    throw new BootRefusal(
      `Kafka refuses to create topic ${topic}: ${refused.message}. Give this user the right to create topics, or create it by ` +
        `hand with ${madeByHand(options, topic)}; KAFKA_TOPIC names it.`,
      { cause: error },
    )
  }
}

function isPermanent(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { name, type, cause } = error as { name?: string; type?: string; cause?: unknown }
  if (error instanceof UndecodableError) return true
  return name === 'KafkaJSSASLAuthenticationError' || permanent.test(type ?? '') || isPermanent(cause)
}

/** The message of the innermost cause: for a failed append, what Kafka answered. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? messageOf(error.cause) : error.message
}
