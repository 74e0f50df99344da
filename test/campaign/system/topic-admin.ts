import { randomUUID } from 'node:crypto'
import kafkajs from 'kafkajs'
import { askKafka, until } from '../../brokers/ready.ts'
import type { LogRecord } from '../history.ts'

const readMs = 60_000

function clientOf(brokers: string): kafkajs.Kafka {
  const { NOTHING: logLevel } = kafkajs.logLevel
  return new kafkajs.Kafka({ brokers: brokers.split(','), logLevel, connectionTimeout: 1000, requestTimeout: 5000 })
}

export function asAdmin<T>(brokers: string, work: (admin: kafkajs.Admin) => Promise<T>): Promise<T> {
  return askKafka(clientOf(brokers), work)
}

/** Every record of a topic as it stands now. */
export async function readTopic(brokers: string, topic: string): Promise<LogRecord[]> {
  const ends = await asAdmin(brokers, (admin) => admin.fetchTopicOffsets(topic))
  const found: LogRecord[] = []
  const left = new Map(ends.map(({ partition, high }) => [partition, Number(high)]))
  const consumer = clientOf(brokers).consumer({ groupId: `campaign-${randomUUID()}`, maxWaitTimeInMs: 100 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ partition, message: { offset, key, value } }) => {
      found.push({ partition, offset: Number(offset), key: key && String(key), value: value && String(value) })
    },
  })
  try {
    const last = () => new Map(found.map(({ partition, offset }) => [partition, offset + 1]))
    await until('the topic is read', readMs, async () => {
      const reached = last()
      return [...left].every(([partition, end]) => (reached.get(partition) ?? 0) >= end)
    })
  } finally {
    await consumer.disconnect()
  }
  return found
}
