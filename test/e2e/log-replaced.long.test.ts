import { describe, expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { deleteTopics } from '../brokers/topics.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { byId, Client, codeOf, createMany, type Pet, untilServed } from './client.ts'
import { cutEmbeddedLog } from './embedded-log.ts'
import { Load } from './load.ts'
import {
  brokerEnvironment,
  type Environment,
  expectRefused,
  expectVerified,
  petstore,
  startService,
} from './service.ts'
import { openActiveKeys } from './stored-state.ts'
import {
  createTopic,
  idBlocksOf,
  otherIdBeside,
  petCreated,
  produce,
  readPets,
  readTopic,
  storedCount,
  type Topic,
} from './topic.ts'

/** The pets are those of the log, which are these, and everything in the read models is what the log says. */
async function expectLogServed(environment: Environment & Topic, client: Client, pets: readonly Pet[]): Promise<void> {
  const stored = await readPets(environment)
  expect(stored).toEqual(byId(pets))
  await untilServed(client, stored)
  await expectVerified(environment)
}

/** That the log has events, and which ones came first. */
async function untilNoted(environment: Topic): Promise<void> {
  const noted = async () => {
    const last = (await readTopic(idBlocksOf(environment))).at(-1)
    expect(JSON.parse(String(last?.value)).firstRecords?.length).toBeGreaterThan(0)
  }
  await vi.waitFor(noted, { timeout: 10_000 })
}

describeWithBrokers('when the log is made anew', (brokers) => {
  async function startWithPets(count: number) {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const client = new Client(service)
    return { environment, topic: environment.KAFKA_TOPIC, service, client, pets: await createMany(client, count) }
  }

  it('without any event beside processes that run, they end and none starts, until the events are put back', async () => {
    const { environment, topic, service, client, pets } = await startWithPets(20)
    const idle = await startService(environment)
    await untilNoted(environment)
    const backup = await readTopic(environment)
    await deleteTopics(brokers.kafkaBrokers, topic)
    const load = new Load([client], 4)
    await load.until(1, 503)
    await createTopic(environment)
    for (const each of [service, idle]) {
      expect(await each.ended, each.output()).toBe(1)
      expect(each.output()).toContain(`${topic} held events, and is empty now`)
      expect(each.output()).toContain('"msg":"closed"')
    }
    await load.stop()
    expect(load.told.filter(({ status }) => ![503, 504, undefined].includes(status))).toEqual([])
    expect(await storedCount(environment)).toBe(0)
    const gone = new RegExp(`Topic ${topic} is empty, but ${topic}.id-blocks belongs to a log with events`)
    await expectRefused(environment, gone)
    expect(await petstore(environment, 'verify')).toMatchObject({ code: 1, errors: expect.stringMatching(gone) })

    await produce(
      environment,
      backup.map(({ key, value }) => ({ key, value })),
    )
    await expectLogServed(environment, new Client(await startService(environment)), pets)
  })

  it('with other events beside a process that runs, it ends, none starts, and the last copy in Redis stays', async () => {
    const { environment, topic, service, client, pets } = await startWithPets(20)
    await untilNoted(environment)
    const { redis, keys } = await openActiveKeys(environment)
    const backup = await readTopic(environment)
    await deleteTopics(brokers.kafkaBrokers, topic)
    const load = new Load([client], 4)
    await load.until(1, 503)
    await createTopic(environment)
    const another = { id: otherIdBeside(pets[0]?.id ?? 0), name: 'another', categoryId: 1, status: 'sold' }
    await produce(environment, [petCreated({ eventId: 'another', pet: another, streamversion: 1 })])
    expect(await service.ended, service.output()).toBe(1)
    expect(service.output()).toMatch(/has none of its first events|held events, and is empty now/)
    await load.stop()
    expect(load.told.filter(({ status }) => ![503, 504, undefined].includes(status))).toEqual([])
    await expectRefused(
      environment,
      new RegExp(`Topic ${topic} was made anew, but ${topic}.id-blocks belongs to a log`),
    )
    expect(await redis.zcard(keys.set('pets'))).toBe(20)

    await deleteTopics(brokers.kafkaBrokers, topic)
    await createTopic(environment)
    await produce(
      environment,
      backup.map(({ key, value }) => ({ key, value })),
    )
    await expectLogServed(environment, new Client(await startService(environment)), pets)
  })

  it('as another log beside a process that still runs, that one ends, and a new one serves the new log', async () => {
    const { environment, topic, service, client, pets } = await startWithPets(20)
    const load = new Load([client], 4)
    await load.until(10)
    await deleteTopics(brokers.kafkaBrokers, topic, `${topic}.id-blocks`)
    await load.until(1, 503)
    const { code, errors } = await petstore(environment, 'verify')
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringMatching(/There are no read models yet/) })
    const next = new Client(await startService(environment)) // makes the topics anew
    expect(await service.ended, service.output()).toBe(1)
    expect(service.output().match(/the event log was replaced/g)).toHaveLength(1)
    expect(service.output()).toContain('"msg":"closed"')
    await load.stop()
    expect(await storedCount(environment)).toBe(0)
    expect(codeOf(await next.get(pets[0]?.id ?? 0))).toBe('pet_not_found')
    await expectLogServed(environment, next, await createMany(next, 20))
  })
})

describe('when the embedded log has lost its last events', () => {
  it('the pets are those of the log, whether nothing, fewer events or more are written afterwards', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    let pets: Pet[] = []
    for (const count of [150, 0, 20, 200]) {
      const service = await startService(environment)
      const client = new Client(service)
      pets.push(...(await createMany(client, count)))
      await untilServed(client, pets)
      await expectVerified(environment)
      await service.end('SIGKILL')
      const kept = cutEmbeddedLog(environment.DATA_DIR, 60)
      pets = pets.filter(({ id }) => kept.has(id))
    }
  })
})
