import { randomUUID } from 'node:crypto'
import kafkajs, { type KafkaMessage } from 'kafkajs'
import { expect, vi } from 'vitest'
import type { Pet } from './client.ts'

const patience = { timeout: 60_000, interval: 50 }

/** A plain client, as any program that reads the events would make one. */
export function kafkaClient(brokers: string): kafkajs.Kafka {
  return new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING, retry: { retries: 20 } })
}

/** Every record of a topic as it stands now, from offset 0 on, in log order within each partition. */
export async function readTopic(brokers: string, topic: string): Promise<KafkaMessage[]> {
  const kafka = kafkaClient(brokers)
  const ends = await endsOf(kafka, topic)
  const found = new Map([...ends.keys()].map((partition): [number, KafkaMessage[]] => [partition, []]))
  const consumer = kafka.consumer({ groupId: `reader-${randomUUID()}`, maxWaitTimeInMs: 100 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({ eachMessage: async ({ partition, message }) => void found.get(partition)?.push(message) })
  try {
    // Nothing is ever deleted from the topic, so its end is also the number of its records.
    await vi.waitFor(() => {
      for (const [partition, end] of ends) expect(found.get(partition)?.length).toBeGreaterThanOrEqual(end)
    }, patience)
  } finally {
    await consumer.disconnect()
  }
  return [...found.values()].flat()
}

/** How many records a topic has. */
export async function storedCount(brokers: string, topic: string): Promise<number> {
  const ends = await endsOf(kafkaClient(brokers), topic)
  return [...ends.values()].reduce((sum, end) => sum + end, 0)
}

async function endsOf(kafka: kafkajs.Kafka, topic: string): Promise<ReadonlyMap<number, number>> {
  const admin = kafka.admin()
  await admin.connect()
  const offsets = await admin.fetchTopicOffsets(topic)
  await admin.disconnect()
  return new Map(offsets.map(({ partition, high }) => [partition, Number(high)]))
}

/** A PetCreated event as it stands in the log. */
export interface StoredEvent {
  readonly eventId: string
  readonly pet: Pet
  readonly streamversion?: number | undefined
}

export async function readEvents(brokers: string, topic: string): Promise<StoredEvent[]> {
  return (await readTopic(brokers, topic)).map(({ value }) => {
    const { id, data } = JSON.parse(String(value))
    return { eventId: id, pet: data }
  })
}

/** The pets in these events: of several events with one id the first counts, as CloudEvents has it. */
export function petsIn(events: readonly StoredEvent[]): Pet[] {
  const first = new Map<string, Pet>()
  for (const { eventId, pet } of events) if (!first.has(eventId)) first.set(eventId, pet)
  return [...first.values()].sort((one, other) => one.id - other.id)
}

/** The record of such an event, about as the service writes it. */
export function petCreated({ eventId, pet, streamversion }: StoredEvent): { key: string; value: string } {
  const subject = String(pet.id)
  const envelope = { specversion: '1.0', id: eventId, type: 'petstore.PetCreated.v1', source: '/v1/pets' }
  return { key: subject, value: JSON.stringify({ ...envelope, subject, streamversion, data: pet }) }
}

export interface NewMessage {
  /** Chosen by the key where there is none. */
  readonly partition?: number
  readonly key?: string
  readonly value: string | null
}

/** Writes to the topic as another program may. */
export async function produce(
  { KAFKA_BROKERS, KAFKA_TOPIC: topic }: { KAFKA_BROKERS: string; KAFKA_TOPIC: string },
  messages: readonly NewMessage[],
): Promise<void> {
  const { DefaultPartitioner: createPartitioner } = kafkajs.Partitioners
  const producer = kafkaClient(KAFKA_BROKERS).producer({ createPartitioner })
  await producer.connect()
  // One request each where they are large: together they might be more than a broker takes.
  const size = messages.some(({ value }) => (value?.length ?? 0) > 1000) ? 1 : messages.length
  for (let at = 0; at < messages.length; at += size) {
    await producer.send({ topic, messages: messages.slice(at, at + size) })
  }
  await producer.disconnect()
}

/** Resolves once no broker knows them. */
export async function deleteTopics(brokers: string, ...topics: string[]): Promise<void> {
  await asAdmin(brokers, async (admin) => {
    await admin.deleteTopics({ topics })
    const left = async () => (await admin.listTopics()).filter((topic) => topics.includes(topic))
    await vi.waitFor(async () => expect(await left()).toEqual([]), patience)
  })
}

/** As the service makes it; resolves once each partition has a leader. */
export async function createTopic(brokers: string, topic: string): Promise<void> {
  const configEntries = ['retention.ms', 'retention.bytes'].map((name) => ({ name, value: '-1' }))
  await asAdmin(brokers, async (admin) => {
    await admin.createTopics({ topics: [{ topic, numPartitions: 6, configEntries }], waitForLeaders: false })
    await vi.waitFor(async () => expect(await admin.fetchTopicOffsets(topic)).toHaveLength(6), patience)
  })
}

async function asAdmin<T>(brokers: string, work: (admin: kafkajs.Admin) => Promise<T>): Promise<T> {
  const admin = kafkaClient(brokers).admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}
