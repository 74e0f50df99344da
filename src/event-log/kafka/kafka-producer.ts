import kafkajs, { type Message, type Producer, type RecordMetadata } from 'kafkajs'
import type { Logger } from 'pino'
import { ServiceError } from '../../lib/errors.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import type { Offset } from '../event-log.ts'
import { type KafkaClient, toOffset } from './kafka-client.ts'

// Not among the names that Node finds in this CommonJS module.
const { KafkaJSNumberOfRetriesExceeded, KafkaJSProtocolError } = kafkajs

const connectLimitMs = 1000
/** How long a broker may wait for its replicas; below the time-out of the request, so that its answer is heard. */
const replicationLimitMs = 2500

interface Connected {
  readonly client: KafkaClient
  readonly producer: Producer
}

/**
 * Appends to one topic, one partition a request, and tells the truth about the outcome. After any failure its
 * connections are abandoned for good, so that nothing arrives late; the next append makes new ones.
 */
export class KafkaProducer {
  readonly #newClient: () => KafkaClient
  readonly #topic: string
  readonly #logger: Logger
  #connecting: Promise<Connected> | undefined
  #connected: Connected | undefined
  #failing = false

  constructor(newClient: () => KafkaClient, topic: string, logger: Logger) {
    this.#newClient = newClient
    this.#topic = topic
    this.#logger = logger
  }

  /**
   * Appends all or none, in order; resolves to the offset of the first once all in-sync replicas have them.
   * Throws ServiceError event_log_unavailable or append_outcome_unknown, within `limitMs`.
   */
  async append(partition: number, records: readonly Omit<Message, 'partition'>[], limitMs: number): Promise<Offset> {
    const deadline = performance.now() + limitMs
    const connected = await this.#connect(Math.min(connectLimitMs, limitMs))
    const { client, producer } = connected
    const requestsBefore = client.produceRequests
    const messages = records.map((record) => ({ ...record, partition }))
    try {
      const sending = producer.send({ topic: this.#topic, acks: -1, timeout: replicationLimitMs, messages })
      const offset = baseOffset(await withTimeout(deadline - performance.now(), sending), partition)
      this.#note(undefined)
      return offset
    } catch (error) {
      this.#abandon(connected)
      this.#note(error)
      throw failedAppend(error, client.produceRequests > requestsBefore)
    }
  }

  /** The outcome of what is in flight stays unknown; nothing may be appended after the call. */
  async close(): Promise<void> {
    await this.#connecting?.catch(() => {})
    this.#connected?.client.abandon()
  }

  async #connect(limitMs: number): Promise<Connected> {
    if (this.#connected) return this.#connected
    this.#connecting ??= connect(this.#newClient(), limitMs)
    try {
      this.#connected = await this.#connecting
      return this.#connected
    } catch (error) {
      this.#note(error)
      throw unavailable(error)
    } finally {
      this.#connecting = undefined
    }
  }

  #abandon(connected: Connected): void {
    connected.client.abandon()
    if (this.#connected === connected) this.#connected = undefined
  }

  /** One line when appends begin to fail and one when they work again, however many there are. */
  #note(error: unknown): void {
    const failing = error !== undefined
    if (failing && !this.#failing) this.#logger.warn({ err: error, topic: this.#topic }, 'Kafka: appends fail')
    if (!failing && this.#failing) this.#logger.info({ topic: this.#topic }, 'Kafka: appends work again')
    this.#failing = failing
  }
}

async function connect(client: KafkaClient, limitMs: number): Promise<Connected> {
  const producer = client.kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: () => (args) => args.message.partition ?? -1,
    retry: { retries: 0 }, // what kafkajs sends again may be there twice
  })
  try {
    await withTimeout(limitMs, producer.connect())
    return { client, producer }
  } catch (error) {
    client.abandon()
    throw error
  }
}

function baseOffset(reply: readonly RecordMetadata[], partition: number): Offset {
  const [only] = reply
  if (reply.length === 1 && only?.partition === partition && only.errorCode === 0 && only.baseOffset !== undefined) {
    return toOffset(only.baseOffset)
  }
  throw new Error(`partition ${partition} was to be appended to, the reply is ${JSON.stringify(reply)}`)
}

/**
 * Errors in the answer to a produce request which say that nothing was written. Retriable ones come wrapped.
 * NOT_LEADER_FOR_PARTITION is none: a leader that has appended and is replaced while it waits for its replicas gives that
 * answer as well, and what it appended often stays.
 */
const refusals = {
  final: [
    'MESSAGE_TOO_LARGE',
    'RECORD_LIST_TOO_LARGE',
    'INVALID_RECORD',
    'POLICY_VIOLATION',
    'TOPIC_AUTHORIZATION_FAILED',
  ],
  retriable: ['NOT_ENOUGH_REPLICAS'],
}

/**
 * On some errors kafkajs asks for metadata before it throws, and throws that request's error instead when it fails too.
 * It does not do so on a final protocol error, thrown as it is; the retriable ones listed are none of a metadata answer.
 */
function nothingWritten(error: unknown): boolean {
  if (error instanceof KafkaJSProtocolError) return refusals.final.includes(error.type)
  if (!(error instanceof KafkaJSNumberOfRetriesExceeded)) return false
  return error.cause instanceof KafkaJSProtocolError && refusals.retriable.includes(error.cause.type)
}

function failedAppend(error: unknown, requestSent: boolean): ServiceError {
  if (!requestSent || nothingWritten(error)) return unavailable(error)
  return new ServiceError(
    'append_outcome_unknown',
    'The event log did not confirm the write; it may be stored. With an Idempotency-Key it can be sent again.',
    {
      cause: error,
    },
  )
}

function unavailable(cause: unknown): ServiceError {
  return new ServiceError('event_log_unavailable', 'The event log cannot be written to now; nothing was stored.', {
    cause,
  })
}
