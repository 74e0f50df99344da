import { expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import type { NewMessage } from '../brokers/topics.ts'
import { Client, createMany, untilServed } from './client.ts'
import { brokerEnvironment, expectVerified, petstoreJson, startService } from './service.ts'
import { petCreated, produce, storedCount } from './topic.ts'

const large = 'x'.repeat(900 * 1024)
const partitions = [0, 1, 2, 3, 4, 5]
const event = { specversion: '1.0', type: 'petstore.PetCreated.v1', source: '/elsewhere', id: 'another' }
/** What does not concern the store, in its partition or in any. */
const garbage = [
  null,
  '',
  'not JSON',
  '{"specversion":"1.0"}',
  '[]',
  'null',
  '\u0000\uFFFD',
  JSON.stringify({ ...event, type: 'petstore.PetFed.v1' }),
  JSON.stringify({ ...event, data: { id: 'five' } }),
]

const largeEvents = partitions.map((partition): NewMessage => {
  return { partition, value: JSON.stringify({ ...event, type: 'elsewhere.Fed.v1', data: large }) }
})
/** More in a row than a batch has. */
const rows = partitions.flatMap((partition) =>
  Array.from(
    { length: 3000 },
    (_, i): NewMessage => ({ partition, key: i % 2 ? '1' : null, value: garbage[i % garbage.length] ?? null }),
  ),
)

describeWithBrokers('whatever another producer writes', (brokers) => {
  it('in each partition holds up nothing behind it', async () => {
    const environment = brokerEnvironment(brokers)
    const { url } = await startService(environment)
    const client = new Client({ url })
    const pet = { id: 5_000_001, name: 'x'.repeat(10 * 1024), categoryId: 1, status: 'sold' }
    const endless = petCreated({ eventId: 'endless', pet })
    // Longer than anything that is looked at: skipped, and not parked.
    const enormous = petCreated({ eventId: 'enormous', pet: { ...pet, id: 5_000_002, name: large } })
    await produce(environment, [endless, enormous])
    for (const each of [largeEvents, rows]) await produce(environment, each)
    const pets = await createMany(client, 120)
    await untilServed(client, pets)

    // The command line tells of as many records as there are in the topic.
    const records = 2 + largeEvents.length + rows.length + pets.length
    expect(await storedCount(environment)).toBe(records)
    const { generations } = await petstoreJson(environment, 'generations')
    const documents = { pets: pets.length, orders: 0, categories: 0 }
    const facts = { state: 'active', position: records, lag: 0, documents, parked: 1 }
    expect(generations).toEqual([expect.objectContaining(facts)])
    const checks = {
      eventLog: { status: 'up' },
      readModels: { status: 'up', generation: generations[0].name },
      projector: { status: 'up', partitions },
    }
    expect((await client.request('/readyz')).body).toMatchObject({ checks })
    const [parked] = await petstoreJson(environment, 'parked', 'list')
    expect(parked).toMatchObject({ stream: '5000001', value: endless.value })
    expect(parked.reason.length).toBeLessThan(200)
    await expectVerified(environment)
  })
})
