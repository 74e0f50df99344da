import kafkajs, { type Kafka, type Producer, type RecordMetadata } from 'kafkajs'
import type { Logger } from 'pino'
import type { NewRecord, Offset } from '../event-log.ts'
import { outcomeUnknown, unavailable } from '../failures.ts'
import { type KafkaClient, KafkaConnection, toOffset } from './kafka-client.ts'

// Node does not detect this name in the CommonJS module.
const { KafkaJSNumberOfRetriesExceeded, KafkaJSProtocolError } = kafkajs

/** How long a broker may wait for its replicas: less than the request timeout, so that its answer arrives. */
const replicationLimitMs = 2500

/** Appends to one topic, one partition per request, and reports the true outcome. */
export class KafkaProducer {
  readonly #connection: KafkaConnection<Producer>
  readonly #topic: string
  readonly #logger: Logger
  #failing = false

  constructor(newClient: () => KafkaClient, topic: string, logger: Logger) {
    this.#connection = new KafkaConnection(newClient, producerOf)
    this.#topic = topic
    this.#logger = logger
  }

  /**
   * Appends all or none, in order; resolves to the offset of the first once all in-sync replicas have them.
   * Throws ServiceError event_log_unavailable or append_outcome_unknown, within `limitMs`.
   */
  async append(partition: number, records: readonly NewRecord[], limitMs: number): Promise<Offset> {
    const messages = records.map((record) => ({ ...record, partition }))
    let isSent = () => false
    try {
      const offset = await this.#connection.use(limitMs, async (producer, client) => {
        const requestsBefore = client.produceRequests
        isSent = () => client.produceRequests > requestsBefore
        const request = { topic: this.#topic, acks: -1, timeout: replicationLimitMs, messages }
        return baseOffset(await producer.send(request), partition)
      })
      this.#note(undefined)
      return offset
    } catch (error) {
      this.#note(error)
      throw isSent() && !isRefusal(error) ? outcomeUnknown(error) : unavailable(error)
    }
  }

  /** The outcome of requests in flight stays unknown. */
  close(): void {
    this.#connection.close()
  }

  /** Logs one line when appends begin to fail and one when they work again, however many fail. */
  #note(error: unknown): void {
    const failing = error !== undefined
    if (failing && !this.#failing) this.#logger.warn({ err: error, topic: this.#topic }, 'Kafka: appends fail')
    if (!failing && this.#failing) this.#logger.info({ topic: this.#topic }, 'Kafka: appends work again')
    this.#failing = failing
  }
}

function producerOf(kafka: Kafka): Producer {
  return kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: () => (args) => args.message.partition ?? -1,
    retry: { retries: 0 }, // a request that kafkajs repeats may be stored twice
  })
}

export function baseOffset(reply: readonly RecordMetadata[], partition: number): Offset {
  const [only] = reply
  if (reply.length === 1 && only?.partition === partition && only.errorCode === 0 && only.baseOffset !== undefined) {
    return toOffset(only.baseOffset)
  }
  throw new Error(`expected an append to partition ${partition}, but the reply is ${JSON.stringify(reply)}`)
}

/**
 * Errors in the answer to a produce request which prove that nothing was written. Retriable ones come wrapped.
 * NOT_LEADER_FOR_PARTITION is not one of them: a leader that has appended a batch and is replaced while it waits for
 * its replicas also gives that answer, and the batch often stays.
 */
const finalRefusals = [
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'POLICY_VIOLATION',
  'TOPIC_AUTHORIZATION_FAILED',
  'INVALID_TIMESTAMP', // the clock of this process is too far from that of the broker
]
const retriableRefusal = 'NOT_ENOUGH_REPLICAS'

/**
 * On some errors kafkajs requests metadata before it throws, and if that fails too, throws the error of that request
 * instead. It does not do so on a final protocol error, which is thrown as it is. The retriable error here never comes
 * from a metadata request.
 */
function isRefusal(error: unknown): boolean {
  if (error instanceof KafkaJSProtocolError) return finalRefusals.includes(error.type)
  if (!(error instanceof KafkaJSNumberOfRetriesExceeded)) return false
  return error.cause instanceof KafkaJSProtocolError && error.cause.type === retriableRefusal
}
