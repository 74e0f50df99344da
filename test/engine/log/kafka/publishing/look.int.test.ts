import { pino } from 'pino'
import { expect, it, onTestFinished, vi } from 'vitest'
import { KafkaClient } from '../../../../../src/engine/log/kafka/kafka-client.ts'
import { KafkaReader } from '../../../../../src/engine/log/kafka/kafka-reader.ts'
import { KafkaPublishedLog } from '../../../../../src/engine/log/kafka/publishing/kafka-published-log.ts'
import { lookAtLane } from '../../../../../src/engine/log/kafka/publishing/look.ts'
import { eventsTarget } from '../../../../../src/engine/log/published-log.ts'
import { describeWithBrokers } from '../../../../brokers/describe.ts'
import { createTopics, patientKafka } from '../../../../brokers/topics.ts'
import { brokerEnvironment } from '../../../../e2e/service.ts'
import { produce, topic } from '../kafka-fixture.ts'

const logId = 'the log'
const lanes = 3
const lane = 0

describeWithBrokers('a look at what is published', (brokers) => {
  it('takes no transaction that ends meanwhile for standing still, and a record of a stranger for nothing else', async () => {
    const { KAFKA_TOPIC: journal } = brokerEnvironment(brokers)
    await createTopics(brokers.kafkaBrokers, topic(journal, 1))
    for (const value of ['first', 'second'])
      await produce(brokers.kafkaBrokers, journal, { key: '7', value, partition: 0 })
    const access = { brokers: brokers.kafkaBrokers.split(','), logger: pino({ level: 'silent' }) }
    const log = new KafkaPublishedLog({
      ...access,
      topic: journal,
      logId,
      publisher: 'events',
      targets: [eventsTarget],
    })
    const reader = new KafkaReader(() => new KafkaClient(access))
    onTestFinished(() => [log, reader].forEach((each) => void each.close()))
    await log.prepare()
    const [published, positions] = [`${journal}.published`, `${journal}.positions`]
    const look = () =>
      lookAtLane({
        topic: journal,
        publisher: 'events',
        targets: [eventsTarget],
        logId,
        reader,
        lane,
        lanes,
        position: lane,
      })

    // A new broker has no coordinator of transactions at first.
    const owned = await vi.waitFor(() => log.takeOver(lane, lanes), { timeout: 30_000, interval: 250 })
    const progress = { next: 1, last: { offset: 0, identity: 'of the first' }, told: 1 }
    await owned.commit([
      {
        partition: 0,
        records: [{ target: eventsTarget, key: '7', value: 'first', headers: {} }],
        progress,
        places: new Map(),
      },
    ])
    owned.close()
    expect((await look()).partitions).toMatchObject([{ next: 1, told: 1, failure: undefined }])

    const producer = patientKafka(brokers.kafkaBrokers).producer({
      transactionalId: `${journal}.events-0`,
      maxInFlightRequests: 1,
    })
    await producer.connect()
    onTestFinished(() => producer.disconnect())
    const transaction = await producer.transaction()
    const send = (name: string, key: string, value: string) =>
      transaction.send({ topic: name, messages: [{ key, value, partition: 0 }] })
    const [told] = await send(published, '7', 'second')
    const records = vi.spyOn(reader, 'records')
    const looking = look()
    // It has read the positions, and waits for the end of the transaction.
    await vi.waitFor(() => expect(records.mock.calls.some(([{ topic }]) => topic === published)).toBe(true))
    const ends = { [published]: Number(told?.baseOffset) + 1 }
    await send(positions, '0', JSON.stringify({ logId, ...progress, next: 2, told: 2, ends }))
    await transaction.commit()
    expect((await looking).partitions).toMatchObject([{ next: 2, told: 2, failure: undefined }])

    await produce(brokers.kafkaBrokers, published, { key: '7', value: 'of a stranger', partition: 0 })
    const reason = expect.stringMatching(/has a record at offset \d+ of partition 0, .*another program writes here/)
    expect((await look()).partitions).toMatchObject([{ next: 2, failure: reason }])
    await produce(brokers.kafkaBrokers, positions, { key: '7', value: 'of a stranger', partition: 0 })
    const unreadable = expect.stringContaining('another program writes there')
    expect(await look()).toMatchObject({ failure: unreadable, partitions: [] })
  })
})
