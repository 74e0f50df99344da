import kafkajs from 'kafkajs'
import type { Database } from './database.ts'
import type { Effect } from './rule.ts'

const {
  KAFKA_BROKERS = '127.0.0.1:9092',
  KAFKA_TOPIC: topic = 'petstore.pets',
  KAFKA_TLS = 'false',
  KAFKA_SASL_USERNAME: username,
  KAFKA_SASL_PASSWORD: password = '',
} = process.env

/**
 * Reads the topic as a member of a consumer group, from where the database is, until the process is told to end. The group
 * shares out the partitions; offsets committed to it serve tools that show the lag, and nothing else.
 */
export async function follow(
  groupId: string,
  database: Database,
  handle: (effect: Effect, at: { readonly partition: number; readonly offset: number }) => void,
): Promise<void> {
  const kafka = new kafkajs.Kafka({
    clientId: groupId,
    brokers: KAFKA_BROKERS.split(','),
    ssl: KAFKA_TLS === 'true',
    ...(username === undefined ? {} : { sasl: { mechanism: 'plain', username, password } }),
    logLevel: kafkajs.logLevel.ERROR,
  })
  const partitionFor = await checkTopic(kafka, database)
  const consumer = kafka.consumer({
    groupId,
    allowAutoTopicCreation: false,
    sessionTimeout: 6000,
    maxWaitTimeInMs: 100,
  })
  const end = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end.resolve())
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (!payload.restart) end.reject(payload.error)
  })
  consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
    for (const partition of payload.memberAssignment[topic] ?? []) {
      consumer.seek({ topic, partition, offset: String(database.next(partition)) })
    }
  })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachBatch: async ({ batch: { partition, messages } }) => {
      const records = messages.map(({ key, value, offset }) => ({ partition, key, value, offset: Number(offset) }))
      try {
        database.take({ partition, records }, partitionFor, (effect, offset) => handle(effect, { partition, offset }))
      } catch (error) {
        end.reject(error) // kafkajs would try again for ever
        throw error
      }
    },
  })
  try {
    await end.promise
  } finally {
    await consumer.disconnect()
  }
}

/** Resolves to the default partitioner for this topic. Throws if the database is ahead of the topic. */
async function checkTopic(kafka: kafkajs.Kafka, database: Database): Promise<(key: string) => number> {
  const admin = kafka.admin()
  await admin.connect()
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  const ends = await admin.fetchTopicOffsets(topic)
  await admin.disconnect()
  for (const { partition, high } of ends) {
    const next = database.next(partition)
    if (next <= Number(high)) continue
    throw new Error(
      `The database is at offset ${next} of partition ${partition}, and ${topic} ends at ${high}. ` +
        'It belongs to another topic, or the topic was made anew. Delete the database to begin again.',
    )
  }
  const partitionMetadata = topics.flatMap(({ partitions }) => partitions)
  const choose = kafkajs.Partitioners.DefaultPartitioner()
  return (key) => choose({ topic, partitionMetadata, message: { key, value: null } })
}
