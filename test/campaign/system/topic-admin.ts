import kafkajs from 'kafkajs'
import { askKafka } from '../../brokers/ready.ts'
import { recordsOf } from '../../brokers/topic-records.ts'
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
  const records = await recordsOf(clientOf(brokers), topic)
  return records.map(({ partition, offset, key, value }) => ({
    partition,
    offset: Number(offset),
    key: key && String(key),
    value: value && String(value),
  }))
}
