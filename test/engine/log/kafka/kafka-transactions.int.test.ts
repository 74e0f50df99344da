import { describe, expect, it } from 'vitest'
import type { EventLog } from '../../../../src/engine/log/event-log.ts'
import { describeWithBrokers } from '../../../brokers/describe.ts'
import { patientKafka } from '../../../brokers/topics.ts'
import { beginTransaction, type ForeignTransaction } from '../../../brokers/transactions.ts'
import { eventually, records } from '../contract/fixture.ts'
import { RecordingSubscriber } from '../recording-subscriber.ts'
import { logOptions, openKafkaLog } from './kafka-fixture.ts'

const inFirst = (...values: string[]) => values.map((value) => ({ partition: 0, value }))

describeWithBrokers('transactions of other producers', ({ kafkaBrokers: brokers }) => {
  async function begin(topic: string, value: string, timeoutMs = 60_000) {
    const transaction = await beginTransaction(patientKafka(brokers), topic, { timeoutMs })
    await transaction.send(...inFirst(value))
    return transaction
  }

  describe.each([
    ['the one that began first ends last', [1, 0]],
    ['the one that began first ends first', [0, 1]],
    ['three, the second one first', [1, 2, 0]],
    ['three, from the last one on', [2, 1, 0]],
  ])('that interleave: %s', (_, order) => {
    it.each([
      ['all abort', () => false],
      ['only the last one commits', (ended: number, of: number) => ended === of - 1],
      ['only the first one commits', (ended: number) => ended === 0],
    ])('%s: whoever reads sees the same', async (_how, commits) => {
      const options = logOptions(brokers, { partitions: 1 })
      const log = await openKafkaLog(options)
      const subscriber = await RecordingSubscriber.on(log)
      const transactions: ForeignTransaction[] = []
      for (const producer of order.keys()) {
        transactions.push(await begin(options.topic, `${producer} begins`))
      }
      await log.append(0, records('between'))
      for (const [producer, each] of transactions.entries()) await each.send(...inFirst(`${producer}`))
      const expected = new Set(['between'])
      for (const [ended, producer] of order.entries()) {
        await log.append(0, records(`before the end of ${producer}`))
        expected.add(`before the end of ${producer}`)
        if (!commits(ended, order.length)) await transactions[producer]?.abort()
        else {
          await transactions[producer]?.commit()
          for (const value of [`${producer} begins`, `${producer}`]) expected.add(value)
        }
      }
      await log.append(0, records('behind'))
      expected.add('behind')

      await eventually(() => subscriber.values(0).at(-1), 'behind')
      expect(new Set(subscriber.values(0))).toEqual(expected)
      const [end = 0] = await log.endOffsets()
      for (let from = 0; from < end; from++) {
        const behind = subscriber.records(0).filter(({ offset }) => offset >= from)
        expect(await readAll(log, from, end), `from ${from}`).toEqual(behind.map(({ value }) => String(value)))
      }
    })
  })

  it('are passed over where they are longer than a fetch', async () => {
    const options = logOptions(brokers, { partitions: 1 })
    const log = await openKafkaLog(options)
    const long = Array.from({ length: 40 }, () => 'x'.repeat(15_000))
    const [aborted, committed] = [await begin(options.topic, 'aborted'), await begin(options.topic, 'committed')]
    for (let i = 0; i < 4; i++) {
      await aborted.send(...inFirst(...long))
      await committed.send(...inFirst(`${i}`))
    }
    await committed.commit()
    await aborted.abort()
    await log.append(0, records('behind'))
    const values = ['committed', '0', '1', '2', '3', 'behind']
    const subscriber = await RecordingSubscriber.on(log)
    await eventually(() => subscriber.values(0), values)
    const [end = 0] = await log.endOffsets()
    expect(await readAll(log, 0, end)).toEqual(values)
  })

  it('that nobody ends hide what is behind them until Kafka ends them', async () => {
    const options = logOptions(brokers, { partitions: 1 })
    const log = await openKafkaLog(options)
    const subscriber = await RecordingSubscriber.on(log)
    await log.append(0, records('before'))
    await begin(options.topic, 'its producer is gone', 3000)
    await log.append(0, records('behind'))
    await eventually(() => subscriber.values(0), ['before'])
    expect((await log.read(0, 0, 10)).records).toHaveLength(1)
    await eventually(() => subscriber.values(0), ['before', 'behind'])
    expect((await log.read(0, 1, 10)).records.map(({ value }) => String(value))).toEqual(['behind'])
  })
})

async function readAll(log: EventLog, from: number, end: number): Promise<string[]> {
  const values: string[] = []
  for (let at = from; at < end; ) {
    const { records: found, next } = await log.read(0, at, 3)
    expect(next).toBeGreaterThan(at)
    values.push(...found.map(({ value }) => String(value)))
    at = next
  }
  return values
}
