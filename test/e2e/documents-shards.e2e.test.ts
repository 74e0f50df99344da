import { expect, it, vi } from 'vitest'
import { partitionOf } from '../../src/engine/log/kafka/default-partitioner.ts'
import { startRedisCluster } from '../brokers/clusters.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { askRedis } from '../brokers/ready.ts'
import { shared, whenDone } from '../lib/when-done.ts'
import { Client, inParallel } from './client.ts'
import { expectTables, fillingsOf, tableOf, untilFilled } from './document-topics.ts'
import { startHeldBrokers, type Way } from './held-kafka.ts'
import { byStream, idsOf, patience, publishedOf } from './published-topic.ts'
import { startService, stop } from './service.ts'
import { readTopic } from './topic.ts'

const produceDocuments = { apiKey: 0, about: '.documents.' }
const [shards, partitions] = [3, 6]
const away = 1

describeWithLocalBrokers('a filling, while one shard of several is away', () => {
  const started = shared(async () => {
    const [brokers, cluster] = await Promise.all([startHeldBrokers(1), startRedisCluster()])
    whenDone(() => cluster.remove())
    return { ...brokers, cluster }
  })

  it('tells nothing wrong, waits, and goes on once it is back', async () => {
    const { ways, cluster, newEnvironment } = started()
    const way = ways[0] as Way
    const environment = { ...newEnvironment(), REDIS_URL: cluster.url, READ_MODEL_SHARDS: String(shards) }
    const service = await startService({ ...environment, PUBLISH: 'events' })
    const client = new Client(service)
    const pets = await inParallel(36, 8, (i) => client.create(`pet ${i}`))
    const orders = idsOf(await inParallel(12, 8, (i) => client.order(pets[i]?.id ?? 0)))
    for (const { id } of pets.slice(12, 18)) await client.remove(id)
    const shown = new Map<number, string>()
    for (const { id } of pets) shown.set(id, (await client.get(id)).text)

    const { arrived, release } = way.hold('request', produceDocuments)
    const projector = { ...environment, KAFKA_BROKERS: way.brokers, ROLE: 'projector', PUBLISH: 'documents' }
    const filling = await startService(projector)
    await arrived
    const keysOf = ({ url }: { url: string }) =>
      askRedis(url, (admin) => admin.keys(`*${environment.REDIS_PREFIX}*.s${shards}-${away}.*`))
    const keys = await Promise.all(cluster.masters.map(keysOf))
    const master = cluster.masters[keys.findIndex(({ length }) => length > 0)] ?? expect.fail('no master has the shard')
    await master.pause()
    release()
    const unseen = await inParallel(24, 8, (i) => client.create(`unseen ${i}`, 'available', { prefer: 'wait=0' }))
    const isThere = ({ id }: { id: number }) => partitionOf(String(id), partitions) % shards !== away
    await vi.waitFor(async () => {
      const told = Object.keys(byStream(await readTopic(publishedOf(environment))))
      expect(told).toEqual(expect.arrayContaining(idsOf(unseen.filter(isThere)).map(String)))
    }, patience)
    for (const [id, { value }] of await tableOf(environment, 'pets')) expect(String(value)).toBe(shown.get(id))
    for (const fillings of (await fillingsOf(environment)).values()) expect(fillings.at(-1)).toHaveProperty('copying')

    await master.resume()
    await expectTables(environment, client, { pets: idsOf([...pets, ...unseen]), orders })
    await untilFilled(environment)
    await stop(filling)
    await stop(service)
  })
})
