import type { Admin } from 'kafkajs'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { startRedis } from '../brokers/brokers.ts'
import { type KafkaCluster, startKafkaCluster } from '../brokers/clusters.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { moveLeaders } from '../campaign/faults/kafka-faults.ts'
import { Client } from './client.ts'
import { buying, Load } from './load.ts'
import { brokerEnvironment, startRoles, startService } from './service.ts'
import { patientKafka } from './topic.ts'

const patience = { timeout: 90_000, interval: 100 }

describeWithLocalBrokers('answers are true on three brokers', () => {
  let cluster: KafkaCluster
  let admin: Admin
  beforeAll(async () => {
    cluster = await startKafkaCluster()
    admin = patientKafka(cluster.brokers).admin()
    await admin.connect()
  })
  afterAll(async () => {
    await admin?.disconnect()
    await cluster?.remove()
  })

  async function start() {
    const redis = await startRedis()
    onTestFinished(() => redis.remove())
    const environment = brokerEnvironment({ kafkaBrokers: cluster.brokers, redisUrl: redis.url })
    return { redis, environment, topic: environment.KAFKA_TOPIC }
  }

  async function startLoaded() {
    const { environment, topic } = await start()
    const service = await startService(environment)
    const client = new Client(service)
    const load = new Load([client], 16)
    async function expectTrue(): Promise<void> {
      // A broker that was killed and leads again shows what it has only once its followers have said how far they are.
      await vi.waitFor(() => load.expectTrue(environment), patience)
      expect(service.running()).toBe(true)
    }
    return { topic, load, expectTrue }
  }

  it('although the leaders of all partitions move, over and over', async () => {
    const { topic, load, expectTrue } = await startLoaded()
    for (let round = 0; round < 10; round++) {
      await load.until(200)
      expect(await moveLeaders({ ...cluster, topics: [topic] })).toBe(true)
    }
    await load.until(200)
    await expectTrue()
  })

  it('although a broker is killed with kill -9 and comes back; the other two go on alone', async () => {
    const { topic, load, expectTrue } = await startLoaded()
    await load.until(500)
    const { leader } = (await partitionsOf(topic))[0] ?? { leader: 0 }
    await cluster.nodes[leader - 1]?.kill()
    await vi.waitFor(async () => expect(await leadersOf(topic)).not.toContain(leader), patience)
    await load.until(500)
    await cluster.nodes[leader - 1]?.start()
    await vi.waitFor(async () => {
      for (const { isr } of await partitionsOf(topic)) expect(isr).toHaveLength(3)
    }, patience)
    await load.until(500)
    await expectTrue()
  })

  it('and orders and pets agree, although API, projector, Kafka and Redis are each killed with kill -9', async () => {
    const { environment, redis } = await start()
    const { apis, clients, projector } = await startRoles(environment)
    await startService({ ...environment, ROLE: 'projector' })
    const load = new Load(clients, 12, buying)
    const untilMoreOrders = () => load.until(100, 200, 'updateOrder')
    await untilMoreOrders()

    await apis[0].end('SIGKILL')
    const again = new Client(await startService({ ...environment, ROLE: 'api' }))
    load.turnTo([clients[1], again])
    await untilMoreOrders()

    await projector.end('SIGKILL')
    await untilMoreOrders()
    await startService({ ...environment, ROLE: 'projector' })

    await cluster.nodes[0]?.kill()
    await untilMoreOrders()
    await cluster.nodes[0]?.start()
    await untilMoreOrders()

    await redis.kill()
    await redis.start()
    await untilMoreOrders()

    await load.stop()
    expect(load.told.filter(({ status }) => status === 201).length).toBeGreaterThan(600)
    await vi.waitFor(() => load.expectTrue(environment), patience)
  })

  async function leadersOf(topic: string): Promise<number[]> {
    return (await partitionsOf(topic)).map(({ leader }) => leader)
  }

  async function partitionsOf(topic: string) {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    const partitions = topics[0]?.partitions ?? []
    expect(partitions).toHaveLength(6)
    for (const { replicas } of partitions) expect(replicas).toHaveLength(3)
    return partitions.toSorted((one, other) => one.partitionId - other.partitionId)
  }
})
