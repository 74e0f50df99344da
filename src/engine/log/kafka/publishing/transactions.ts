import type { Producer, RecordMetadata, Transaction } from 'kafkajs'
import { withTimeout } from '../../../lib/with-timeout.ts'
import type { Offset } from '../../event-log.ts'
import type { KafkaClient } from '../kafka-client.ts'
import { baseOffset } from '../kafka-producer.ts'

export type { Transaction }

/** Records for one partition. */
export interface Send {
  readonly topic: string
  readonly partition: number
  readonly messages: readonly {
    readonly key: string
    readonly value: string | null
    readonly headers?: Readonly<Record<string, string>>
  }[]
}

const fenceLimitMs = 3000
const timeoutMs = 10_000
const replicationLimitMs = 2500
/** Less than the largest batch that brokers take by default; a larger record goes alone. */
const batchBytesMax = 512 * 1024
/** A transaction that follows at once is answered CONCURRENT_TRANSACTIONS for some milliseconds. */
const retry = { initialRetryTime: 4, factor: 0.2, multiplier: 1.3, retries: 40 }

/**
 * Transactions under one id, one after the other (decision 0069). Whoever opens them under the same id ends those of
 * whoever had it before. After an error it may only be closed.
 */
export class Transactions {
  readonly #client: KafkaClient
  readonly #producer: Producer

  private constructor(client: KafkaClient, transactionalId: string) {
    this.#client = client
    this.#producer = client.kafka.producer({
      ...{ transactionalId, transactionTimeout: timeoutMs, maxInFlightRequests: 1, idempotent: false, retry },
      allowAutoTopicCreation: false,
      createPartitioner: () => (args) => args.message.partition ?? -1,
    })
  }

  /** Fences whoever had the id. */
  static async open(newClient: () => KafkaClient, transactionalId: string): Promise<Transactions> {
    const client = newClient()
    const opened = new Transactions(client, transactionalId)
    try {
      await withTimeout(fenceLimitMs, opened.#fence())
      return opened
    } catch (error) {
      client.abandon()
      throw error
    }
  }

  begin(): Promise<Transaction> {
    return this.#producer.transaction()
  }

  close(): void {
    this.#client.abandon()
  }

  async #fence(): Promise<void> {
    await this.#producer.connect()
    const transaction = await this.#producer.transaction()
    await transaction.abort()
  }
}

/** The offset of the first record, and that of the next one. */
export interface Sent {
  readonly base: Offset
  readonly end: Offset
}

/**
 * kafkajs loses or doubles records of a request to several leaders when one of them moves, and commits all the same: so
 * one partition a request, one request after the other. `messages` are one or more.
 */
export async function sendTo(transaction: Transaction, { topic, partition, messages }: Send): Promise<Sent> {
  const bases: Offset[] = []
  let end = 0
  for (const batch of batchesOf(messages)) {
    const reply: readonly RecordMetadata[] = await transaction.send({
      ...{ topic, acks: -1, timeout: replicationLimitMs },
      messages: batch.map(({ key, value, headers = {} }) => ({ key, value, headers, partition })),
    })
    const base = baseOffset(reply, partition)
    bases.push(base)
    end = base + batch.length
  }
  return { base: bases[0] ?? 0, end }
}

/** kafkajs makes one batch of a request: a larger one than brokers take is refused whole. */
function batchesOf(messages: Send['messages']): Send['messages'][] {
  const batches: Send['messages'][number][][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const message of messages) {
    const size = Buffer.byteLength(message.value ?? '')
    if (bytes + size > batchBytesMax) {
      batches.push([])
      bytes = 0
    }
    batches.at(-1)?.push(message)
    bytes += size
  }
  return batches
}
