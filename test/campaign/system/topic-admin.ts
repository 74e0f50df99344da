import kafkajs from 'kafkajs'
import { askKafka } from '../../brokers/ready.ts'
import { recordsOf, type TopicRecord } from '../../brokers/topic-records.ts'
import type { LogRecord } from '../history.ts'

function clientOf(brokers: string): kafkajs.Kafka {
  const { NOTHING: logLevel } = kafkajs.logLevel
  return new kafkajs.Kafka({ brokers: brokers.split(','), logLevel, connectionTimeout: 1000, requestTimeout: 5000 })
}

export function asAdmin<T>(brokers: string, work: (admin: kafkajs.Admin) => Promise<T>): Promise<T> {
  return askKafka(clientOf(brokers), work)
}

/** Every record of a topic as it stands now. */
export async function readLog(brokers: string, topic: string): Promise<LogRecord[]> {
  return (await recordsOf(clientOf(brokers), topic)).map(asLogRecord)
}

export function asLogRecord({ partition, offset, key, value }: TopicRecord): LogRecord {
  return { partition, offset: Number(offset), key: key && String(key), value: value && String(value) }
}
