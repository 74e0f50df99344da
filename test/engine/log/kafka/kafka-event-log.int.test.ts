import { expect, it, onTestFinished, vi } from 'vitest'
import { describeWithBrokers } from '../../../brokers/describe.ts'
import { createTopics, patientKafka } from '../../../brokers/topics.ts'
import { beginTransaction } from '../../../brokers/transactions.ts'
import { eventually, records } from '../contract/fixture.ts'
import { eventLogContract } from '../event-log.contract.ts'
import { RecordingSubscriber } from '../recording-subscriber.ts'
import { logOptions, openKafkaFixture, openKafkaLog, topicsOf } from './kafka-fixture.ts'

const warnings: Error[] = []
process.on('warning', (warning) => warnings.push(warning))

describeWithBrokers('Kafka event log', ({ kafkaBrokers: brokers }) => {
  eventLogContract('Kafka', () => openKafkaFixture(brokers))

  async function openNew() {
    const options = logOptions(brokers)
    return { topic: options.topic, log: await openKafkaLog(options) }
  }

  it.each(['the topics', 'the log in topics that are there'])('agrees on one logId: several make %s', async (what) => {
    const options = logOptions(brokers)
    // Made beforehand, so that all of them find it empty at the same time
    if (what !== 'the topics') await createTopics(brokers, ...topicsOf(options))
    const opened = await Promise.all(Array.from({ length: 6 }, () => openKafkaLog(options)))
    expect(new Set(opened.map(({ logId }) => logId)).size).toBe(1)
    const blocks = await Promise.all(opened.map((log) => log.reserveIdBlock()))
    expect(new Set(blocks).size).toBe(6)
  })

  it('says that surely nothing was stored where Kafka refuses the clock of this process', async () => {
    const options = logOptions(brokers)
    await createTopics(brokers, ...topicsOf(options, { 'message.timestamp.type': 'CreateTime' }))
    const log = await openKafkaLog(options)
    onTestFinished(() => void vi.useRealTimers())
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 3_600_000 })
    await expect(log.append(0, records('early'))).rejects.toMatchObject({ code: 'event_log_unavailable' })
    vi.useRealTimers()
    expect(await log.append(0, records('now'))).toBe(0)
  })

  it('reads on over transaction markers and aborted records, up to the end', async () => {
    const { topic, log } = await openNew()
    const subscriber = await RecordingSubscriber.on(log)
    const untilEnd = () =>
      vi.waitFor(async () => expect(subscriber.of(0).at(-1)?.next).toBe((await log.endOffsets())[0]), {
        timeout: 20_000,
      })
    await log.append(0, records('before'))
    await (await inTransaction(topic, 'committed')).commit()
    await (await inTransaction(topic, 'aborted')).abort()
    await untilEnd()
    await log.append(0, records('after'))
    await eventually(() => subscriber.values(0), ['before', 'committed', 'after'])
    await untilEnd()
    const batches = subscriber.of(0)
    expect(batches.map(({ from }) => from)).toEqual([0, ...batches.map(({ next }) => next)].slice(0, -1))
  })

  it('gives a batch of nothing but markers again when it is not done, before what is behind it', async () => {
    const { topic, log } = await openNew()
    await (await inTransaction(topic, 'aborted')).abort()
    const subscriber = await RecordingSubscriber.on(log)
    const firstAnswer = Promise.withResolvers<boolean>()
    subscriber.answer = async () => (subscriber.of(0).length === 1 ? await firstAnswer.promise : true)
    await eventually(() => subscriber.of(0).length, 1)
    await log.append(0, records('behind'))
    const other = await RecordingSubscriber.on(log)
    await eventually(() => other.values(0), ['behind'])
    firstAnswer.resolve(false)
    await eventually(() => subscriber.values(0), ['behind'])
    const [first, again] = subscriber.of(0)
    expect(first).toMatchObject({ from: 0, next: 2, records: [] })
    expect(again).toMatchObject({ from: 0 })
  })

  it('end offsets include records behind an open transaction of another producer', async () => {
    const { topic, log } = await openNew()
    const transaction = await inTransaction(topic, 'open')
    expect(await log.append(0, records('behind'))).toBe(1)
    expect((await log.endOffsets())[0]).toBe(2)
    await transaction.abort()
  })

  async function inTransaction(topic: string, value: string) {
    const transaction = await beginTransaction(patientKafka(brokers), topic)
    await transaction.send({ partition: 0, value })
    return transaction
  }

  it('leaves no timer of kafkajs spinning', async () => {
    const { log } = await openNew()
    await log.append(0, records('a'))
    expect(warnings.filter(({ name }) => name === 'TimeoutNegativeWarning')).toEqual([])
  })
})
