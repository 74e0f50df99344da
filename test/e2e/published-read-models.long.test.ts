import { expect, it, vi } from 'vitest'
import { redisKeys } from '../../src/engine/read-models/redis/redis-keys.ts'
import { describeWithOwnBrokers } from '../brokers/describe.ts'
import { askRedis } from '../brokers/ready.ts'
import { asAdmin } from '../brokers/topics.ts'
import { metric } from '../lib/http-client.ts'
import { shared } from '../lib/when-done.ts'
import { Client, createMany, inParallel, type Pet } from './client.ts'
import { byStream, expectPublished, idsOf, patience, publishedOf } from './published-topic.ts'
import { petstoreOutput, type ServiceProcess, startOwnBrokers, startService, stop } from './service.ts'
import { openActiveKeys, storedVersion } from './stored-state.ts'
import { readTopic } from './topic.ts'

const nextRelease = new URL('./next-release.ts', import.meta.url).href

function createUnseen(client: Client, count: number): Promise<Pet[]> {
  return inParallel(count, 8, (i) => client.create(`unseen ${i}`, 'available', { prefer: 'wait=0' }))
}

describeWithOwnBrokers('who publishes from read models', () => {
  const started = shared(async () => {
    const { kafka, redis, environment } = await startOwnBrokers()
    const service = await startService(environment)
    return { kafka, redis, environment, service, client: new Client(service), pets: [] as Pet[] }
  })
  async function expectAllPublished(client = started().client): Promise<void> {
    await expectPublished(started().environment, client, idsOf(started().pets))
  }
  const told = async () => Object.keys(byStream(await readTopic(publishedOf(started().environment)))).length
  const untilBehind = (service: ServiceProcess, count: number) =>
    vi.waitFor(async () => expect(await metric(service.url, 'petstore_projection_lag_events')).toBe(count), patience)

  it('that are behind tells nothing of what they do not have, whatever a message says, and loses nothing', async () => {
    const { redis, environment, service, client, pets } = started()
    pets.push(...(await createMany(client, 24)))
    await expectAllPublished()
    const { keys } = await openActiveKeys(environment)
    const generation = keys.checkpoints.split(':').at(-2) ?? ''
    await askRedis(redis.url, async (admin) => {
      await admin.config('SET', 'maxmemory', '1')
      pets.push(...(await createUnseen(client, 60)))
      await untilBehind(service, 60) // or it would not believe the messages
      const { progress } = redisKeys({ prefix: environment.REDIS_PREFIX, version: await storedVersion(environment) })
      const ends = await asAdmin(environment.KAFKA_BROKERS, (kafka) => kafka.fetchTopicOffsets(environment.KAFKA_TOPIC))
      for (const { partition, high } of ends) {
        expect(await admin.publish(progress, `${generation} ${partition} 0 ${high}`)).toBeGreaterThan(0)
      }
      expect(await told()).toBe(24)
      await admin.config('SET', 'maxmemory', '0')
    })
    await expectAllPublished()
  })

  it('that do not answer goes on once they do', async () => {
    const { redis, client, pets } = started()
    for (const [leave, comeBack] of [
      ['pause', 'resume'],
      ['kill', 'start'],
    ] as const) {
      await redis[leave]()
      pets.push(...(await createUnseen(client, 60)))
      await redis[comeBack]()
      pets.push(...(await createMany(client, 12)))
    }
    await expectAllPublished()
  })

  it('that are emptied, rebuilt and left for those of the next release goes on meanwhile', async () => {
    const { redis, environment, service, client, pets } = started()
    const beside = async <T>(work: Promise<T>): Promise<T> => {
      pets.push(...(await createUnseen(client, 60)))
      return await work
    }
    await beside(askRedis(redis.url, (admin) => admin.flushall()))
    await beside(petstoreOutput(environment, 'rebuild'))
    const next = await beside(startService({ ...environment, NODE_OPTIONS: `--import=${nextRelease}` }))
    await expectAllPublished()
    await stop(service)
    pets.push(...(await createMany(new Client(next), 12)))
    await expectAllPublished(new Client(next))
  })
})
