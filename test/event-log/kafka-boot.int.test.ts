import type { ITopicConfig } from 'kafkajs'
import { expect, it } from 'vitest'
import { openKafkaEventLog } from '../../src/event-log/kafka/kafka-event-log.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { freePort } from '../brokers/ready.ts'
import { records } from './contract/fixture.ts'
import { logOptions, produce, withAdmin } from './kafka-fixture.ts'

const keptForEver = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' }

describeWithBrokers('the boot on Kafka', ({ kafkaBrokers: brokers }) => {
  it('takes topics that were made by hand as they should be', async () => {
    const options = logOptions(brokers)
    await makeTopics(topic(options.topic, 3), topic(`${options.topic}.id-blocks`, 1))
    const log = await openKafkaEventLog(options)
    expect(await log.append(2, records('a'))).toBe(0)
    await log.close()
  })

  it('refuses another partition count than the configured one', async () => {
    const options = logOptions(brokers)
    await makeTopics(topic(options.topic, 2))
    await expect(openKafkaEventLog(options)).rejects.toThrow(
      `Topic ${options.topic} has 2 partitions, but KAFKA_PARTITIONS is 3. Set KAFKA_PARTITIONS=2, or set KAFKA_TOPIC to`,
    )
  })

  it('refuses another partition count than the log was created with', async () => {
    const options = logOptions(brokers)
    await (await openKafkaEventLog(options)).close()
    await withAdmin(brokers, (admin) =>
      admin.createPartitions({ topicPartitions: [{ topic: options.topic, count: 4 }] }),
    )
    await expect(openKafkaEventLog({ ...options, partitions: 4 })).rejects.toThrow(
      `Topic ${options.topic} has 4 partitions, but was created with 3 (first record of ${options.topic}.id-blocks)`,
    )
  })

  it.each([
    ['retention.ms', '604800000', '-1'],
    ['retention.bytes', '1000000', '-1'],
    ['cleanup.policy', 'compact', 'delete'],
    ['cleanup.policy', 'compact,delete', 'delete'],
  ])('refuses a topic of events with %s=%s', async (name, found, wanted) => {
    const options = logOptions(brokers)
    await makeTopics(topic(options.topic, 3, { ...keptForEver, [name]: found }))
    await expect(openKafkaEventLog(options)).rejects.toThrow(
      `Topic ${options.topic} has ${name}=${found}, so Kafka would delete events, which are kept for ever. Run ` +
        `kafka-configs.sh --bootstrap-server ${brokers} --alter --entity-type topics --entity-name ${options.topic} ` +
        `--add-config ${name}=${wanted}`,
    )
  })

  it('refuses a topic of id blocks that forgets', async () => {
    const options = logOptions(brokers)
    await makeTopics(topic(`${options.topic}.id-blocks`, 1, { 'retention.ms': '1000000' }))
    await expect(openKafkaEventLog(options)).rejects.toThrow(
      `Topic ${options.topic}.id-blocks has retention.ms=1000000`,
    )
  })

  it('refuses a topic of id blocks with more than one partition', async () => {
    const options = logOptions(brokers)
    await makeTopics(topic(`${options.topic}.id-blocks`, 2))
    await expect(openKafkaEventLog(options)).rejects.toThrow(
      `Topic ${options.topic}.id-blocks has 2 partitions instead`,
    )
  })

  it.each(['', '.id-blocks'])('refuses a log whose first records were deleted (<topic>%s)', async (suffix) => {
    const options = logOptions(brokers)
    const log = await openKafkaEventLog(options)
    await log.append(0, records('a', 'b', 'c'))
    await log.reserveIdBlock()
    await log.close()
    const name = `${options.topic}${suffix}`
    await withAdmin(brokers, async (admin) => {
      await admin.fetchTopicOffsets(name) // kafkajs has to know the topic first
      await admin.deleteTopicRecords({ topic: name, partitions: [{ partition: 0, offset: '1' }] })
    })
    await expect(openKafkaEventLog(options)).rejects.toThrow(
      `Partition 0 of topic ${name} begins at offset 1: the records before were deleted. Restore the topic from a backup`,
    )
  })

  it('refuses events beside an empty topic of id blocks', async () => {
    const options = logOptions(brokers)
    await makeTopics(topic(options.topic, 3))
    await produce(brokers, options.topic, { key: 'k', value: 'v', partition: 1 })
    const refusal = `Topic ${options.topic}.id-blocks is empty, but ${options.topic} holds events: ids would be given a second`
    await expect(openKafkaEventLog(options)).rejects.toThrow(refusal)
    await expect(openKafkaEventLog(options)).rejects.toThrow(refusal) // the first attempt has not made it look right
  })

  it.each(['garbage', '{"logId":"x"}', '"text"', 'null', null])(
    'refuses %j as the identity of the log',
    async (value) => {
      const options = logOptions(brokers)
      await makeTopics(topic(`${options.topic}.id-blocks`, 1))
      await produce(brokers, `${options.topic}.id-blocks`, { key: null, value, partition: 0 })
      await expect(openKafkaEventLog(options)).rejects.toThrow(
        `The first record of topic ${options.topic}.id-blocks is not the identity of a log`,
      )
    },
  )

  it('refuses a topic name that Kafka does not take, at once', async () => {
    await expect(openKafkaEventLog(logOptions(brokers, { topic: 'no such name' }))).rejects.toThrow(
      /Kafka does not let topic no such name.* be created: .*invalid topic.*KAFKA_TOPIC/,
    )
  })

  it('says which brokers do not answer', async () => {
    const nobody = `127.0.0.1:${await freePort()}`
    await expect(openKafkaEventLog(logOptions(nobody, { bootTimeoutMs: 1500 }))).rejects.toThrow(
      `Kafka at ${nobody} does not answer as it should, for 1.5 s now: Connection error: connect ECONNREFUSED ${nobody}`,
    )
  })

  async function makeTopics(...topics: ITopicConfig[]): Promise<void> {
    await withAdmin(brokers, (admin) => admin.createTopics({ topics }))
  }
})

function topic(name: string, numPartitions: number, changed: Record<string, string> = {}): ITopicConfig {
  const configEntries = Object.entries({ ...keptForEver, ...changed }).map(([key, value]) => ({ name: key, value }))
  return { topic: name, numPartitions, replicationFactor: 1, configEntries }
}
