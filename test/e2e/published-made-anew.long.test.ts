import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { asAdmin, deleteTopics } from '../brokers/topics.ts'
import { Client, createMany } from './client.ts'
import {
  byStream,
  deleteBesideService,
  expectPublished,
  expectTold,
  idsOf,
  patience,
  positionsOf,
  publishedOf,
  untilPublishing,
  untilStandsStill,
} from './published-topic.ts'
import { brokerEnvironment, petstoreOutput, placeOf, startService, stop, untilParked } from './service.ts'
import { petChanged, petCreated, produce, readTopic, type Topic } from './topic.ts'

/** All records of the published topic are gone, as its retention has it. */
async function emptyPublished(topic: Topic): Promise<void> {
  const { KAFKA_TOPIC: published } = publishedOf(topic)
  await asAdmin(topic.KAFKA_BROKERS, async (admin) => {
    const ends = await admin.fetchTopicOffsets(published)
    const partitions = ends.map(({ partition, high }) => ({ partition, offset: high }))
    await admin.deleteTopicRecords({ topic: published, partitions })
  })
}

describeWithBrokers('the published topic and that of the positions', (brokers) => {
  async function startPublished() {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const client = new Client(service)
    const pets = await createMany(client, 24)
    await expectPublished(environment, client, idsOf(pets))
    return { environment, service, client, pets }
  }

  it('come back while somebody publishes, with the same records', async () => {
    const { environment, service, client, pets } = await startPublished()
    await untilPublishing(service)
    await deleteBesideService(publishedOf(environment))
    await expectPublished(environment, client, idsOf(pets))
    pets.push(...(await createMany(client, 24)))
    await deleteBesideService(publishedOf(environment), positionsOf(environment))
    await expectPublished(environment, client, idsOf(pets))

    await deleteBesideService(positionsOf(environment))
    await untilStandsStill(service, /there is no position for them: .*Delete this one too/)
    pets.push(...(await createMany(client, 24)))
    await deleteBesideService(publishedOf(environment))
    await expectPublished(environment, client, idsOf(pets))
    await untilPublishing(service)
  })

  it('come back where they were deleted while nobody was there', async () => {
    const { environment, pets, ...first } = await startPublished()
    await stop(first.service)
    for (const topics of [[publishedOf(environment)], [publishedOf(environment), positionsOf(environment)]]) {
      await deleteTopics(brokers.kafkaBrokers, ...topics.map(({ KAFKA_TOPIC }) => KAFKA_TOPIC))
      const service = await startService(environment)
      const client = new Client(service)
      pets.push(...(await createMany(client, 12)))
      await expectPublished(environment, client, idsOf(pets))
      await stop(service)
    }
    await deleteTopics(brokers.kafkaBrokers, positionsOf(environment).KAFKA_TOPIC)
    const service = await startService(environment)
    await untilStandsStill(service, /there is no position for them: .*Delete this one too/)
    const client = new Client(service)
    pets.push(...(await createMany(client, 12)))
    await deleteBesideService(publishedOf(environment))
    await expectPublished(environment, client, idsOf(pets))
  })

  it('forget what waited there before: a discard in between lets nothing be told twice', async () => {
    const { environment, pets, service } = await startPublished()
    const streams = pets.slice(0, 8)
    await produce(
      environment,
      streams.map((pet) => petCreated({ eventId: `usurper ${pet.id}`, pet, streamversion: 2 })),
    )
    const parked = await untilParked(environment, streams.length)
    await produce(
      environment,
      streams.map((pet) => petChanged({ pet, streamversion: 3 })),
    )
    await untilParked(environment, 2 * streams.length)
    // Publishing has passed them, so it knows their places.
    const isWaiting = async () => {
      const positions = await readTopic(positionsOf(environment))
      return new Set(positions.map(({ key }) => String(key)).filter((key) => key.includes('/waiting/'))).size
    }
    await vi.waitFor(async () => expect(await isWaiting()).toBe(streams.length), patience)
    await stop(service)

    await deleteTopics(brokers.kafkaBrokers, publishedOf(environment).KAFKA_TOPIC)
    const silent = await startService({ ...environment, PUBLISH: 'none' })
    for (const each of parked) await petstoreOutput(environment, 'parked', 'discard', placeOf(each), '--yes')
    await untilParked(environment, 0)
    await stop(silent)

    const again = await startService(environment)
    await expectPublished(environment, new Client(again), idsOf(pets))
    await stop(again)
    const last = new Client(await startService(environment))
    pets.push(...(await createMany(last, 24)))
    await expectPublished(environment, last, idsOf(pets))
  })

  it('are left alone where the retention of the published one has emptied it, and not made anew without a position', async () => {
    const { environment, service, client, pets } = await startPublished()
    await emptyPublished(environment)
    await expectTold(environment, async () => ({}))
    const others = await createMany(client, 24)
    await expectPublished(environment, client, idsOf(others))
    await emptyPublished(environment)
    await stop(service)
    const again = await startService(environment)
    const last = await createMany(new Client(again), 24)
    await expectPublished(environment, new Client(again), idsOf(last))
    await emptyPublished(environment)
    await stop(again)

    await deleteTopics(brokers.kafkaBrokers, positionsOf(environment).KAFKA_TOPIC)
    const still = await startService(environment)
    await untilStandsStill(still, /there is no position for them: .*Delete this one too/)
    expect(byStream(await readTopic(publishedOf(environment)))).toEqual({})
    await deleteBesideService(publishedOf(environment))
    await expectPublished(environment, new Client(still), idsOf([...pets, ...others, ...last]))
  })
})
