import { expect, it, vi } from 'vitest'
import { recordValueMax } from '../../src/engine/log/record-codec.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, createMany } from './client.ts'
import { expectAllPublished, patience, publishedOf } from './published-topic.ts'
import { expectToldOnceDiscarded, petOf } from './published-waiting.ts'
import { brokerEnvironment, startService } from './service.ts'
import { petCreated, produce, readTopic } from './topic.ts'

describeWithBrokers('much of what is published', (brokers) => {
  it('in 256 partitions', async () => {
    const environment = { ...brokerEnvironment(brokers), KAFKA_PARTITIONS: '256' }
    const client = new Client(await startService(environment))
    await createMany(client, 300)
    await expectAllPublished(environment, client)
  })

  // With 200,000 events: `npm run campaign:published`.
  it('waits behind parked events, in many streams and in one of them, and is told once they are discarded', async () => {
    await expectToldOnceDiscarded(brokers, { streams: 1000, behind: 5000, limitMs: 60_000 })
  })

  it('is as long as an event can be', async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const records = Array.from({ length: 1000 }, (_, n) => {
      const { key, value } = petCreated({ eventId: `long ${n}`, pet: petOf(n), streamversion: 1 })
      return { key, value: `${`${value.slice(0, -1)},"note":"`.padEnd(recordValueMax - 2, 'x')}"}` }
    })
    await produce(environment, records)
    await vi.waitFor(async () => expect(await client.list()).toHaveLength(1000), patience)
    await expectAllPublished(environment, client)
    const values = (await readTopic(publishedOf(environment))).map(({ value }) => String(value))
    expect(values.toSorted()).toEqual(records.map(({ value }) => value).toSorted())
  })
})
