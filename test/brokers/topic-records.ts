import { randomUUID } from 'node:crypto'
import type { Kafka, KafkaMessage } from 'kafkajs'
import { askKafka, until } from './ready.ts'

const readMs = 60_000

export type TopicRecord = KafkaMessage & { readonly partition: number }

/**
 * Every record of a topic as it stands now, partition by partition, in log order within each; of transactions those that
 * are committed. Resolves once the transactions that are open now have ended.
 */
export async function recordsOf(kafka: Kafka, topic: string): Promise<TopicRecord[]> {
  const ends = await askKafka(kafka, (admin) => admin.fetchTopicOffsets(topic))
  const found: TopicRecord[] = []
  const reached = new Map<number, number>()
  const consumer = kafka.consumer({ groupId: `reader-${randomUUID()}`, maxWaitTimeInMs: 100 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  // Also for batches of nothing but markers and aborted records, which no handler gets.
  consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { partition, lastOffset } }) => {
    reached.set(partition, Number(lastOffset) + 1)
  })
  await consumer.run({
    eachMessage: async ({ partition, message }) => void found.push({ partition, ...message }),
  })
  try {
    await until(`topic ${topic} is read`, readMs, async () =>
      ends.every(({ partition, high }) => (reached.get(partition) ?? 0) >= Number(high)),
    )
  } finally {
    await consumer.disconnect()
  }
  return found.sort((one, other) => one.partition - other.partition)
}
