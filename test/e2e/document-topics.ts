import { expect, vi } from 'vitest'
import { partitionOf } from '../../src/engine/log/kafka/default-partitioner.ts'
import { documentsTarget, type Filled } from '../../src/engine/log/published-log.ts'
import { resultOf } from '../brokers/program.ts'
import { asAdmin, type TopicRecord } from '../brokers/topics.ts'
import { type Client, inParallel } from './client.ts'
import { positionsOf } from './published-topic.ts'
import { startProgram } from './service.ts'
import { readTopic, type Topic } from './topic.ts'

const patience = { timeout: 60_000, interval: 250 }
const [partitions, lanes] = [6, 3]
const paths = { pets: '/v1/pets', orders: '/v1/store/orders', categories: '/v1/categories' } as const
type Collection = keyof typeof paths
export const collections = Object.keys(paths) as readonly Collection[]

/** The ids of all documents that ever were. */
export type Known = Readonly<Record<'pets' | 'orders', readonly number[]>> & { readonly categories?: readonly number[] }

/** The topic of the documents of a collection. */
export function documentTopicOf(topic: Topic, collection: string): Topic {
  return { ...topic, KAFKA_TOPIC: `${topic.KAFKA_TOPIC}.${documentsTarget(collection)}` }
}

/** A key is an id, or that of the stream that the document shows. */
function idIn(key: string): number {
  return Number(key.slice(key.indexOf('/') + 1))
}

/** What a consumer holds who has loaded the topic: the last record of each key. */
export async function tableOf(topic: Topic, collection: string): Promise<ReadonlyMap<number, TopicRecord>> {
  const records = await readTopic(documentTopicOf(topic, collection))
  return new Map(records.map((record) => [idIn(String(record.key)), record]))
}

/** The last value of every document becomes what GET shows, and null where that is 404; and there are no others. */
export async function expectTables(topic: Topic, client: Client, known: Known): Promise<void> {
  await vi.waitFor(async () => {
    for (const collection of collections) {
      const table = await tableOf(topic, collection)
      const told = [...table].map(([id, { value }]) => [id, value && String(value)] as const)
      expect(sorted(told)).toEqual(sorted(await shownBy(client, collection, known[collection] ?? [])))
      for (const { partition, key } of table.values()) expect(partition).toBe(partitionOf(String(key), partitions))
    }
  }, patience)
}

function sorted(documents: readonly (readonly [number, string | null])[]) {
  return documents.toSorted(([one], [other]) => one - other)
}

function shownBy(client: Client, collection: Collection, ids: readonly number[]) {
  return inParallel(ids.length, 16, async (index) => {
    const id = ids[index] ?? 0
    const { status, text } = await client.request(`${paths[collection]}/${id}`)
    expect([200, 404]).toContain(status)
    return [id, status === 200 ? text : null] as const
  })
}

/** Whose documents each partition of the journal has had, and how far they were copied, in the order of its positions. */
export async function fillingsOf(topic: Topic): Promise<ReadonlyMap<string, readonly Partial<Filled>[]>> {
  const records = await readTopic(positionsOf(topic))
  const ofDocuments = records.filter(({ partition, key }) => partition >= lanes && /^\d+$/.test(String(key)))
  const positions = [...Map.groupBy(ofDocuments, ({ key }) => String(key))]
  return new Map(positions.map(([key, of]) => [key, of.map(({ value }) => JSON.parse(String(value)).filled ?? {})]))
}

/** The copy of the read models is done in each partition of the journal: what follows is told after each event. */
export async function untilFilled(topic: Topic): Promise<void> {
  await vi.waitFor(async () => {
    const fillings = await fillingsOf(topic)
    expect(fillings.size).toBe(partitions)
    for (const filled of fillings.values()) expect(filled.at(-1)).toEqual({ projections: expect.any(String) })
  }, patience)
}

export interface PrintedRecord {
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
  readonly payload: unknown
}

/** All records of a topic, as any client of Kafka has them. */
export async function printedRecords({ KAFKA_BROKERS, KAFKA_TOPIC }: Topic): Promise<readonly PrintedRecord[]> {
  const { length } = await readTopic({ KAFKA_BROKERS, KAFKA_TOPIC })
  const printing = startProgram('./print-headers.ts', {}, KAFKA_BROKERS, KAFKA_TOPIC, String(length))
  const { code, output, errors } = await resultOf(printing)
  expect(code, errors).toBe(0)
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Those of the last record of each key, as text. */
export async function headersIn(topic: Topic, collection: string): Promise<ReadonlyMap<number, object>> {
  const records = await printedRecords(documentTopicOf(topic, collection))
  return new Map(records.map(({ key, headers }) => [idIn(key), headers]))
}

/** Beside a service, which makes them again. */
export function deleteDocumentTopics(topic: Topic, ...others: Topic[]): Promise<void> {
  const topics = [...collections.map((each) => documentTopicOf(topic, each)), ...others]
  return asAdmin(topic.KAFKA_BROKERS, (admin) =>
    admin.deleteTopics({ topics: topics.map(({ KAFKA_TOPIC }) => KAFKA_TOPIC) }),
  )
}
