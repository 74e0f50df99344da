import kafkajs from 'kafkajs'
import { expect, it, vi } from 'vitest'
import { eventSchemas } from '../../src/domain/event-schemas.ts'
import { compileCheck } from '../../src/lib/validation.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, expectExactly, expectExactText, inParallel, type Pet, statuses } from './client.ts'
import { brokerEnvironment, startRefused, startService } from './service-process.ts'
import { kafkaClient, readTopic } from './topic.ts'

const patience = { timeout: 30_000, interval: 50 }

describeWithBrokers('on Kafka and Redis', (brokers) => {
  async function startRoles(environment = brokerEnvironment(brokers)) {
    const start = (ROLE: string) => startService({ ...environment, ROLE })
    const projectors = [await start('projector'), await start('projector')] as const
    const apis = [await start('api'), await start('api')] as const
    return { environment, apis, projectors, clients: [new Client(apis[0]), new Client(apis[1])] as const }
  }

  it('every 201 is there once, although a projector is killed with kill -9 during the writes', async () => {
    const { clients, projectors, apis } = await startRoles()
    const pets = await inParallel(1000, 16, async (i) => {
      if (i === 300) await projectors[0].end('SIGKILL')
      return (i % 2 ? clients[0] : clients[1]).create(`pet ${i}`, statuses[i % 3])
    })
    await untilComplete(clients[0], pets)
    await expectExactly(clients[0], pets)
    await expectExactly(clients[1], pets)
    expect(apis.every((api) => api.running())).toBe(true)
  })

  it('every 201 is there once, although an API process is killed with kill -9 during the writes', async () => {
    const { clients, apis } = await startRoles()
    const created: Pet[] = []
    await inParallel(1000, 16, async (i) => {
      if (i === 300) await apis[0].end('SIGKILL')
      const pet = await (i % 2 ? clients[0] : clients[1]).create(`pet ${i}`, statuses[i % 3]).catch(() => undefined)
      if (pet !== undefined) created.push(pet)
    })
    expect(created.length).toBeGreaterThan(500)
    await untilComplete(clients[1], created)
    const listed = await clients[1].list({ limit: 100 })
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length)
    expect(listed).toEqual(expect.arrayContaining(created))
    // What was in flight on the killed process may be there as well, but also once: names are unique here.
    expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length)
  })

  it('a pet added through one instance is seen by the next GET on the other', async () => {
    const { clients } = await startRoles()
    await clients[0].create('warm-up') // the group of the projectors may still be joining
    await vi.waitFor(async () => expect(await clients[1].list()).toHaveLength(1), patience)
    for (let i = 0; i < 100; i++) {
      const pet = await clients[i % 2 ? 0 : 1].create(`pet ${i}`)
      expect((await clients[i % 2 ? 1 : 0].get(pet.id)).body).toEqual(pet)
    }
  })

  it('all roles in one process serve as well', async () => {
    const service = await startService(brokerEnvironment(brokers))
    const client = new Client(service)
    const pets = await inParallel(100, 8, (i) => client.create(`pet ${i}`, statuses[i % 3]))
    await untilComplete(client, pets)
    await expectExactly(client, pets)
    await expectExactText(service.url)
  })

  it('any Kafka client reads the topic: key is the id, value a CloudEvent', async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const pets = await inParallel(20, 4, (i) => client.create(`pet ${i}`, statuses[i % 3]))
    const messages = await readTopic(brokers.kafkaBrokers, environment.KAFKA_TOPIC)
    const check = compileCheck(eventSchemas['petstore.PetCreated.v1'])
    for (const { key, value, headers } of messages) {
      const event = JSON.parse(String(value))
      expect(check(event)).toBeUndefined()
      expect(String(key)).toBe(String(event.data.id))
      expect(event.subject).toBe(String(key))
      expect(String(headers?.['content-type'])).toBe('application/cloudevents+json')
      expect(pets).toContainEqual(event.data)
    }
    expect(new Set(messages.map(({ value }) => JSON.parse(String(value)).id)).size).toBe(pets.length)
  })

  it('garbage from another producer is skipped or parked, and everything after it is projected', async () => {
    const environment = brokerEnvironment(brokers)
    const { url } = await startService(environment)
    const client = new Client({ url })
    const before = await client.create('before')
    await vi.waitFor(async () => expect((await client.get(before.id)).status).toBe(200), patience)
    const event = { specversion: '1.0', type: 'petstore.PetCreated.v1', source: '/elsewhere', id: 'another' }
    const garbage = [
      { value: null },
      { value: 'not JSON' },
      { key: '1', value: '' },
      { value: JSON.stringify({ ...event, type: 'petstore.PetFed.v1' }) },
      { key: '5', value: JSON.stringify({ ...event, type: 'petstore.PetCreated.v2', subject: '5', streamversion: 1 }) },
      { value: JSON.stringify({ ...event, data: { id: 'five' } }) },
      { value: JSON.stringify({ ...event, subject: String(before.id), data: { ...before, name: 'usurper' } }) },
    ]
    // To every partition, so that every later event comes after garbage; a pet's second event where its first one is.
    await produce(
      environment.KAFKA_TOPIC,
      [0, 1, 2, 3, 4, 5].flatMap((partition) => garbage.slice(0, 6).map((each) => ({ partition, ...each }))),
    )
    await produce(environment.KAFKA_TOPIC, [{ key: String(before.id), ...garbage[6] } as { value: string }])
    const after = await inParallel(60, 8, (i) => client.create(`after ${i}`))
    await untilComplete(client, [before, ...after])
    await expectExactly(client, [before, ...after])
  })

  it('a topic with another number of partitions stops the boot and says what to do', async () => {
    const environment = brokerEnvironment(brokers)
    await (await startService(environment)).end('SIGTERM')
    const { output, code } = await startRefused({ ...environment, KAFKA_PARTITIONS: '3' })
    expect(code).toBe(1)
    expect(output).toMatch(/KAFKA_PARTITIONS/)
  })

  async function produce(topic: string, messages: { partition?: number; key?: string; value: string | null }[]) {
    const producer = kafkaClient(brokers.kafkaBrokers).producer({
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    })
    await producer.connect()
    await producer.send({ topic, messages })
    await producer.disconnect()
  }
})

/** A POST answers 201 when its event is durable, though the projection may be late when a projector was killed. */
async function untilComplete(client: Client, pets: readonly Pet[]): Promise<void> {
  await vi.waitFor(
    async () => expect((await client.list({ limit: 100 })).length).toBeGreaterThanOrEqual(pets.length),
    patience,
  )
}
