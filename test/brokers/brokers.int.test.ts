import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { produce, readTopic } from '../e2e/topic.ts'
import { type KafkaBroker, type RedisServer, startKafka, startRedis } from './brokers.ts'
import { describeWithBrokers, describeWithOwnBrokers } from './describe.ts'
import { kafkaAnswers, redisAnswers } from './ready.ts'
import { asAdmin } from './topics.ts'

describeWithBrokers('the shared brokers', ({ kafkaBrokers, redisUrl }) => {
  it('answer in every test file, from the place the run announced', async () => {
    expect(inject('brokers')).toMatchObject({ kafkaBrokers, redisUrl })
    expect(await kafkaAnswers(kafkaBrokers)).toBe(true)
    expect(await redisAnswers(redisUrl)).toBe(true)
  })
})

describeWithOwnBrokers('a Kafka of the test', () => {
  let kafka: KafkaBroker
  beforeAll(async () => {
    kafka = await startKafka({ config: { 'log.retention.ms': '-1' } })
    const { resources } = await asAdmin(kafka.brokers, async (admin) => {
      await admin.createTopics({ topics: [{ topic: 'events', numPartitions: 1, replicationFactor: 1 }] })
      const topic = { type: 2, name: 'events', configNames: ['retention.ms'] }
      return await admin.describeConfigs({ includeSynonyms: false, resources: [topic] })
    })
    expect(resources[0]?.configEntries[0]?.configValue).toBe('-1')
  })
  afterAll(() => kafka?.remove())

  it('does not answer while paused, can be killed then, and keeps address and data over kill and start', async () => {
    await append('one')
    await kafka.pause()
    expect(await kafkaAnswers(kafka.brokers)).toBe(false)
    await kafka.resume()
    expect(await kafkaAnswers(kafka.brokers)).toBe(true)
    await kafka.pause()
    await kafka.kill()
    expect(await kafkaAnswers(kafka.brokers)).toBe(false)
    await kafka.start()
    await append('two')
    expect(await readAll()).toEqual(['one', 'two'])
  })

  it('keeps its data over stop and start', async () => {
    await kafka.stop()
    expect(await kafkaAnswers(kafka.brokers)).toBe(false)
    await kafka.start()
    expect(await readAll()).toEqual(['one', 'two'])
  })

  const topic = () => ({ KAFKA_BROKERS: kafka.brokers, KAFKA_TOPIC: 'events' })
  const append = (value: string) => produce(topic(), [{ value }])
  const readAll = async () => (await readTopic(topic())).map(({ value }) => String(value))
})

describeWithOwnBrokers('a Redis of the test', () => {
  it('can be removed by several at once, and again', async () => {
    const removed = await startRedis()
    await Promise.all([removed.remove(), removed.remove(), removed.remove()])
    await removed.remove()
    expect(await redisAnswers(removed.url)).toBe(false)
  })

  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis({ args: ['--maxmemory', '64mb', '--maxmemory-policy', 'allkeys-lru'] })
  })
  afterAll(() => server?.remove())

  it('takes arguments', async () => {
    expect(await call((redis) => redis.config('GET', 'maxmemory-policy'))).toEqual(['maxmemory-policy', 'allkeys-lru'])
  })

  it('is gone after kill and stop and keeps its data over both', async () => {
    await call((redis) => redis.set('a', '1'))
    await server.kill()
    expect(await redisAnswers(server.url)).toBe(false)
    await server.start()
    await call((redis) => redis.set('b', '2'))
    await server.stop()
    expect(await redisAnswers(server.url)).toBe(false)
    await server.start()
    expect(await call((redis) => redis.mget('a', 'b'))).toEqual(['1', '2'])
  })

  it('does not answer while paused', async () => {
    await server.pause()
    await expect(call((redis) => redis.ping())).rejects.toThrow('timed out')
    await server.resume()
    expect(await call((redis) => redis.ping())).toBe('PONG')
  })

  async function call<T>(command: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(server.url, { commandTimeout: 500, retryStrategy: () => null })
    redis.on('error', () => {})
    try {
      return await command(redis)
    } finally {
      redis.disconnect()
    }
  }
})
