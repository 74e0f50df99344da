import kafkajs from 'kafkajs'
import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, createMany } from './client.ts'
import { brokerEnvironment, metric, startService } from './service.ts'
import { petCreated, produce } from './topic.ts'

const patience = { timeout: 30_000, interval: 100 }
const stallSeconds = 1

describeWithBrokers('compressed batches in the log', (brokers) => {
  it('hold up their partition alone where one cannot be decoded, and an operator sees which', async () => {
    const environment = brokerEnvironment(brokers)
    const service = await startService({ ...environment, PROJECTOR_STALL_SECONDS: String(stallSeconds) })
    const client = new Client(service)
    const pet = { id: 5_000_001, name: 'x'.repeat(65 * 1024 * 1024), categoryId: 1, status: 'sold' }
    const event = petCreated({ eventId: 'too large', pet })
    await produce(environment, [{ ...event, partition: 3 }], kafkajs.CompressionTypes.GZIP)
    await produce(environment, [{ key: '1', value: 'behind', partition: 3 }])

    const undecodable = [{ partition: 3, offset: 0, reason: expect.stringContaining('larger than') }]
    const live = () => client.request('/livez')
    const isNamed = { status: 'ok', checks: { projector: { status: 'undecodable', undecodable } } }
    await vi.waitFor(async () => expect((await live()).body).toEqual(isNamed), patience)
    // Each partition gets some of these: those of the others are applied at once.
    const pets = await createMany(client, 120)
    const served = await vi.waitFor(async () => {
      const found = await client.list()
      expect(found.length).toBeGreaterThan(80)
      return found
    }, patience)
    expect(pets).toEqual(expect.arrayContaining(served))

    await vi.waitFor(async () => expect(await lagSeconds(client)).toBeGreaterThan(2 * stallSeconds), patience)
    expect(await live()).toMatchObject({ status: 200, body: isNamed }) // a restart would not cure it
    const { status, body } = await client.request('/readyz')
    expect([status, body]).toMatchObject([200, { checks: { projector: { status: 'up', undecodable } } }])
    expect(await metric(service.url, 'petstore_undecodable_batches')).toBe(1)
    expect(service.output().match(/cannot be decoded/g)).toHaveLength(1)
  })
})

async function lagSeconds(client: Client): Promise<number> {
  const { body } = await client.request('/readyz')
  const { lag } = (body as { checks: { readModels: { lag: { seconds: number }[] } } }).checks.readModels
  return Math.max(...lag.map(({ seconds }) => seconds))
}
