import type { Admin } from 'kafkajs'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { openKafkaEventLog } from '../../../../src/engine/log/kafka/kafka-event-log.ts'
import { type KafkaCluster, startKafkaCluster } from '../../../brokers/clusters.ts'
import { describeWithBrokers, describeWithLocalBrokers } from '../../../brokers/describe.ts'
import { kafkaBrokersAnswering, until } from '../../../brokers/ready.ts'
import { asAdmin, settingsOf } from '../../../brokers/topics.ts'
import { captureLog } from '../../../lib/captured-log.ts'
import { records } from '../contract/fixture.ts'
import { RecordingSubscriber } from '../recording-subscriber.ts'
import { alterTopic, deleteRecords, logOptions, openKafkaLog, produce } from './kafka-fixture.ts'

const patience = { timeout: 60_000, interval: 50 }
const timeout = 150_000
const looked = [
  'cleanup.policy',
  'retention.ms',
  'retention.bytes',
  'compression.type',
  'message.timestamp.type',
  'flush.messages',
]

async function replicasOf(brokers: string, topic: string): Promise<number[]> {
  const { topics } = await asAdmin(brokers, (admin) => admin.fetchTopicMetadata({ topics: [topic] }))
  return topics.flatMap(({ partitions }) => partitions.map(({ replicas }) => replicas.length))
}

describeWithBrokers('the topics of a log', ({ kafkaBrokers: brokers }) => {
  it('are made so that brokers neither refuse, compress nor forget what they get', async () => {
    const options = logOptions(brokers)
    const log = await openKafkaLog(options)
    const made = {
      'cleanup.policy': 'delete',
      'retention.ms': '-1',
      'retention.bytes': '-1',
      'compression.type': 'producer',
      'message.timestamp.type': 'LogAppendTime',
    }
    expect(await settingsOf(brokers, options.topic, looked)).toMatchObject(made)
    expect(await settingsOf(brokers, `${options.topic}.id-blocks`, looked)).toMatchObject({
      ...made,
      'flush.messages': '1',
    })
    expect(log.warnings).toEqual([])
  })

  it('take records of a clock that is hours fast', async () => {
    const options = logOptions(brokers)
    const log = await openKafkaLog(options)
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3 * 3_600_000)
    try {
      expect(await log.append(0, records('a'))).toBe(0)
    } finally {
      now.mockRestore()
    }
  })

  it('are watched: each later change is logged once, and so is its resolution', { timeout }, async () => {
    const { lines, logger } = captureLog()
    const options = logOptions(brokers, { logger, topicLookMs: 100 })
    const { topic } = options
    const log = await openKafkaLog(options)
    await log.append(0, records('a', 'b'))

    await alterTopic(brokers, topic, { 'retention.ms': '604800000' })
    await vi.waitFor(() => expect(log.warnings.map(({ code }) => code)).toEqual(['records_can_be_deleted']), patience)
    expect(log.warnings[0]?.message).toBe(
      `Topic ${topic} has retention.ms=604800000, so Kafka would delete events, which must be kept forever. Run ` +
        `kafka-configs.sh --bootstrap-server ${brokers} --alter --entity-type topics --entity-name ${topic} ` +
        `--add-config retention.ms=-1`,
    )

    await alterTopic(brokers, topic, { 'retention.ms': '-1', 'min.insync.replicas': '2' })
    await deleteRecords(brokers, topic, 1)
    await asAdmin(brokers, (admin) => admin.createPartitions({ topicPartitions: [{ topic, count: 4 }] }))
    const codes = ['records_were_deleted', 'partitions_changed', 'wrong_min_insync_replicas']
    await vi.waitFor(() => expect(log.warnings.map(({ code }) => code)).toEqual(codes), patience)
    const warned = lines.filter(({ level }) => level === 40).map(({ code }) => code)
    expect(warned.toSorted()).toEqual(['records_can_be_deleted', ...codes].toSorted())
    const resolved = lines.filter(({ level, code }) => level === 30 && code !== undefined)
    expect(resolved).toMatchObject([{ code: 'records_can_be_deleted' }])
    expect(log.partitionFor('a')).toBeLessThan(3)
  })

  it('hold the log in the partitions that it began with alone', { timeout }, async () => {
    const options = logOptions(brokers)
    const { topic } = options
    const log = await openKafkaLog(options)
    await log.append(0, records('a'))
    await asAdmin(brokers, async (admin) => {
      await admin.createPartitions({ topicPartitions: [{ topic, count: 4 }] })
      await until('the added partition has a leader', 30_000, async () => {
        const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
        return topics.flatMap(({ partitions }) => partitions).filter(({ leader }) => leader >= 0).length === 4
      })
    })
    await produce(brokers, topic, { key: 'k', value: 'not of the log', partition: 3 })
    const subscriber = await RecordingSubscriber.on(log)
    onTestFinished(() => subscriber.close())
    await vi.waitFor(() => expect(subscriber.held).toEqual([0, 1, 2]), patience)
    await log.append(2, records('b'))
    await vi.waitFor(() => expect(subscriber.values(2)).toEqual(['b']), patience)
    expect(subscriber.assignments.flat()).not.toContain(3)
    expect(subscriber.of(3)).toEqual([])
    expect(await log.endOffsets()).toEqual([1, 0, 1])
  })

  it('made by an earlier release are accepted, with a warning about losses in a power failure', async () => {
    const options = logOptions(brokers)
    await openKafkaLog(options)
    await alterTopic(brokers, `${options.topic}.id-blocks`, { 'retention.ms': '-1' })
    const again = await openKafkaLog(options)
    expect(again.warnings).toMatchObject([
      { code: 'id_blocks_not_flushed', message: expect.stringMatching(/--add-config flush\.messages=1$/) },
    ])
  })
})

describeWithLocalBrokers('the replicas of a log', () => {
  let cluster: KafkaCluster
  beforeAll(async () => {
    cluster = await startKafkaCluster()
  }, timeout)
  afterAll(() => cluster?.remove())

  it('are as many as were asked for: without a broker, a start is content with those it finds, or waits for it', {
    timeout,
  }, async () => {
    const { lines, logger } = captureLog()
    const options = logOptions(cluster.brokers, { logger, replicationFactor: 3, bootTimeoutMs: 90_000 })
    const existing = logOptions(cluster.brokers, { replicationFactor: 3 })
    await openKafkaLog(existing)
    const third = cluster.nodes[2]
    await third?.stop()
    await knownBrokers(2)
    expect((await openKafkaLog(existing)).warnings).toEqual([])
    const other = openKafkaEventLog({ ...options, topic: `${options.topic}-other`, bootTimeoutMs: 2000 })
    await expect(other).rejects.toThrow(
      `Kafka at ${options.brokers.join(', ')}: KAFKA_REPLICATION_FACTOR=3 needs as many brokers to create topics, and there are 2. ` +
        'Start the others, or set it to a lower number.',
    )
    const opening = openKafkaLog(options)
    await vi.waitFor(() => expect(lines.at(-1)?.reason).toMatch(/there are 2/), patience)
    await third?.start()
    await knownBrokers(3)
    const log = await opening
    for (const topic of [options.topic, `${options.topic}.id-blocks`]) {
      expect(new Set(await replicasOf(cluster.brokers, topic))).toEqual(new Set([3]))
      expect(await settingsOf(cluster.brokers, topic, ['min.insync.replicas'])).toEqual({ 'min.insync.replicas': '2' })
    }
    expect(log.warnings).toEqual([])
  })

  function knownBrokers(count: number): Promise<void> {
    return until(`${count} brokers`, 60_000, async () => (await kafkaBrokersAnswering(cluster.brokers)) === count)
  }

  it('that are too few are warned about until they are raised', { timeout }, async () => {
    const options = logOptions(cluster.brokers, { replicationFactor: 1 })
    const { topic } = options
    expect((await openKafkaLog(options)).warnings).toEqual([]) // as it was asked for
    const { replicationFactor: _, ...byDefault } = options
    const log = await openKafkaLog({ ...byDefault, topicLookMs: 100 })
    expect(log.warnings.map(({ code }) => code)).toEqual(['too_few_replicas', 'too_few_replicas'])
    expect(log.warnings[0]?.message).toMatch(
      `Topic ${topic} has 1 of 3 replicas: the loss of one broker loses the log.`,
    )

    await asAdmin(cluster.brokers, (admin) => raise(admin, [topic, 3], [`${topic}.id-blocks`, 1]))
    const codes = ['wrong_min_insync_replicas', 'wrong_min_insync_replicas']
    await vi.waitFor(() => expect(log.warnings.map(({ code }) => code)).toEqual(codes), patience)
    expect(log.warnings[0]?.message).toMatch(/--add-config min\.insync\.replicas=2$/)
  })
})

async function raise(admin: Admin, ...topics: [topic: string, partitions: number][]): Promise<void> {
  const assigned = topics.map(([topic, partitions]) => ({
    topic,
    partitionAssignment: Array.from({ length: partitions }, (_, partition) => ({ partition, replicas: [1, 2, 3] })),
  }))
  await admin.alterPartitionReassignments({ topics: assigned })
}
