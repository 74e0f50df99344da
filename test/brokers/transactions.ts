import { randomUUID } from 'node:crypto'
import kafkajs, { type Kafka, type Message } from 'kafkajs'

/** A transaction of another program, in one topic. */
export interface ForeignTransaction {
  send(...messages: readonly Message[]): Promise<void>
  commit(): Promise<void>
  abort(): Promise<void>
  /** Leaves it as it is. */
  abandon(): Promise<void>
}

/** Kafka ends it after `timeoutMs` if its producer does not. */
export async function beginTransaction(
  kafka: Kafka,
  topic: string,
  { timeoutMs = 60_000 } = {},
): Promise<ForeignTransaction> {
  const producer = kafka.producer({
    transactionalId: randomUUID(),
    transactionTimeout: timeoutMs,
    maxInFlightRequests: 1,
    idempotent: true,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  })
  await producer.connect()
  const transaction = await producer.transaction()
  async function end(how: 'commit' | 'abort'): Promise<void> {
    await transaction[how]()
    await producer.disconnect()
  }
  return {
    send: async (...messages) => void (await transaction.send({ topic, messages: [...messages] })),
    commit: () => end('commit'),
    abort: () => end('abort'),
    abandon: () => producer.disconnect(),
  }
}
