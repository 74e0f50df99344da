import type { ITopicConfig } from 'kafkajs'
import { expect, it } from 'vitest'
import type { KafkaLogOptions } from '../../src/event-log/kafka/kafka-boot.ts'
import { openKafkaEventLog } from '../../src/event-log/kafka/kafka-event-log.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { freePort } from '../brokers/ready.ts'
import { records } from './contract/fixture.ts'
import { logOptions, openKafkaLog, produce, withAdmin } from './kafka-fixture.ts'

const keptForEver = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' }

describeWithBrokers('the boot on Kafka', ({ kafkaBrokers: brokers }) => {
  it('takes topics that were made by hand as they should be', async () => {
    const options = logOptions(brokers)
    await makeTopics(topic(options.topic, 3), topic(`${options.topic}.id-blocks`, 1))
    const log = await openKafkaLog(options)
    expect(await log.append(2, records('a'))).toBe(0)
  })

  it.each([
    [
      'another partition count',
      '',
      2,
      {},
      'has 2 partitions, but KAFKA_PARTITIONS is 3. Set KAFKA_PARTITIONS=2, or set KAFKA_TOPIC to',
    ],
    ['id blocks that are forgotten', '.id-blocks', 1, { 'retention.ms': '1000000' }, 'has retention.ms=1000000'],
    ['id blocks in several partitions', '.id-blocks', 2, {}, 'has 2 partitions instead'],
  ])('refuses %s', async (_, suffix, partitions, changed, refusal) => {
    const options = logOptions(brokers)
    const name = `${options.topic}${suffix}`
    await makeTopics(topic(name, partitions, changed))
    await expectRefusal(options, `Topic ${name} ${refusal}`)
  })

  it('refuses another partition count than the log was created with', async () => {
    const options = logOptions(brokers)
    await openKafkaLog(options)
    const topicPartitions = [{ topic: options.topic, count: 4 }]
    await withAdmin(brokers, (admin) => admin.createPartitions({ topicPartitions }))
    await expectRefusal(
      { ...options, partitions: 4 },
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
    await expectRefusal(
      options,
      `Topic ${options.topic} has ${name}=${found}, so Kafka would delete events, which are kept for ever. Run ` +
        `kafka-configs.sh --bootstrap-server ${brokers} --alter --entity-type topics --entity-name ${options.topic} ` +
        `--add-config ${name}=${wanted}`,
    )
  })

  it.each(['', '.id-blocks'])('refuses a log whose first records were deleted (<topic>%s)', async (suffix) => {
    const options = logOptions(brokers)
    const log = await openKafkaLog(options)
    await log.append(0, records('a', 'b', 'c'))
    await log.reserveIdBlock()
    const name = `${options.topic}${suffix}`
    await withAdmin(brokers, async (admin) => {
      await admin.fetchTopicOffsets(name) // kafkajs has to know the topic first
      await admin.deleteTopicRecords({ topic: name, partitions: [{ partition: 0, offset: '1' }] })
    })
    await expectRefusal(
      options,
      `Partition 0 of topic ${name} begins at offset 1: the records before were deleted. Restore the topic from a backup`,
    )
  })

  it('refuses events beside an empty topic of id blocks', async () => {
    const options = logOptions(brokers)
    await makeTopics(topic(options.topic, 3))
    await produce(brokers, options.topic, { key: 'k', value: 'v', partition: 1 })
    const refusal = `Topic ${options.topic}.id-blocks is empty, but ${options.topic} holds events: ids would be given a second`
    await expectRefusal(options, refusal)
    await expectRefusal(options, refusal) // the first attempt has not made it look right
  })

  it.each(['garbage', '{"logId":"x"}', '"text"', 'null', null])(
    'refuses %j as the identity of the log',
    async (value) => {
      const options = logOptions(brokers)
      await makeTopics(topic(`${options.topic}.id-blocks`, 1))
      await produce(brokers, `${options.topic}.id-blocks`, { key: null, value, partition: 0 })
      await expectRefusal(options, `The first record of topic ${options.topic}.id-blocks is not the identity of a log`)
    },
  )

  it('refuses a topic name that Kafka does not take, at once', async () => {
    await expectRefusal(
      logOptions(brokers, { topic: 'no such name' }),
      /Kafka does not let topic no such name.* be created: .*invalid topic.*KAFKA_TOPIC/,
    )
  })

  it('says which brokers do not answer', async () => {
    const nobody = `127.0.0.1:${await freePort()}`
    await expectRefusal(
      logOptions(nobody, { bootTimeoutMs: 1500 }),
      `Kafka at ${nobody} does not answer as it should, for 1.5 s now: Connection error: connect ECONNREFUSED ${nobody}`,
    )
  })

  async function expectRefusal(options: KafkaLogOptions, message: string | RegExp): Promise<void> {
    await expect(openKafkaEventLog(options)).rejects.toThrow(message)
  }

  async function makeTopics(...topics: ITopicConfig[]): Promise<void> {
    await withAdmin(brokers, (admin) => admin.createTopics({ topics }))
  }
})

function topic(name: string, numPartitions: number, changed: Record<string, string> = {}): ITopicConfig {
  const configEntries = Object.entries({ ...keptForEver, ...changed }).map(([key, value]) => ({ name: key, value }))
  return { topic: name, numPartitions, replicationFactor: 1, configEntries }
}
