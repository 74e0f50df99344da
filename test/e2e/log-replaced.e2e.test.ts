import { expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, codeOf } from './client.ts'
import { createMany, expectLogServed } from './log-served.ts'
import { expectVerified, petstore } from './petstore.ts'
import { brokerEnvironment, startService } from './service-process.ts'
import { createTopic, deleteTopics, petCreated, petsIn, produce, readEvents } from './topic.ts'

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
})
