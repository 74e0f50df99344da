import kafkajs, { type KafkaMessage } from 'kafkajs'
import { expect, vi } from 'vitest'
import { askKafka } from '../brokers/ready.ts'
import { recordsOf, type TopicRecord } from '../brokers/topic-records.ts'
import { ReferenceConsumer } from '../projector/reference-consumer.ts'
import { byId, type Order, type Pet } from './client.ts'

const patience = { timeout: 60_000, interval: 50 }

/** The variables of a service that locate its events. */
export interface Topic {
  readonly KAFKA_BROKERS: string
  readonly KAFKA_TOPIC: string
}

/** A plain client, as any program that reads the events would make one. */
export function kafkaClient(brokers: string): kafkajs.Kafka {
  const { NOTHING: logLevel } = kafkajs.logLevel
  return new kafkajs.Kafka({ brokers: brokers.split(','), logLevel, retry: { retries: 20 } })
}

export function asAdmin<T>(brokers: string, work: (admin: kafkajs.Admin) => Promise<T>): Promise<T> {
  return askKafka(kafkaClient(brokers), work)
}

export function readTopic({ KAFKA_BROKERS, KAFKA_TOPIC }: Topic): Promise<TopicRecord[]> {
  return recordsOf(kafkaClient(KAFKA_BROKERS), KAFKA_TOPIC)
}

/** As the first record of the id blocks has it. */
export async function logIdOf(topic: Topic): Promise<string> {
  const [first] = await readTopic({ ...topic, KAFKA_TOPIC: `${topic.KAFKA_TOPIC}.id-blocks` })
  return JSON.parse(String(first?.value)).epoch
}

/** How many records the topic has. */
export async function storedCount({ KAFKA_BROKERS, KAFKA_TOPIC }: Topic): Promise<number> {
  const ends = await asAdmin(KAFKA_BROKERS, (admin) => admin.fetchTopicOffsets(KAFKA_TOPIC))
  return ends.reduce((sum, { high }) => sum + Number(high), 0)
}

/** The pets of the log. */
export async function readPets(topic: Topic): Promise<Pet[]> {
  return byId(new Consumer(await readTopic(topic)).pets.values())
}

interface NewEvent {
  readonly eventId: string
  readonly pet: Pet
  readonly streamversion?: number
}

/** The record of a PetCreated event, about as the service writes it. */
export function petCreated({ eventId, pet, streamversion }: NewEvent): { key: string; value: string } {
  const subject = String(pet.id)
  const envelope = { specversion: '1.0', id: eventId, type: 'petstore.PetCreated.v1', source: '/v1/pets' }
  return { key: subject, value: JSON.stringify({ ...envelope, subject, streamversion, data: pet }) }
}

export interface NewMessage {
  /** Chosen by the key where there is none. */
  readonly partition?: number
  readonly key?: string | Buffer | null
  readonly value: string | Buffer | null
}

/** Writes to the topic as another program may. */
export async function produce(
  { KAFKA_BROKERS, KAFKA_TOPIC: topic }: Topic,
  messages: readonly NewMessage[],
  compression: kafkajs.CompressionTypes = kafkajs.CompressionTypes.None,
) {
  const { DefaultPartitioner: createPartitioner } = kafkajs.Partitioners
  const producer = kafkaClient(KAFKA_BROKERS).producer({ createPartitioner })
  await producer.connect()
  // One request each where they are large: together they might be more than a broker takes.
  const size = messages.some(({ value }) => (value?.length ?? 0) > 1000) ? 1 : messages.length
  for (let at = 0; at < messages.length; at += size) {
    await producer.send({ topic, compression, messages: messages.slice(at, at + size) })
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
export async function createTopic({ KAFKA_BROKERS, KAFKA_TOPIC: topic }: Topic, numPartitions = 6): Promise<void> {
  const configEntries = ['retention.ms', 'retention.bytes'].map((name) => ({ name, value: '-1' }))
  await asAdmin(KAFKA_BROKERS, async (admin) => {
    await admin.createTopics({ topics: [{ topic, numPartitions, configEntries }], waitForLeaders: false })
    await vi.waitFor(async () => expect(await admin.fetchTopicOffsets(topic)).toHaveLength(numPartitions), patience)
  })
}

/** An event as it stands in the log. */
export interface StoredEvent {
  readonly id: string
  readonly type: string
  readonly time: string
  readonly streamversion?: number
  readonly idempotencykey?: string
  readonly data: Pet & { readonly orderId: number; readonly petId: number }
}

/** What a consumer by the rule of docs/events.md makes of the topic: messages of each partition in log order. */
export class Consumer {
  /** Every event that adds a pet, also those that did not take effect. */
  readonly creations: StoredEvent[] = []
  readonly pets = new Map<number, Pet>()
  readonly orders = new Map<number, Order>()
  /** Every status that an order had. */
  readonly history = new Map<number, string[]>()
  /** What was counted although its pet or order did not allow it. */
  readonly impossible: readonly unknown[]

  constructor(messages: readonly KafkaMessage[]) {
    const consumer = new ReferenceConsumer()
    for (const message of messages) {
      const event: StoredEvent = JSON.parse(String(message.value))
      if (event.type === 'petstore.PetCreated.v1') this.creations.push(event)
      const effect = consumer.read(message)
      if (effect === undefined) continue
      const { pet, order } = effect
      this.pets.set(pet.id, { ...pet, categoryId: Number(pet.categoryId) })
      if (order === undefined) continue
      this.orders.set(order.id, order)
      this.history.set(order.id, [...(this.history.get(order.id) ?? []), order.status])
    }
    this.impossible = consumer.unread
  }
}
