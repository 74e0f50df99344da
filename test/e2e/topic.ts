import type { CompressionTypes } from 'kafkajs'
import { partitionOf } from '../../src/engine/log/kafka/default-partitioner.ts'
import {
  asAdmin,
  createTopics,
  type NewMessage,
  patientKafka,
  produceTo,
  recordsOf,
  type TopicRecord,
} from '../brokers/topics.ts'
import { eventRecord } from '../lib/event-record.ts'
import { ReferenceConsumer } from '../store/reference-consumer.ts'
import { byId, type Order, type Pet } from './client.ts'

/** The variables of a service that locate its events. */
export interface Topic {
  readonly KAFKA_BROKERS: string
  readonly KAFKA_TOPIC: string
}

export function readTopic({ KAFKA_BROKERS, KAFKA_TOPIC }: Topic): Promise<TopicRecord[]> {
  return recordsOf(patientKafka(KAFKA_BROKERS), KAFKA_TOPIC)
}

/** The topic of the id blocks. */
export function idBlocksOf(topic: Topic): Topic {
  return { ...topic, KAFKA_TOPIC: `${topic.KAFKA_TOPIC}.id-blocks` }
}

/** As the first record of the id blocks has it. */
export async function logIdOf(topic: Topic): Promise<string> {
  const [first] = await readTopic(idBlocksOf(topic))
  return JSON.parse(String(first?.value)).epoch
}

/** How many records the topic has. */
export async function storedCount({ KAFKA_BROKERS, KAFKA_TOPIC }: Topic): Promise<number> {
  const ends = await asAdmin(KAFKA_BROKERS, (admin) => admin.fetchTopicOffsets(KAFKA_TOPIC))
  return ends.reduce((sum, { high }) => sum + Number(high), 0)
}

/** The pets of the log. */
export async function readPets(topic: Topic): Promise<Pet[]> {
  return consumed(await readTopic(topic)).pets
}

interface NewEvent {
  readonly eventId: string
  readonly pet: Pet
  readonly streamversion?: number
  /** In the type of the event; 1 when omitted. */
  readonly typeVersion?: number
}

/** The record of a PetCreated event, about as the service writes it. */
export function petCreated({ eventId, pet, streamversion, typeVersion = 1 }: NewEvent): { key: string; value: string } {
  const subject = String(pet.id)
  const type = `petstore.PetCreated.v${typeVersion}`
  return eventRecord({ id: eventId, type, source: '/v1/pets', subject, streamversion, data: pet })
}

/** The record of a change of a pet, by another program. */
export function petChanged({ pet, streamversion, typeVersion = 1 }: Omit<NewEvent, 'eventId'>) {
  const type = `petstore.PetChanged.v${typeVersion}`
  const [id, subject] = [`change ${pet.id} ${streamversion} ${pet.name}`, String(pet.id)]
  return eventRecord({ id, type, source: '/v1/pets', subject, streamversion, data: pet })
}

/** An id that was never drawn, in the partition of this one. */
export function otherIdBeside(id: number): number {
  let other = 5_000_001
  while (partitionOf(String(other), 6) !== partitionOf(String(id), 6)) other++
  return other
}

/** Writes to the topic as another program may. */
export function produce(
  { KAFKA_BROKERS, KAFKA_TOPIC }: Topic,
  messages: readonly NewMessage[],
  compression?: CompressionTypes,
): Promise<void> {
  return produceTo(KAFKA_BROKERS, KAFKA_TOPIC, messages, compression)
}

/** As the service makes it; resolves once each partition has a leader. */
export function createTopic({ KAFKA_BROKERS, KAFKA_TOPIC: topic }: Topic, numPartitions = 6): Promise<void> {
  const configEntries = ['retention.ms', 'retention.bytes'].map((name) => ({ name, value: '-1' }))
  return createTopics(KAFKA_BROKERS, { topic, numPartitions, configEntries })
}

/** What a consumer by the rule of docs/journal.md makes of the topic: records of each partition in log order. */
export function consumed(records: readonly TopicRecord[]): { pets: Pet[]; orders: Order[] } {
  const consumer = new ReferenceConsumer()
  for (const record of records) consumer.read(record)
  return { pets: byId(Object.values(consumer.pets) as unknown as Pet[]), orders: byId(Object.values(consumer.orders)) }
}

/** Every event that adds a pet, also those that did not take effect. */
export function creationsIn(records: readonly TopicRecord[]) {
  const events = records.map(({ value }) => JSON.parse(String(value)))
  return events.filter(({ type }) => type.startsWith('petstore.PetCreated.')) as {
    readonly id: string
    readonly idempotencykey?: string
    readonly data: Pet
  }[]
}
