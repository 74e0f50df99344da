import { randomUUID } from 'node:crypto'
import kafkajs, { type Admin, type Kafka } from 'kafkajs'
import { pino } from 'pino'
import type { EventLog } from '../../src/event-log/event-log.ts'
import type { KafkaLogOptions } from '../../src/event-log/kafka/kafka-boot.ts'
import { openKafkaEventLog } from '../../src/event-log/kafka/kafka-event-log.ts'
import type { EventLogFixture } from './contract/fixture.ts'

export const silent = pino({ level: 'silent' })
/** The default limit of a broker for one record batch is 1 MiB. */
const tooLarge = 'x'.repeat(2 * 1024 * 1024)

/** A client as any other program would use. */
export function plainKafka(brokers: string): Kafka {
  return new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING })
}

export function newTopic(): string {
  return `pets-${randomUUID()}`
}

export function logOptions(brokers: string, changed: Partial<KafkaLogOptions> = {}): KafkaLogOptions {
  const topic = newTopic()
  return { brokers: brokers.split(','), topic, partitions: 3, appendTimeoutMs: 5000, logger: silent, ...changed }
}

export async function openKafkaFixture(brokers: string): Promise<EventLogFixture> {
  const options = logOptions(brokers)
  const logs: EventLog[] = []
  const open = async () => {
    const log = await openKafkaEventLog(options)
    logs.push(log)
    return log
  }
  return {
    log: await open(),
    open,
    refused: { key: 'refused', value: tooLarge, headers: {} },
    appendForeign: (record) => produce(brokers, options.topic, { ...record, partition: 0 }),
    remove: async () => {
      await Promise.all(logs.map((each) => each.close()))
      await withAdmin(brokers, (admin) => admin.deleteTopics({ topics: [options.topic, `${options.topic}.id-blocks`] }))
    },
  }
}

export async function withAdmin<T>(brokers: string, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = plainKafka(brokers).admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

export async function produce(
  brokers: string,
  topic: string,
  message: { key: Buffer | string | null; value: Buffer | string | null; partition: number },
): Promise<void> {
  const producer = plainKafka(brokers).producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  })
  await producer.connect()
  try {
    await producer.send({ topic, acks: -1, messages: [message] })
  } finally {
    await producer.disconnect()
  }
}
