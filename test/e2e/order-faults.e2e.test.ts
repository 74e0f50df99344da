import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { startRedis } from '../brokers/brokers.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { type KafkaCluster, startKafkaCluster } from '../brokers/kafka-cluster.ts'
import { Client } from './client.ts'
import { expectOrdersTrue, OrderLoad } from './order-load.ts'
import { expectVerified } from './petstore.ts'
import { brokerEnvironment, type ServiceProcess, startService } from './service-process.ts'

const timeout = 300_000

describeWithLocalBrokers('orders and pets agree, on three brokers', () => {
  let cluster: KafkaCluster
  beforeAll(async () => {
    cluster = await startKafkaCluster()
  }, timeout)
  afterAll(async () => {
    await cluster?.remove()
  })

  it('although API, projector, Kafka and Redis are each killed with kill -9 under load', { timeout }, async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.remove())
    const environment = brokerEnvironment({ kafkaBrokers: cluster.brokers, redisUrl: redis.url })
    const start = (ROLE: string) => startService({ ...environment, ROLE })
    const started = await Promise.all([start('api'), start('api'), start('projector'), start('projector')])
    const [api, other, projector] = started as [ServiceProcess, ServiceProcess, ServiceProcess, ServiceProcess]
    const load = new OrderLoad([new Client(api), new Client(other)], 12)
    await load.until(60)

    await api.end('SIGKILL')
    const again = await start('api')
    load.turnTo([new Client(other), new Client(again)])
    await load.until(60)

    await projector.end('SIGKILL')
    await load.until(60)
    await start('projector')

    await cluster.nodes[0]?.kill()
    await load.until(60)
    await cluster.nodes[0]?.start()
    await load.until(60)

    await redis.kill()
    await redis.start()
    await load.until(60)

    await load.stop()
    expect(load.told.filter(({ status }) => status === 201).length).toBeGreaterThan(600)
    await expectOrdersTrue(new Client(again), load, environment)
    await expectVerified(environment)
  })
})
