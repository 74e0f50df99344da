import type { Admin } from 'kafkajs'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startRedis } from '../brokers/brokers.ts'
import { startKafkaCluster } from '../brokers/clusters.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { byId, Client, createMany, untilServed, watchFor } from './client.ts'
import { createOnce } from './load.ts'
import { brokerEnvironment, expectVerified, startService } from './service.ts'
import { kafkaClient, readPets } from './topic.ts'

const patience = { timeout: 60_000, interval: 50 }
const timeout = 240_000

describeWithLocalBrokers('a leader that takes over without the last events', () => {
  it('and takes others in their place: the read models are those of the log, and no pet that is in it was missed', {
    timeout,
  }, async () => {
    const [cluster, redis] = await Promise.all([startKafkaCluster(), startRedis()])
    onTestFinished(async () => void (await Promise.all([cluster.remove(), redis.remove()])))
    const environment = brokerEnvironment({ kafkaBrokers: cluster.brokers, redisUrl: redis.url })
    const { KAFKA_TOPIC: topic } = environment
    const admin = kafkaClient(cluster.brokers).admin()
    await admin.connect()
    onTestFinished(() => admin.disconnect())
    await createTopics(admin, topic)
    const service = await startService(environment)
    const client = new Client(service)
    const kept = await createMany(client, 60)
    const [leader, follower] = cluster.nodes

    await follower?.pause()
    await vi.waitFor(async () => expect(await inSync(admin, topic)).toEqual([1]), patience)
    const lost = await createMany(client, 300)
    await untilServed(client, [...kept, ...lost])
    const watch = watchFor([client], kept)
    await leader?.kill()
    await follower?.resume()
    const rest = await Promise.all(Array.from({ length: 60 }, (_, i) => createOnce(client, `after ${i}`)))
    const names = rest.map(({ body }) => (body as { name: string }).name)
    expect(await inSync(admin, topic)).toEqual([2])

    const stored = await readPets(environment)
    const inLog = new Set(stored.map(({ name }) => name))
    expect(names.filter((name) => !inLog.has(name))).toEqual([])
    expect(stored).toEqual(expect.arrayContaining(kept))
    expect(stored.length).toBeLessThan(kept.length + lost.length)
    await vi.waitFor(async () => expect(await client.list()).toEqual(byId(stored)), patience)
    await watch.stop()
    await expectVerified(environment)
  })
})

/** Events on nodes 1 and 2, of which either may lead with whatever it has; the rest on node 3. */
async function createTopics(admin: Admin, topic: string): Promise<void> {
  const kept = ['retention.ms', 'retention.bytes'].map((name) => ({ name, value: '-1' }))
  const unsafe = [
    { name: 'unclean.leader.election.enable', value: 'true' },
    { name: 'min.insync.replicas', value: '1' },
  ]
  const events = Array.from({ length: 6 }, (_, partition) => ({ partition, replicas: [1, 2] }))
  await admin.createTopics({
    topics: [
      { topic, replicaAssignment: events, configEntries: [...kept, ...unsafe] },
      { topic: `${topic}.id-blocks`, replicaAssignment: [{ partition: 0, replicas: [3] }], configEntries: kept },
    ],
  })
}

/** The nodes that have all of some partition. */
async function inSync(admin: Admin, topic: string): Promise<number[]> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
  return [...new Set(topics.flatMap(({ partitions }) => partitions.flatMap(({ isr }) => isr)))].sort()
}
