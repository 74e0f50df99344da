import { expect, it } from 'vitest'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { createTopics, deleteTopics } from '../brokers/topics.ts'
import { shared } from '../lib/when-done.ts'
import { Client, createMany, inParallel } from './client.ts'
import { documentTopicOf, expectTables, untilFilled } from './document-topics.ts'
import { startHeldBrokers, type Way } from './held-kafka.ts'
import {
  deleteBesideService,
  expectPublished,
  idsOf,
  positionsOf,
  untilPublishing,
  untilStandsStill,
} from './published-topic.ts'
import { type brokerEnvironment, startService, stop } from './service.ts'
import { produce, readTopic, type Topic } from './topic.ts'

type Environment = ReturnType<typeof brokerEnvironment>

describeWithLocalBrokers('a topic of documents that is not as it was left', () => {
  const started = shared(() => startHeldBrokers(1))

  /** Stopped, with something told in each partition, of events and of documents. */
  async function told() {
    const environment = started().newEnvironment()
    const service = await startService(environment)
    const client = new Client(service)
    const pets = idsOf(await inParallel(48, 8, (i) => client.create(`pet ${i}`)))
    const orders = idsOf(await inParallel(24, 8, (i) => client.order(pets[i] ?? 0)))
    for (const id of pets.slice(24, 30)) await client.remove(id)
    await expectTables(environment, client, { pets, orders })
    await expectPublished(environment, client, pets)
    await stop(service)
    return { environment, known: { pets, orders } }
  }
  function remove({ KAFKA_BROKERS, KAFKA_TOPIC }: Topic): Promise<void> {
    return deleteTopics(KAFKA_BROKERS, KAFKA_TOPIC)
  }
  /** It goes on by itself, and nothing stands still any more. */
  async function expectBack(environment: Environment, known: { pets: number[]; orders: number[] }): Promise<void> {
    const service = await startService(environment)
    const client = new Client(service)
    known.pets.push(...idsOf(await createMany(client, 6)))
    await expectTables(environment, client, known)
    await untilPublishing(service)
    await stop(service)
  }

  it('has lost its end: it is filled again', async () => {
    const { environment, known } = await told()
    const pets = documentTopicOf(environment, 'pets')
    const records = await readTopic(pets)
    const first = [...Map.groupBy(records, ({ partition }) => partition).values()].flatMap((of) => of.slice(0, 1))
    await remove(pets)
    const configEntries = [{ name: 'cleanup.policy', value: 'compact' }]
    await createTopics(pets.KAFKA_BROKERS, { topic: pets.KAFKA_TOPIC, numPartitions: 6, configEntries })
    const restored = first.map(({ partition, key, value }) => ({ partition, key, value }))
    await produce(pets, restored)
    await expectBack(environment, known)
  })

  it('has a record of a stranger: it stands still until it is deleted, and all else goes on', async () => {
    const { environment, known } = await told()
    const pets = documentTopicOf(environment, 'pets')
    await produce(pets, [{ partition: 1, key: '1', value: 'stranger' }])
    const service = await startService(environment)
    const client = new Client(service)
    await untilStandsStill(service, /documents\.pets has a record at offset \d+ of partition 1, .*delete this topic/)
    known.pets.push(...idsOf(await createMany(client, 12)))
    await expectPublished(environment, client, known.pets)
    await untilStandsStill(service, /documents\.pets has a record at offset/)
    await deleteBesideService(pets)
    await expectTables(environment, client, known)
    await untilPublishing(service)
  })

  it('has no positions: it is filled again, and events stand still', async () => {
    const { environment, known } = await told()
    await remove(positionsOf(environment))
    const service = await startService(environment)
    const client = new Client(service)
    known.pets.push(...idsOf(await createMany(client, 6)))
    await untilStandsStill(service, /\.published holds records in partition \d, and there is no position for them/)
    await untilFilled(environment)
    await client.remove(known.pets[30] ?? 0)
    await expectTables(environment, client, known)
  })

  it('is filled again beside another one that holds all from before, whoever is killed meanwhile', async () => {
    const { environment, known } = await told()
    const way = started().ways[0] as Way
    await remove(documentTopicOf(environment, 'orders'))
    const { arrived, release } = way.hold('request', { apiKey: 0, about: '.documents.' })
    const victim = await startService({ ...environment, KAFKA_BROKERS: way.brokers })
    await arrived
    await victim.end('SIGKILL')
    release()
    const positions = (await readTopic(positionsOf(environment))).map(({ value }) => JSON.parse(String(value)))
    expect(positions).toContainEqual(
      expect.objectContaining({ ends: {}, filled: expect.objectContaining({ copying: expect.anything() }) }),
    )
    await expectBack(environment, known)
  })
})
