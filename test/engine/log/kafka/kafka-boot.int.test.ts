import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Finding } from '../../../../src/engine/lib/operating/finding.ts'
import type { EventLog } from '../../../../src/engine/log/event-log.ts'
import { checkKafka } from '../../../../src/engine/log/kafka/check-kafka.ts'
import { KafkaClient } from '../../../../src/engine/log/kafka/kafka-client.ts'
import { openKafkaEventLog } from '../../../../src/engine/log/kafka/kafka-event-log.ts'
import { KafkaReader } from '../../../../src/engine/log/kafka/kafka-reader.ts'
import { type BlockRecord, parseBlockRecord } from '../../../../src/engine/log/kafka/log-identity.ts'
import type { KafkaLogOptions } from '../../../../src/engine/log/kafka/log-part-options.ts'
import { describeWithBrokers } from '../../../brokers/describe.ts'
import { freePort } from '../../../brokers/ready.ts'
import { asAdmin, createTopics, deleteTopics, patientKafka } from '../../../brokers/topics.ts'
import { closedAfterTest, eventually, records } from '../contract/fixture.ts'
import { alterTopic, deleteRecords, logOptions, openKafkaLog, produce, topic, topicsOf } from './kafka-fixture.ts'

describeWithBrokers('the boot on Kafka', ({ kafkaBrokers: brokers }) => {
  let options: KafkaLogOptions
  beforeEach(() => {
    options = logOptions(brokers)
  })

  it('takes topics that were made by hand as they should be', async () => {
    await createTopics(brokers, ...topicsOf(options))
    expect(await failedByDoctor(options)).toBe('')
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
    const name = `${options.topic}${suffix}`
    await createTopics(brokers, topic(name, partitions, changed))
    await expectRefusal(options, `Topic ${name} ${refusal}`)
  })

  it('refuses another KAFKA_PARTITIONS than that of the log', async () => {
    await openKafkaLog(options)
    await expectRefusal(
      { ...options, partitions: 2 },
      `Topic ${options.topic} has 3 partitions, but KAFKA_PARTITIONS is 2. Set KAFKA_PARTITIONS=3, or set KAFKA_TOPIC to`,
    )
  })

  it.each([3, 4])(
    'refuses partitions that were added, and advises no KAFKA_PARTITIONS (%d now)',
    async (partitions) => {
      await openKafkaLog(options)
      const topicPartitions = [{ topic: options.topic, count: 4 }]
      await asAdmin(brokers, (admin) => admin.createPartitions({ topicPartitions }))
      await expectRefusal(
        { ...options, partitions },
        `Topic ${options.topic} has 4 partitions, but was created with 3: keys would move between partitions, and Kafka ` +
          'cannot remove partitions. Stop all writers and copy partitions 0 to 2 to another topic',
      )
    },
  )

  it('says all at once where records were deleted, and others can be', async () => {
    const log = await openKafkaLog(options)
    await log.append(0, records('a', 'b', 'c'))
    await deleteRecords(brokers, options.topic, 1)
    await alterTopic(brokers, options.topic, { 'retention.ms': '604800000', 'cleanup.policy': 'compact' })
    await expectRefusal(
      options,
      new RegExp(
        [
          `begins at offset 1: the earlier records were deleted, and no setting restores them.`,
          `.*\n.*has cleanup.policy=compact and retention.ms=604800000, so Kafka would delete events`,
          `.*--add-config cleanup.policy=delete,retention.ms=-1 and then run the command verify`,
        ].join(''),
      ),
    )
  })

  it.each([
    ['retention.ms', '604800000', '-1'],
    ['retention.bytes', '1000000', '-1'],
    ['cleanup.policy', 'compact', 'delete'],
    ['cleanup.policy', 'compact,delete', 'delete'],
  ])('refuses a topic of events with %s=%s', async (name, found, wanted) => {
    await createTopics(brokers, topic(options.topic, 3, { [name]: found }))
    await expectRefusal(
      options,
      `Topic ${options.topic} has ${name}=${found}, so Kafka would delete events, which must be kept forever. Run ` +
        `kafka-configs.sh --bootstrap-server ${brokers} --alter --entity-type topics --entity-name ${options.topic} ` +
        `--add-config ${name}=${wanted}`,
    )
  })

  it.each(['', '.id-blocks'])('refuses a log whose first records were deleted (<topic>%s)', async (suffix) => {
    const log = await openKafkaLog(options)
    await log.append(0, records('a', 'b', 'c'))
    await log.reserveIdBlock()
    const name = `${options.topic}${suffix}`
    await deleteRecords(brokers, name, 1)
    await expectRefusal(
      options,
      `Partition 0 of topic ${name} begins at offset 1: the earlier records were deleted, and no setting restores them.`,
    )
  })

  it('refuses events beside an empty topic of id blocks', async () => {
    await createTopics(brokers, topic(options.topic, 3))
    await produce(brokers, options.topic, { key: 'k', value: 'v', partition: 1 })
    const advice = `but ${options.topic} holds events: ids would be given out twice`
    expect(await failedByDoctor(options)).toMatch(`There is no topic ${options.topic}.id-blocks, ${advice}`)
    const refusal = `Topic ${options.topic}.id-blocks is empty, ${advice}`
    await expectRefusal(options, refusal)
    await expectRefusal(options, refusal) // the first attempt has not made it look right
  })

  it('refuses a log whose events are gone, whether their topic is there or not, until they are put back', async () => {
    const { topic: events } = options
    const log = await openKafkaLog(options)
    await log.append(1, records('a'))
    await eventually(async () => (await idBlocksOf(events)).map(({ hasEvents }) => hasEvents), [true])
    await log.close()
    await deleteTopics(brokers, events)
    const advice = `but ${events}.id-blocks belongs to a log with events: the events are gone. Restore ${events} from a backup.`
    await expectRefusal(options, `There is no topic ${events}, ${advice}`)
    expect(await asAdmin(brokers, (admin) => admin.listTopics())).not.toContain(events)
    await createTopics(brokers, topic(events, 3))
    await expectRefusal(options, `Topic ${events} is empty, ${advice}`)
    await produce(brokers, events, { key: 'key', value: 'another', partition: 1 })
    await expectRefusal(options, `Topic ${events} was made anew, ${advice}`)
    await deleteTopics(brokers, events)
    await createTopics(brokers, topic(events, 3))
    await produce(brokers, events, { key: 'key', value: 'a', partition: 1 })
    const again = await openKafkaLog(options)
    expect([again.logId, await again.endOffsets()]).toEqual([log.logId, [0, 1, 0]])
  })

  it('takes a log whose first event was never written', async () => {
    const log = await openKafkaLog(options)
    expect(await log.reserveIdBlock()).toBe(1)
    await log.close()
    await deleteTopics(brokers, options.topic)
    expect(await failedByDoctor(options)).toBe('')
    expect((await openKafkaLog(options)).logId).toBe(log.logId)
  })

  it('notes of a log that a release before wrote to that it has events, and refuses it without', async () => {
    const log = await openKafkaLog(options)
    await log.close()
    const idBlocks = `${options.topic}.id-blocks`
    await produce(brokers, idBlocks, { key: 'block', value: log.logId, partition: 0 })
    await expectRefusal(options, `Topic ${options.topic} is empty, but ${idBlocks} belongs to a log with events`)
    await produce(brokers, options.topic, { key: 'a', value: 'v', partition: 0 })
    await openKafkaLog(options)
    await eventually(async () => (await idBlocksOf(options.topic)).at(-1)?.hasEvents, true)
  })

  it.each(['garbage', '{"logId":"x"}', '"text"', 'null', null])(
    'refuses %j as the identity of the log',
    async (value) => {
      await createTopics(brokers, topic(`${options.topic}.id-blocks`, 1))
      await produce(brokers, `${options.topic}.id-blocks`, { key: null, value, partition: 0 })
      await expectRefusal(options, `The first record of topic ${options.topic}.id-blocks is not the identity of a log`)
    },
  )

  describe('beside records of something else in the id blocks', () => {
    const told = 'records that are not of this log, and that are ignored'
    const firstRecords = [{ partition: 0, identity: 'of another log' }]
    const ofAnotherLog = JSON.stringify({ epoch: 'another', token: 't', hasEvents: true, firstRecords })

    it.each([
      ['of another log', ofAnotherLog],
      ['of another log that an early release wrote to', 'another'],
      ['that is no JSON', 'garbage'],
      ['that is empty', null],
      ['that is no object', '[null]'],
      ['of a log that has no events yet', JSON.stringify({ epoch: 'another', token: 't', hasEvents: false })],
    ])('takes what names this log from before one %s, and tells it', async (_, value) => {
      const log = await logWithEvents()
      await junk(value)
      expect(await failedByDoctor(options)).toBe('')
      expect(await warnedByDoctor(options)).toMatch(`ends in 1 ${told}`)
      const again = await openKafkaLog(options)
      expect([again.logId, await again.endOffsets()]).toEqual([log.logId, [0, 1, 0]])
      expect(again.warnings).toMatchObject([{ code: 'foreign_id_blocks' }])
    })

    it('refuses a log whose events are gone behind them too', async () => {
      await logWithEvents()
      await junk(JSON.stringify({ epoch: 'another', token: 't', hasEvents: false, firstRecords: [] }))
      await deleteTopics(brokers, options.topic)
      await expectRefusal(
        options,
        `There is no topic ${options.topic}, but ${options.topic}.id-blocks belongs to a log`,
      )
    })

    it('looks behind a thousand of them, and refuses more until a record of the log follows', async () => {
      const log = await logWithEvents()
      await junk(...Array.from({ length: 1000 }, () => ofAnotherLog))
      expect(await warnedByDoctor(options)).toMatch(`ends in 1000 ${told}`)
      await (await openKafkaLog(options)).close()
      await junk(ofAnotherLog)
      await expectRefusal(
        options,
        `Topic ${options.topic}.id-blocks ends in more than 1000 records that are not of the log ${log.logId}`,
      )
      // The advice of the runbook
      await junk(`{"epoch":"${log.logId}","token":"operator","hasEvents":true,"firstRecords":[]}`)
      expect([await failedByDoctor(options), (await openKafkaLog(options)).warnings]).toEqual(['', []])
    })

    it('looks behind a transaction, whose end is a record of nobody', async () => {
      const log = await logWithEvents()
      const producer = patientKafka(brokers).producer({ transactionalId: options.topic, maxInFlightRequests: 1 })
      await producer.connect()
      onTestFinished(() => producer.disconnect())
      const transaction = await producer.transaction()
      await transaction.send({ topic: `${options.topic}.id-blocks`, messages: [{ value: 'other' }] })
      await transaction.abort()
      expect((await openKafkaLog(options)).logId).toBe(log.logId)
    })

    it('runs on, reserves behind them, and tells them until then', { timeout: 60_000 }, async () => {
      const log = closedAfterTest(await openKafkaEventLog({ ...options, topicLookMs: 100 }))
      const first = await log.reserveIdBlock()
      await junk(ofAnotherLog, 'garbage')
      await eventually(() => log.warnings.map(({ code }) => code), ['foreign_id_blocks'])
      await log.confirm()
      expect(await log.reserveIdBlock()).toBe(first + 3)
      await eventually(() => log.warnings, [])
    })

    async function logWithEvents(): Promise<EventLog> {
      const log = await openKafkaLog(options)
      await log.append(1, records('a'))
      await eventually(async () => (await idBlocksOf(options.topic)).map(({ hasEvents }) => hasEvents), [true])
      await log.close()
      return log
    }

    async function junk(...values: (string | null)[]): Promise<void> {
      const producer = patientKafka(brokers).producer({ allowAutoTopicCreation: false })
      await producer.connect()
      try {
        const messages = values.map((value) => ({ key: 'block', value }))
        await producer.send({ topic: `${options.topic}.id-blocks`, acks: -1, messages })
      } finally {
        await producer.disconnect()
      }
    }
  })

  it('refuses a topic name that Kafka does not take, at once', async () => {
    const opening = openKafkaEventLog(logOptions(brokers, { topic: 'no such name' }))
    await expect(opening).rejects.toThrow(/Kafka refuses to create topic no such name: .*invalid topic.*KAFKA_TOPIC/)
  })

  it('says which brokers do not answer', async () => {
    const nobody = `127.0.0.1:${await freePort()}`
    await expect(openKafkaEventLog(logOptions(nobody, { bootTimeoutMs: 1500 }))).rejects.toThrow(
      `Kafka at ${nobody} has not answered properly for 1.5 s: Connection error: connect ECONNREFUSED ${nobody}`,
    )
  })

  /** The doctor says the same. */
  async function expectRefusal(given: KafkaLogOptions, message: string | RegExp): Promise<void> {
    await expect(openKafkaEventLog(given)).rejects.toThrow(message)
    expect(await failedByDoctor(given)).toMatch(message)
  }

  const failedByDoctor = (given: KafkaLogOptions) => foundByDoctor(given, 'failed')
  const warnedByDoctor = (given: KafkaLogOptions) => foundByDoctor(given, 'warning')

  async function foundByDoctor(given: KafkaLogOptions, wanted: Finding['state']): Promise<string> {
    const findings = await checkKafka(given)
    return findings.flatMap(({ state, detail }) => (state === wanted ? [detail] : [])).join('\n')
  }

  /** What stands behind the identity. */
  async function idBlocksOf(name: string): Promise<Partial<BlockRecord>[]> {
    const reader = new KafkaReader(() => new KafkaClient(logOptions(brokers)))
    onTestFinished(() => reader.close())
    const [end = 0] = await reader.offsets(`${name}.id-blocks`, 'next', 5000)
    const found: Partial<BlockRecord>[] = []
    for (let offset = 1; offset < end; offset++) {
      const record = await reader.record(`${name}.id-blocks`, offset, 5000)
      found.push(parseBlockRecord(record?.value ?? null) ?? {})
    }
    return found
  }
})
