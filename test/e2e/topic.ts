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
