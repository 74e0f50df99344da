import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../../../src/engine/app/config.ts'
import { openStorage } from '../../../src/engine/app/storage/storage.ts'
import { checkUp } from '../../../src/engine/cli/doctor.ts'
import { checkRedis } from '../../../src/engine/read-models/redis/check-redis.ts'
import { startRedis } from '../../brokers/brokers.ts'
import { describeWithBrokers, describeWithOwnBrokers } from '../../brokers/describe.ts'
import { freePort } from '../../brokers/ready.ts'
import { asAdmin, createTopics, deleteTopics } from '../../brokers/topics.ts'
import { apiKey } from '../../e2e/client.ts'
import { brokerEnvironment } from '../../e2e/service.ts'
import { alterTopic, topic } from '../log/kafka/kafka-fixture.ts'
import { theatre } from '../theatre/theatre.ts'

describeWithBrokers('the doctor, on Kafka and Redis', (brokers) => {
  it('finds nothing to fear, and makes nothing', async () => {
    const environment = { ...brokerEnvironment(brokers), API_KEYS: apiKey }
    const findings = await checkUp(theatre, environment)
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([])
    const detail = expect.stringContaining('the first start makes it')
    expect(findings).toContainEqual({ what: `topic ${environment.KAFKA_TOPIC}`, state: 'ok', detail })
    expect(findings).toContainEqual({ what: 'clock', state: 'ok', detail: 'agrees with that of Redis' })
    const topics = await asAdmin(brokers.kafkaBrokers, (admin) => admin.listTopics())
    expect(topics).not.toContain(environment.KAFKA_TOPIC)
  })

  it('warns of half a log, which the next start completes', async () => {
    const environment = brokerEnvironment(brokers)
    const what = `topic ${environment.KAFKA_TOPIC}`
    await createTopics(brokers.kafkaBrokers, topic(environment.KAFKA_TOPIC, 6))
    const detail = `There is no topic ${environment.KAFKA_TOPIC}.id-blocks: the next start makes it.`
    expect(await checkUp(theatre, environment)).toContainEqual({ what, state: 'warning', detail })
    const refused = expect.stringContaining('Set KAFKA_PARTITIONS=6')
    await createTopics(brokers.kafkaBrokers, topic(`${environment.KAFKA_TOPIC}.id-blocks`, 1))
    const findings = await checkUp(theatre, { ...environment, KAFKA_PARTITIONS: '7' })
    expect(findings).toContainEqual({ what, state: 'failed', detail: refused })
  })

  it('looks at what is published, and makes nothing', async () => {
    const environment = { ...brokerEnvironment(brokers), API_KEYS: apiKey }
    const { KAFKA_TOPIC: journal } = environment
    const published = `${journal}.published`
    const documents = theatre.resources.map(({ collection }) => `${journal}.documents.${collection}`)
    const logger = pino({ level: 'silent' })
    const config = readConfig(theatre, environment)
    const storage = await openStorage(theatre, config, logger)
    await storage.close()
    const missing = await checkUp(theatre, environment)
    for (const what of [published, ...documents, `${journal}.positions`].map((topic) => `topic ${topic}`)) {
      const detail = expect.stringContaining('the first process to publish makes it')
      expect(missing).toContainEqual({ what, state: 'ok', detail })
    }
    expect(await asAdmin(brokers.kafkaBrokers, (admin) => admin.listTopics())).not.toContain(published)
    expect(await checkUp(theatre, { ...environment, PUBLISH: 'none' })).not.toContainEqual(
      expect.objectContaining({ what: `topic ${published}` }),
    )

    const topics = storage.openPublished()
    for (const each of topics) await each.prepare()
    for (const each of topics) each.close()
    const whole = { what: `topic ${published}`, state: 'ok', detail: expect.stringContaining('in 3 lanes') }
    const found = await checkUp(theatre, environment)
    expect(found).toContainEqual(whole)
    expect(found).toContainEqual({ ...whole, what: `topic ${documents.join(', ')}` })

    const warned = async (detail: RegExp) =>
      expect(await checkUp(theatre, environment)).toContainEqual({
        ...{ what: `topic ${published}`, state: 'warning', detail: expect.stringMatching(detail) },
      })
    await alterTopic(brokers.kafkaBrokers, published, {})
    await warned(/retention\.ms=\d+ by the default of the brokers.*kafka-configs\.sh/)
    await alterTopic(brokers.kafkaBrokers, published, { 'cleanup.policy': 'compact' })
    await warned(/cleanup\.policy=compact instead of delete.*Delete it/)
    await deleteTopics(brokers.kafkaBrokers, published)
    await createTopics(brokers.kafkaBrokers, topic(published, 2))
    await warned(/2 partitions instead of 6.*Delete it/)
  })

  it('says what does not answer', async () => {
    const nowhere = `127.0.0.1:${await freePort()}`
    const wrong = brokers.redisUrl.replace('redis://', 'redis://user:wrong@')
    const cases = [
      ['Kafka', { KAFKA_BROKERS: nowhere }, /start it, or correct KAFKA_BROKERS/],
      ['Redis', { REDIS_URL: `redis://${nowhere}` }, /did not answer/],
      ['Redis', { REDIS_URL: wrong }, /check user, password/],
    ] as const
    const each = cases.map(async ([what, changed, detail]) => {
      const findings = await checkUp(theatre, { ...brokerEnvironment(brokers), ...changed })
      const failed = { what: expect.stringContaining(what), detail: expect.stringMatching(detail) }
      expect(findings.filter(({ state }) => state === 'failed')).toMatchObject([failed])
    })
    await Promise.all(each)
  })
})

describeWithOwnBrokers('the doctor, on a Redis that may evict keys', () => {
  it('says which setting is to blame', async () => {
    const redis = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] })
    onTestFinished(() => redis.remove())
    const detail = expect.stringContaining('maxmemory-policy allkeys-lru')
    const found = await checkRedis({ url: redis.url, prefix: 'theatre' })
    expect(found).toContainEqual({ what: expect.stringContaining('Redis'), state: 'failed', detail })
  })
})
