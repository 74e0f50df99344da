import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, expectExactly } from './client.ts'
import { createMany } from './log-served.ts'
import { expectVerified, petstore } from './petstore.ts'
import { brokerEnvironment, type ServiceProcess, startService } from './service-process.ts'
import { type NewMessage, petCreated, produce, storedCount } from './topic.ts'

const patience = { timeout: 60_000, interval: 100 }
const timeout = 120_000
const large = 'x'.repeat(900 * 1024)
const partitions = [0, 1, 2, 3, 4, 5]

describeWithBrokers('whatever another producer writes', (brokers) => {
  it('events of 900 KiB, of an unknown type or with a name too long, hold up none of those behind', {
    timeout,
  }, async () => {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const unknown = { specversion: '1.0', id: 'large', type: 'elsewhere.Fed.v1', source: '/elsewhere', data: large }
    const pet = { id: 5_000_001, name: large, categoryId: 1, status: 'sold' }
    const endless = petCreated({ eventId: 'endless', pet })
    await produce(
      environment,
      partitions.map((partition) => ({ partition, value: JSON.stringify(unknown) })),
    )
    await produce(environment, [endless])
    const client = new Client(service)
    const pets = await createMany(client, 120)
    await vi.waitFor(async () => expect(await client.list({ limit: 100 })).toHaveLength(pets.length), patience)
    await expectExactly(client, pets)
    await expectCounts(service, environment, { records: 6 + 1 + 120, documents: 120, parked: 1 })
    const [parked] = JSON.parse((await petstore(environment, 'parked', 'list', '--json')).output)
    expect(parked).toMatchObject({ stream: '5000001', value: endless.value })
    expect(parked.reason.length).toBeLessThan(200)
    await expectVerified(environment)
  })

  it('10,000 records of garbage in a row, in each partition, hold up none of those behind', { timeout }, async () => {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const garbage = ['', 'not JSON', '{"specversion":"1.0"}', '[]', 'null', '\u0000\uFFFD']
    for (const partition of partitions) {
      const each = Array.from({ length: 10_000 }, (_, i): NewMessage => ({ partition, value: garbage[i % 7] ?? null }))
      await produce(environment, each)
    }
    const client = new Client(service)
    const pets = await createMany(client, 120)
    await vi.waitFor(async () => expect(await client.list({ limit: 100 })).toHaveLength(pets.length), patience)
    await expectExactly(client, pets)
    await expectCounts(service, environment, { records: 60_000 + 120, documents: 120, parked: 0 })
    await expectVerified(environment)
  })

  /** The command line and the probe tell of as many records as there are in the topic. */
  async function expectCounts(
    { url }: ServiceProcess,
    environment: ReturnType<typeof brokerEnvironment>,
    { records, documents, parked }: { records: number; documents: number; parked: number },
  ): Promise<void> {
    expect(await storedCount(brokers.kafkaBrokers, environment.KAFKA_TOPIC)).toBe(records)
    const { code, output } = await petstore(environment, 'generations', '--json')
    expect(code, output).toBe(0)
    const { generations } = JSON.parse(output)
    expect(generations).toEqual([
      expect.objectContaining({
        state: 'active',
        position: records,
        lag: 0,
        documents: { pets: documents, orders: 0 },
        parked,
      }),
    ])
    const { checks } = (await (await fetch(`${url}/readyz`)).json()) as {
      checks: Record<string, { endOffsets: number[] }>
    }
    expect(checks.eventLog?.endOffsets.reduce((sum, end) => sum + end, 0)).toBe(records)
    expect(checks).toMatchObject({
      eventLog: { status: 'up' },
      readModels: { status: 'up', generation: generations[0].name },
      projector: { status: 'up', partitions },
    })
  }
})
