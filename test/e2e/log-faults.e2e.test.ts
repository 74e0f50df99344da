import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { KafkaMessage } from 'kafkajs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startRedis } from '../brokers/brokers.ts'
import { describeWithBrokers, describeWithLocalBrokers } from '../brokers/describe.ts'
import { startKafka } from '../brokers/processes.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { byId, Client, codeOf, createMany, createOnce, inParallel, type Pet, untilServed } from './client.ts'
import { Load } from './load.ts'
import {
  brokerEnvironment,
  type Environment,
  expectRefused,
  expectVerified,
  petstore,
  startService,
} from './service.ts'
import {
  createTopic,
  deleteTopics,
  idBlocksOf,
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

/** The topic of the events, with these of them, each in its partition. */
async function putBack(environment: Environment & Topic, events: readonly KafkaMessage[]): Promise<void> {
  await createTopic(environment)
  await produce(
    environment,
    events.map(({ key, value }) => ({ key, value })),
  )
}

describeWithBrokers('when the log is made anew', (brokers) => {
  async function startWithPets(count: number) {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const client = new Client(service)
    const pets = await createMany(client, count)
    const expectGone = async (now: Client) => expect(codeOf(await now.get(pets[0]?.id ?? 0))).toBe('pet_not_found')
    return { environment, topic: environment.KAFKA_TOPIC, service, client, pets, expectGone }
  }

  it('with some of its events, new ones take the positions of the others', async () => {
    const { environment, topic, service } = await startWithPets(300)
    await service.end('SIGTERM')
    const kept = (await readTopic(environment)).slice(0, 100)
    await deleteTopics(brokers.kafkaBrokers, topic)
    await putBack(environment, kept)
    const keptPets = await readPets(environment)
    expect(keptPets).toHaveLength(100)
    const client = new Client(await startService(environment))
    const more = await createMany(client, 300)
    await expectLogServed(environment, client, [...keptPets, ...more])
  })

  it('without any event beside processes that run, they end and none starts, until the events are put back', async () => {
    const { environment, topic, service, client, pets } = await startWithPets(20)
    const idle = await startService(environment)
    const noted = async () => expect(await storedCount(idBlocksOf(environment))).toBe(3) // that it has events
    await vi.waitFor(noted, { timeout: 10_000 })
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

    await putBack(environment, backup)
    await expectLogServed(environment, new Client(await startService(environment)), pets)
  })

  it('as another log, it has no read models yet; a start gives a 404 for what was in the one before', async () => {
    const { environment, topic, service, expectGone } = await startWithPets(20)
    await service.end('SIGTERM')
    await deleteTopics(brokers.kafkaBrokers, topic, `${topic}.id-blocks`)
    const { code, errors } = await petstore(environment, 'verify')
    expect({ code, errors }).toEqual({ code: 1, errors: expect.stringMatching(/There are no read models yet/) })
    const client = new Client(await startService(environment))
    await vi.waitFor(() => expectGone(client), { timeout: 10_000 }) // a projector has to look first
    expect(await client.list()).toEqual([])
    await expectVerified(environment)
    await expectLogServed(environment, client, await createMany(client, 60))
  })

  it('as another log beside a process that still runs, that one ends, and a new one serves the new log', async () => {
    const { environment, topic, service, client, expectGone } = await startWithPets(20)
    const load = new Load([client], 4)
    await load.until(10)
    await deleteTopics(brokers.kafkaBrokers, topic, `${topic}.id-blocks`)
    await load.until(1, 503)
    const next = new Client(await startService(environment)) // makes the topics anew
    const ready = performance.now()
    expect(await service.ended, service.output()).toBe(1)
    expect(performance.now() - ready).toBeLessThan(10_000)
    expect(service.output().match(/the event log was replaced/g)).toHaveLength(1)
    expect(service.output()).toContain('"msg":"closed"')
    await load.stop()
    expect(await storedCount(environment)).toBe(0)
    await expectGone(next)
    await expectLogServed(environment, next, await createMany(next, 20))
  })
})

describeWithLocalBrokers('when Kafka comes back without its last records', () => {
  async function start() {
    const folder = mkdtempSync(join(tmpdir(), 'petstore-kafka-'))
    const [kafka, redis] = await Promise.all([startKafka({}, { folder }), startRedis()])
    onTestFinished(async () => void (await Promise.all([kafka.remove(), redis.remove()])))
    /** Copies these of its partitions. Resolves to what kills it and puts them back. */
    async function snapshot(...partitions: string[]): Promise<() => Promise<void>> {
      const [data, backup] = [join(folder, 'data'), temporaryFolder()]
      await kafka.stop()
      for (const name of partitions) cpSync(join(data, name), join(backup, name), { recursive: true })
      await kafka.start()
      return async () => {
        await kafka.kill()
        for (const name of partitions) {
          rmSync(join(data, name), { recursive: true })
          cpSync(join(backup, name), join(data, name), { recursive: true })
        }
        await kafka.start()
      }
    }
    return { environment: brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl: redis.url }), snapshot }
  }

  it('and forgot who has a block of ids, that process ends, and no pet takes the place of another', async () => {
    const { environment, snapshot } = await start()
    const [first, second] = [await startService(environment), await startService(environment)]
    const goBack = await snapshot(`${environment.KAFKA_TOPIC}.id-blocks-0`) // the identity of the log, and no block
    const before = await createMany(new Client(first), 60)
    await goBack()
    // The other process reserves the same block now: what it writes under ids that are there is superseded.
    const answers = await inParallel(60, 8, (i) => createOnce(new Client(second), `keyed ${i}`))
    expect(await first.ended, first.output()).toBe(1)
    expect(first.output()).toMatch(/id-blocks (ends before|has another record at) offset 1"/)
    const again = new Client(await startService(environment))
    const after = await createMany(again, 60)
    const pets = byId([...before, ...answers.map(({ pet }) => pet), ...after])
    expect(new Set(pets.map(({ id }) => id)).size).toBe(180)
    expect(await again.list()).toEqual(pets)
    await expectVerified(environment)
  })

  it('as a disk that was put back would have it, the pets are those of the log', async () => {
    const { environment, snapshot } = await start()
    const client = new Client(await startService(environment))
    const kept = await createMany(client, 60)
    const goBack = await snapshot(...[0, 1, 2, 3, 4, 5].map((partition) => `${environment.KAFKA_TOPIC}-${partition}`))
    await createMany(client, 300)
    await goBack()
    await untilServed(client, kept)
    const more = await createMany(client, 60)
    await expectLogServed(environment, client, [...kept, ...more])
  })
})

describe('when the embedded log has lost its last events', () => {
  it.each([
    ['nothing is written', 0],
    ['fewer events are written', 20],
    ['more events are written', 200],
  ])('the pets are those of the log, though %s afterwards', async (_, count) => {
    const environment = { DATA_DIR: temporaryFolder() }
    const service = await startService(environment)
    const pets = await createMany(new Client(service), 150)
    await service.end('SIGKILL')
    const kept = cutEmbeddedLog(environment.DATA_DIR, 50)
    const client = new Client(await startService(environment))
    const more = await createMany(client, count)
    await untilServed(client, [...pets.filter(({ id }) => kept.has(id)), ...more])
    await expectVerified(environment)
  })
})

function cutEmbeddedLog(folder: string, length: number): ReadonlySet<number> {
  const db = new DatabaseSync(join(folder, 'event-log.db'))
  db.prepare('DELETE FROM records WHERE "offset" >= ?').run(length)
  const kept = db.prepare('SELECT value FROM records').all()
  db.close()
  return new Set(kept.map(({ value }) => JSON.parse(Buffer.from(value as Uint8Array).toString()).data.id as number))
}
