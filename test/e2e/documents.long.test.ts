import { expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { asAdmin, deleteTopics, settingsOf } from '../brokers/topics.ts'
import { Client, createMany, inParallel } from './client.ts'
import { deleteDocumentTopics, documentTopicOf, expectTables, headersIn, untilFilled } from './document-topics.ts'
import { positionsOf, untilPublishing } from './published-topic.ts'
import { brokerEnvironment, startService, stop } from './service.ts'

const settings = {
  'cleanup.policy': 'compact',
  'delete.retention.ms': String(7 * 24 * 3_600_000),
  'max.message.bytes': String(2 * 1024 * 1024),
}

describeWithBrokers('the topics of documents', (brokers) => {
  it('have what GET shows, after each event, with the version of the stream that it shows', async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    await untilFilled(environment)
    const [rex, other] = await createMany(client, 2)
    if (rex === undefined || other === undefined) throw new Error('there are two')
    const order = await client.order(rex.id)
    await client.update(order.id, 'cancelled')
    const next = await client.order(rex.id)
    await client.update(next.id, 'approved')
    await client.update(next.id, 'delivered')
    await client.remove(other.id)
    const known = { pets: [rex.id, other.id], orders: [order.id, next.id] }
    await expectTables(environment, client, known)

    const of = (id: number, version: number) => ({
      ...{ 'content-type': 'application/json', stream: String(id), streamversion: String(version) },
    })
    const pets = await headersIn(environment, 'pets')
    expect([pets.get(rex.id), pets.get(other.id)]).toEqual([of(rex.id, 6), of(other.id, 2)])
    // The stream shows the first order until the next one has taken its place.
    const orders = await headersIn(environment, 'orders')
    expect([orders.get(order.id), orders.get(next.id)]).toEqual([of(rex.id, 3), of(rex.id, 6)])
    for (const collection of ['pets', 'orders']) {
      const { KAFKA_BROKERS, KAFKA_TOPIC } = documentTopicOf(environment, collection)
      expect(await settingsOf(KAFKA_BROKERS, KAFKA_TOPIC, Object.keys(settings))).toEqual(settings)
    }
  })

  it('keep an order that is cancelled while the next one is placed, under load', async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const pets = (await inParallel(12, 8, (i) => client.create(`pet ${i}`))).map(({ id }) => id)
    const orders = await inParallel(pets.length, pets.length, async (index) => {
      const placed: number[] = []
      for (let round = 0; round < 8; round++) {
        const { id } = await client.order(pets[index] ?? 0)
        placed.push(id)
        expect((await client.update(id, 'approved')).status).toBe(200)
        expect((await client.update(id, round === 7 ? 'delivered' : 'cancelled')).status).toBe(200)
      }
      return placed
    })
    await expectTables(environment, client, { pets, orders: orders.flat() })
  })

  it('come back where they are deleted, while somebody tells and while nobody does', async () => {
    const environment = brokerEnvironment(brokers)
    const first = await startService(environment)
    const client = new Client(first)
    const pets = (await inParallel(24, 8, (i) => client.create(`pet ${i}`))).map(({ id }) => id)
    const orders = (await inParallel(8, 8, (i) => client.order(pets[i] ?? 0))).map(({ id }) => id)
    for (const id of pets.slice(8, 12)) await client.remove(id)
    await expectTables(environment, client, { pets, orders })
    await untilPublishing(first)

    await deleteDocumentTopics(environment)
    pets.push(...(await createMany(client, 12)).map(({ id }) => id))
    await expectTables(environment, client, { pets, orders })
    const one = documentTopicOf(environment, 'orders').KAFKA_TOPIC
    await asAdmin(environment.KAFKA_BROKERS, (admin) => admin.deleteTopics({ topics: [one] }))
    await expectTables(environment, client, { pets, orders })
    await stop(first)

    for (const topics of [['pets', 'orders'], ['pets'], ['pets', 'orders', 'positions']]) {
      const names = topics.map((each) =>
        each === 'positions' ? positionsOf(environment) : documentTopicOf(environment, each),
      )
      await deleteTopics(brokers.kafkaBrokers, ...names.map(({ KAFKA_TOPIC }) => KAFKA_TOPIC))
      const service = await startService(environment)
      pets.push(...(await createMany(new Client(service), 6)).map(({ id }) => id))
      await expectTables(environment, new Client(service), { pets, orders })
      await stop(service)
    }
  })
})
