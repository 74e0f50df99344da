import { expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, codeOf } from './client.ts'
import { createMany, expectLogServed } from './log-served.ts'
import { expectVerified, petstore } from './petstore.ts'
import { brokerEnvironment, startService } from './service-process.ts'
import { createTopic, deleteTopics, petCreated, petsIn, produce, readEvents, storedCount } from './topic.ts'
import { WriteLoad } from './write-load.ts'

const timeout = 120_000

describeWithBrokers('when the log is made anew', (brokers) => {
  async function startWithPets(count: number) {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const client = new Client(service)
    const pets = await createMany(client, count)
    return { environment, topic: environment.KAFKA_TOPIC, service, client, pets }
  }

  it('with some of its events, new ones take the positions of the others', { timeout }, async () => {
    const { environment, topic, client, pets } = await startWithPets(300)
    const kept = (await readEvents(brokers.kafkaBrokers, topic)).slice(0, 100)
    expect(kept.length).toBeLessThan(pets.length)
    await deleteTopics(brokers.kafkaBrokers, topic)
    await createTopic(brokers.kafkaBrokers, topic)
    await produce(environment, kept.map(petCreated))
    const more = await createMany(client, 300)
    await expectLogServed(environment, client, [...petsIn(kept), ...more])
  })

  it('without any event, verify says that it ends too early, until a projector has seen it', { timeout }, async () => {
    const { environment, topic, service } = await startWithPets(20)
    await service.end('SIGTERM')
    await deleteTopics(brokers.kafkaBrokers, topic)
    const { code, errors } = await petstore(environment, 'verify')
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringMatching(/log ends at 0, but/) })
    const client = new Client(await startService(environment))
    await expectLogServed(environment, client, await createMany(client, 20))
  })

  it('as another log, verify says so, and a start gives a 404 for what was in the one before', {
    timeout,
  }, async () => {
    const { environment, topic, service, pets } = await startWithPets(20)
    await service.end('SIGTERM')
    await deleteTopics(brokers.kafkaBrokers, topic, `${topic}.id-blocks`)
    const { code, errors } = await petstore(environment, 'verify')
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringContaining('made from another log') })
    const client = new Client(await startService(environment))
    expect(codeOf(await client.get(pets[0]?.id ?? 0))).toBe('pet_not_found')
    expect(await client.list()).toEqual([])
    await expectVerified(environment)
    await expectLogServed(environment, client, await createMany(client, 60))
  })

  it('as another log beside a process that still runs, that one ends, and a new one serves the new log', {
    timeout,
  }, async () => {
    const { environment, topic, service, client, pets } = await startWithPets(20)
    const load = new WriteLoad(client, 4)
    await load.until(10, 201)
    await deleteTopics(brokers.kafkaBrokers, topic, `${topic}.id-blocks`)
    await load.until(1, 503)
    const next = new Client(await startService(environment)) // makes the topics anew
    const ready = performance.now()
    expect(await service.ended, service.output()).toBe(1)
    expect(performance.now() - ready).toBeLessThan(10_000)
    expect(service.output().match(/the event log was replaced by another one/g)).toHaveLength(1)
    expect(service.output()).toContain('"msg":"closed"')
    await load.stop().catch(() => {}) // its connections are refused
    expect(await storedCount(brokers.kafkaBrokers, topic)).toBe(0)
    expect(codeOf(await next.get(pets[0]?.id ?? 0))).toBe('pet_not_found')
    await expectLogServed(environment, next, await createMany(next, 20))
  })
})
