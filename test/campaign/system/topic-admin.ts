import type { Admin, Kafka } from 'kafkajs'
import { askKafka, kafkaClient } from '../../brokers/ready.ts'
import { recordsOf, type TopicRecord } from '../../brokers/topics.ts'
import type { LogRecord } from '../../judge/history.ts'

export function clientOf(brokers: string): Kafka {
  return kafkaClient(brokers, { requestTimeout: 5000 })
}

export function asAdmin<T>(brokers: string, work: (admin: Admin) => Promise<T>): Promise<T> {
  return askKafka(clientOf(brokers), work)
}

/** Every record of a topic as it stands now; an empty one wherever transactions have left none. */
export async function readLog(brokers: string, topic: string): Promise<LogRecord[]> {
  const ends = await asAdmin(brokers, (admin) => admin.fetchTopicOffsets(topic))
  const found = Map.groupBy((await recordsOf(clientOf(brokers), topic)).map(asLogRecord), (each) => each.partition)
  return ends.flatMap(({ partition, high }) => withoutGaps(partition, found.get(partition) ?? [], Number(high)))
}

export async function readCommitted(brokers: string, topic: string): Promise<LogRecord[]> {
  return (await recordsOf(clientOf(brokers), topic)).map(asLogRecord)
}

function withoutGaps(partition: number, records: readonly LogRecord[], end: number): LogRecord[] {
  const byOffset = new Map(records.map((record) => [record.offset, record]))
  const last = records.at(-1)?.offset ?? -1
  return Array.from({ length: Math.max(end, last + 1) }, (_, offset) => {
    return byOffset.get(offset) ?? { partition, offset, key: null, value: null }
  })
}

export function asLogRecord({ partition, offset, key, value }: TopicRecord): LogRecord {
  return { partition, offset: Number(offset), key: key && String(key), value: value && String(value) }
}
