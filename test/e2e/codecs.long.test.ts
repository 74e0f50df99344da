import kafkajs from 'kafkajs'
import { expect, it, vi } from 'vitest'
import { describeWithBrokers, describeWithLocalBrokers } from '../brokers/describe.ts'
import { startKafka, startRedis } from '../brokers/processes.ts'
import { replaceInSegment } from '../brokers/segments.ts'
import { metric } from '../lib/http-client.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { whenDone } from '../lib/when-done.ts'
import { Client, createMany, untilServed } from './client.ts'
import { brokerEnvironment, expectVerified, startService } from './service.ts'
import { petCreated, produce } from './topic.ts'

const patience = { timeout: 30_000, interval: 100 }
const stallSeconds = 1

describeWithBrokers('a compressed batch that decodes to too much', (brokers) => {
  it('is left out: the pets behind it are there, and an operator sees which it was', async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const pet = { id: 5_000_001, name: 'x'.repeat(65 * 1024 * 1024), categoryId: 1, status: 'sold' }
    const event = petCreated({ eventId: 'too large', pet })
    await produce(environment, [{ ...event, partition: 3 }], kafkajs.CompressionTypes.GZIP)
    const pets = await createMany(client, 120)
    await untilServed(client, pets)
    const message = expect.stringContaining('offset 0 of partition 3: it decodes to more than 64 MiB')
    const eventLog = { status: 'up', warnings: [{ code: 'batches_left_out', message }] }
    expect((await client.request('/readyz')).body).toMatchObject({ status: 'ok', checks: { eventLog } })
    await expectVerified(environment)
  })
})

describeWithLocalBrokers('a batch that is damaged', () => {
  it('holds up its partition alone, and an operator sees which', async () => {
    const folder = temporaryFolder()
    const [kafka, redis] = await Promise.all([startKafka({}, { folder }), startRedis({})])
    whenDone(() => Promise.all([kafka.remove(), redis.remove()]))
    const environment = brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl: redis.url })
    const service = await startService({ ...environment, PROJECTOR_STALL_SECONDS: String(stallSeconds) })
    const client = new Client(service)
    process.kill(service.pid, 'SIGSTOP') // or it would read the batch before it is damaged
    await produce(environment, [{ key: '1', value: 'the pet', partition: 3 }])
    await produce(environment, [{ key: '1', value: 'behind', partition: 3 }])
    replaceInSegment(folder, `${environment.KAFKA_TOPIC}-3`, 'the pet', 'the cat')
    process.kill(service.pid, 'SIGCONT')

    const undecodable = [{ partition: 3, offset: 0, reason: 'its checksum does not match its content' }]
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
