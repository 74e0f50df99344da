import type { Admin, Kafka } from 'kafkajs'
import { askKafka, kafkaClient } from '../../brokers/ready.ts'
import { recordsOf, type TopicRecord } from '../../brokers/topic-records.ts'
import type { LogRecord } from '../../judge/history.ts'

function clientOf(brokers: string): Kafka {
  return kafkaClient(brokers, { requestTimeout: 5000 })
}

export function asAdmin<T>(brokers: string, work: (admin: Admin) => Promise<T>): Promise<T> {
  return askKafka(clientOf(brokers), work)
}

/** Every record of a topic as it stands now. */
export async function readLog(brokers: string, topic: string): Promise<LogRecord[]> {
  return (await recordsOf(clientOf(brokers), topic)).map(asLogRecord)
}

export function asLogRecord({ partition, offset, key, value }: TopicRecord): LogRecord {
  return { partition, offset: Number(offset), key: key && String(key), value: value && String(value) }
}
