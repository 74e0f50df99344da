import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { createTopics, deleteTopics, type TopicRecord } from '../brokers/topics.ts'
import { Client, createMany } from './client.ts'
import {
  deleteBesideService,
  expectPublished,
  idsOf,
  patience,
  positionsOf,
  publishedOf,
  publishingOf,
  untilStandsStill,
} from './published-topic.ts'
import { brokerEnvironment, type ServiceProcess, startService, stop } from './service.ts'
import { createTopic, logIdOf, produce, readTopic, type Topic } from './topic.ts'

const positionsPartitions = 6

interface Setting {
  readonly name: string
  readonly value: string
}
const compacted: Setting[] = [{ name: 'cleanup.policy', value: 'compact' }]

function makeTopic({ KAFKA_BROKERS, KAFKA_TOPIC: topic }: Topic, numPartitions: number, configEntries: Setting[] = []) {
  return createTopics(KAFKA_BROKERS, { topic, numPartitions, configEntries })
}

/** As another program would write them, to their partitions. */
function restore(topic: Topic, records: readonly TopicRecord[]): Promise<void> {
  return produce(
    topic,
    records.map(({ partition, key, value }) => ({ partition, key, value })),
  )
}

describeWithBrokers('a topic of what is published that is not as it was left', (brokers) => {
  /** Stopped, with something published in each partition. */
  async function published() {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const client = new Client(service)
    const streams = idsOf(await createMany(client, 60))
    await expectPublished(environment, client, streams)
    await stop(service)
    return { environment, streams }
  }
  /** The others are deleted, as the message says; then all is told. */
  async function expectBack(service: ServiceProcess, streams: readonly number[], ...topics: Topic[]): Promise<void> {
    const environment = topics[0] as Topic
    const journal = { ...environment, KAFKA_TOPIC: environment.KAFKA_TOPIC.replace(/\.(published|positions)$/, '') }
    await deleteBesideService(...topics)
    const client = new Client(service)
    const more = idsOf(await createMany(client, 12))
    await expectPublished(journal, client, [...streams, ...more])
  }

  it('has lost its end: nothing is told there, until it is deleted', async () => {
    const { environment, streams } = await published()
    const records = await readTopic(publishedOf(environment))
    const byPartition = [...Map.groupBy(records, ({ partition }) => partition).values()]
    await deleteTopics(brokers.kafkaBrokers, publishedOf(environment).KAFKA_TOPIC)
    await createTopic(publishedOf(environment))
    await restore(
      publishedOf(environment),
      byPartition.flatMap((of) => of.slice(0, 1)),
    )
    const service = await startService(environment)
    await untilStandsStill(service, /has lost its end: .*Delete the topic/)
    await expectBack(service, streams, publishedOf(environment))
  })

  it('is behind what was published: the end of the positions is gone', async () => {
    const { environment, streams } = await published()
    const positions = await readTopic(positionsOf(environment))
    const first = [...Map.groupBy(positions, ({ key }) => String(key)).values()].flatMap((of) => of.slice(0, 1))
    const second = await startService(environment)
    streams.push(...idsOf(await createMany(new Client(second), 60)))
    await expectPublished(environment, new Client(second), streams)
    await stop(second)
    await deleteTopics(brokers.kafkaBrokers, positionsOf(environment).KAFKA_TOPIC)
    await makeTopic(positionsOf(environment), positionsPartitions, compacted)
    await restore(positionsOf(environment), first)
    const service = await startService(environment)
    await untilStandsStill(service, /positions has lost its end, or another program writes here/)
    await expectBack(service, streams, publishedOf(environment), positionsOf(environment))
  })

  it('has a record of a stranger', async () => {
    const { environment, streams } = await published()
    const stranger = { key: '1', value: 'stranger', partition: 1 }
    await produce(publishedOf(environment), [stranger])
    const service = await startService(environment)
    await untilStandsStill(service, /another program writes here\. Take away its right/)
    await expectBack(service, streams, publishedOf(environment), positionsOf(environment))
    await stop(service)

    await produce(positionsOf(environment), [stranger])
    const again = await startService(environment)
    await untilStandsStill(again, /positions has something else than a position at offset \d+: another program/)
    await deleteBesideService(positionsOf(environment), publishedOf(environment))
    const client = new Client(again)
    const all = idsOf(await client.list())
    await expectPublished(environment, client, all)
  })

  it('is of another log', async () => {
    const { environment, streams } = await published()
    const position = { logId: 'another', next: 0, last: null, told: 0, ends: {} }
    expect(await logIdOf(environment)).not.toBe(position.logId)
    await produce(positionsOf(environment), [{ partition: 0, key: '0', value: JSON.stringify(position) }])
    const service = await startService(environment)
    await untilStandsStill(service, /is of another event log/)
    await expectBack(service, streams, publishedOf(environment), positionsOf(environment))
  })

  it.each<[string, (topic: Topic) => Topic, number, Setting[], RegExp]>([
    ['published, with another number of partitions', publishedOf, 1, [], /published has 1 partitions instead of 6/],
    ['published, compacted', publishedOf, 6, compacted, /published has cleanup.policy=compact instead of delete/],
    [
      'positions, with an odd number of partitions',
      positionsOf,
      1,
      compacted,
      /positions has 1 partitions instead of an/,
    ],
    ['positions, not compacted', positionsOf, 6, [], /positions has cleanup.policy=delete instead of compact/],
  ])('was made by somebody else: %s', async (_, topicOf, partitions, settings, reason) => {
    const environment = brokerEnvironment(brokers)
    await makeTopic(topicOf(environment), partitions, settings)
    const service = await startService(environment)
    const client = new Client(service)
    const streams = idsOf(await createMany(client, 12))
    await untilStandsStill(service, reason)
    await expectBack(service, streams, topicOf(environment))
  })

  it('was made with the retention of the brokers: it is used, and an operator is told', async () => {
    const environment = brokerEnvironment(brokers)
    await makeTopic(publishedOf(environment), 6)
    const service = await startService(environment)
    const client = new Client(service)
    const streams = idsOf(await createMany(client, 12))
    await expectPublished(environment, client, streams)
    const message = expect.stringMatching(/retention\.ms=604800000 by the default .*--add-config retention\.ms=-1/)
    const warnings = [{ code: 'published_can_be_deleted', message }]
    const publishers = [{ publisher: 'events', warnings }, { publisher: 'documents' }]
    await vi.waitFor(
      async () => expect(await publishingOf(service)).toMatchObject({ status: 'up', publishers }),
      patience,
    )
  })
})
