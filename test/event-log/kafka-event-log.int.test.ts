import { randomUUID } from 'node:crypto'
import kafkajs, { type KafkaMessage } from 'kafkajs'
import { afterEach, expect, it, vi } from 'vitest'
import type { EventLog } from '../../src/event-log/event-log.ts'
import { openKafkaEventLog } from '../../src/event-log/kafka/kafka-event-log.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { records } from './contract/fixture.ts'
import { eventLogContract } from './event-log.contract.ts'
import { logOptions, openKafkaFixture, plainKafka, withAdmin } from './kafka-fixture.ts'
import { newGroup, RecordingSubscriber } from './recording-subscriber.ts'

const patience = { timeout: 20_000, interval: 20 }
const warnings: Error[] = []
process.on('warning', (warning) => warnings.push(warning))

describeWithBrokers('Kafka event log', ({ kafkaBrokers: brokers }) => {
  eventLogContract('Kafka', () => openKafkaFixture(brokers))

  const logs: EventLog[] = []
  afterEach(async () => {
    await Promise.all(logs.splice(0).map((log) => log.close()))
  })
  async function open(options = logOptions(brokers)): Promise<EventLog> {
    const log = await openKafkaEventLog(options)
    logs.push(log)
    return log
  }

  it('makes topics that keep everything', async () => {
    const options = logOptions(brokers)
    await open(options)
    const topics = [options.topic, `${options.topic}.id-blocks`]
    const { resources } = await withAdmin(brokers, (admin) =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: topics.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
      }),
    )
    for (const { configEntries } of resources) {
      const config = Object.fromEntries(configEntries.map((entry) => [entry.configName, entry.configValue]))
      expect(config).toMatchObject({ 'retention.ms': '-1', 'retention.bytes': '-1', 'cleanup.policy': 'delete' })
    }
  })

  it('agrees on one logId when several processes make the log at once', async () => {
    const options = logOptions(brokers)
    const topics = [
      { topic: options.topic, numPartitions: options.partitions },
      { topic: `${options.topic}.id-blocks`, numPartitions: 1 },
    ]
    const configEntries = [{ name: 'retention.ms', value: '-1' }]
    // Made beforehand, so that all of them find it empty at the same time
    await withAdmin(brokers, (admin) =>
      admin.createTopics({ topics: topics.map((each) => ({ ...each, configEntries })) }),
    )
    const opened = await Promise.all(Array.from({ length: 6 }, () => open(options)))
    expect(new Set(opened.map(({ logId }) => logId)).size).toBe(1)
    const blocks = await Promise.all(opened.map((log) => log.reserveIdBlock()))
    expect(new Set(blocks).size).toBe(6)
  })

  it('opens when several processes make the topics at once', async () => {
    const options = logOptions(brokers)
    const opened = await Promise.all([1, 2, 3].map(() => open(options)))
    expect(new Set(opened.map(({ logId }) => logId)).size).toBe(1)
  })

  it('writes what any consumer reads: key, value and headers', async () => {
    const options = logOptions(brokers)
    const log = await open(options)
    await log.append(1, [{ key: '7', value: '{"id":7}', headers: { 'content-type': 'application/cloudevents+json' } }])
    const [message] = await consume(options.topic, 1)
    expect(String(message?.key)).toBe('7')
    expect(String(message?.value)).toBe('{"id":7}')
    expect(String(message?.headers?.['content-type'])).toBe('application/cloudevents+json')
  })

  it('reads on over transaction markers and aborted records, up to the end', async () => {
    const options = logOptions(brokers)
    const log = await open(options)
    const subscriber = await RecordingSubscriber.on(log)
    await log.append(0, records('before'))
    await inTransaction(options.topic, 'committed', 'commit')
    await inTransaction(options.topic, 'aborted', 'abort')
    await vi.waitFor(async () => expect(subscriber.of(0).at(-1)?.next).toBe((await log.endOffsets())[0]), patience)
    await log.append(0, records('after'))
    await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['before', 'committed', 'after']), patience)
    const batches = subscriber.of(0)
    expect(batches.map(({ from }) => from)).toEqual([0, ...batches.map(({ next }) => next)].slice(0, -1))
    expect(batches.at(-1)?.next).toBe((await log.endOffsets())[0])
  })

  it('gives a batch of nothing but markers again when it is not done, before what is behind it', async () => {
    const options = logOptions(brokers)
    const log = await open(options)
    await inTransaction(options.topic, 'aborted', 'abort')
    const subscriber = await RecordingSubscriber.on(log)
    const firstAnswer = Promise.withResolvers<boolean>()
    subscriber.answer = async () => (subscriber.of(0).length === 1 ? await firstAnswer.promise : true)
    await vi.waitFor(() => expect(subscriber.of(0)).toHaveLength(1), patience)
    await log.append(0, records('behind'))
    const other = await RecordingSubscriber.on(log)
    await vi.waitFor(() => expect(other.values(0)).toEqual(['behind']), patience)
    firstAnswer.resolve(false)
    await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['behind']), patience)
    const [first, again] = subscriber.of(0)
    expect(first).toMatchObject({ from: 0, next: 2, records: [] })
    expect(again).toMatchObject({ from: 0 })
  })

  it('counts what stands behind an open transaction of another producer as the end', async () => {
    const options = logOptions(brokers)
    const log = await open(options)
    const producer = transactional()
    await producer.connect()
    const transaction = await producer.transaction()
    await transaction.send({ topic: options.topic, messages: [{ value: 'open', partition: 0 }] })
    expect(await log.append(0, records('behind'))).toBe(1)
    expect((await log.endOffsets())[0]).toBe(2)
    await transaction.abort()
    await producer.disconnect()
  })

  it('commits what was done, for tools that show how far a group is behind', async () => {
    const options = logOptions(brokers)
    const log = await open(options)
    const group = newGroup()
    await log.append(0, records('a', 'b'))
    const subscriber = await RecordingSubscriber.on(log, { group })
    await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['a', 'b']), patience)
    const committed = async () => {
      const [found] = await withAdmin(brokers, (admin) =>
        admin.fetchOffsets({ groupId: group, topics: [options.topic] }),
      )
      return found?.partitions.find(({ partition }) => partition === 0)?.offset
    }
    await vi.waitFor(async () => expect(await committed()).toBe('2'), patience)
    // ... and never reads it: a new member starts where it seeks
    await subscriber.close()
    const next = await RecordingSubscriber.on(log, { group, from: 1 })
    await vi.waitFor(() => expect(next.values(0)).toEqual(['b']), patience)
    expect(next.batches[0]?.from).toBe(1)
  })

  it('leaves no timer of kafkajs spinning', async () => {
    const log = await open()
    await log.append(0, records('a'))
    expect(warnings.filter(({ name }) => name === 'TimeoutNegativeWarning')).toEqual([])
  })

  async function consume(topic: string, count: number): Promise<KafkaMessage[]> {
    const consumer = plainKafka(brokers).consumer({ groupId: newGroup(), maxWaitTimeInMs: 50 })
    const messages: KafkaMessage[] = []
    await consumer.connect()
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    await consumer.run({ eachMessage: async ({ message }) => void messages.push(message) })
    await vi.waitFor(() => expect(messages).toHaveLength(count), patience)
    await consumer.disconnect()
    return messages
  }

  function transactional() {
    return plainKafka(brokers).producer({
      transactionalId: randomUUID(),
      maxInFlightRequests: 1,
      idempotent: true,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    })
  }

  async function inTransaction(topic: string, value: string, end: 'commit' | 'abort'): Promise<void> {
    const producer = transactional()
    await producer.connect()
    const transaction = await producer.transaction()
    await transaction.send({ topic, messages: [{ value, partition: 0 }] })
    await transaction[end]()
    await producer.disconnect()
  }
})
