import { randomUUID } from 'node:crypto'
import kafkajs, { type Admin, type ITopicConfig, type Kafka, type KafkaMessage } from 'kafkajs'
import { askKafka, kafkaClient, until } from './ready.ts'

const patienceMs = 60_000

/** A client as any other program would use, for as long as a broker may take to be there. */
export function patientKafka(brokers: string): Kafka {
  return kafkaClient(brokers, { retry: { retries: 20 } })
}

export function asAdmin<T>(brokers: string, work: (admin: Admin) => Promise<T>): Promise<T> {
  return askKafka(patientKafka(brokers), work)
}

/** Resolves once each partition has a leader. kafkajs itself gives up where a busy broker does not know of the topic yet. */
export async function createTopics(brokers: string, ...topics: ITopicConfig[]): Promise<void> {
  const names = topics.map(({ topic }) => topic)
  await asAdmin(brokers, async (admin) => {
    await admin.createTopics({ topics, waitForLeaders: false })
    // What metadata tell of leaders, a broker may not know itself yet.
    await until('every partition has a leader that answers', patienceMs, async () => {
      const asked = await Promise.allSettled(names.map((topic) => admin.fetchTopicOffsets(topic)))
      return asked.every(({ status }) => status === 'fulfilled')
    })
  })
}

/** Resolves once no broker knows them. */
export async function deleteTopics(brokers: string, ...topics: string[]): Promise<void> {
  await asAdmin(brokers, async (admin) => {
    await admin.deleteTopics({ topics })
    const left = async () => (await admin.listTopics()).filter((topic) => topics.includes(topic))
    await until('the topics are gone', patienceMs, async () => (await left()).length === 0)
  })
}

export interface NewMessage {
  /** Chosen by the key where there is none. */
  readonly partition?: number
  readonly key?: string | Buffer | null
  readonly value: string | Buffer | null
}

/** Writes to a topic as another program may. */
export async function produceTo(
  brokers: string,
  topic: string,
  messages: readonly NewMessage[],
  compression: kafkajs.CompressionTypes = kafkajs.CompressionTypes.None,
): Promise<void> {
  const { DefaultPartitioner: createPartitioner } = kafkajs.Partitioners
  const producer = patientKafka(brokers).producer({ createPartitioner })
  await producer.connect()
  try {
    // One request each where they are large: together they might be more than a broker takes.
    const size = messages.some(({ value }) => (value?.length ?? 0) > 1000) ? 1 : messages.length
    for (let at = 0; at < messages.length; at += size) {
      await producer.send({ topic, compression, messages: messages.slice(at, at + size) })
    }
  } finally {
    await producer.disconnect()
  }
}

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
    await until(`topic ${topic} is read`, patienceMs, async () =>
      ends.every(({ partition, high, low }) => Math.max(Number(low), reached.get(partition) ?? 0) >= Number(high)),
    )
  } finally {
    await consumer.disconnect()
  }
  return found.sort((one, other) => one.partition - other.partition)
}
