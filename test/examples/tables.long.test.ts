import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { createTopics, deleteTopics, patientKafka } from '../brokers/topics.ts'
import { Client, inParallel } from '../e2e/client.ts'
import { documentsOf } from '../e2e/published-topic.ts'
import { brokerEnvironment, startCommand, startService } from '../e2e/service.ts'
import { produce, storedCount, type Topic } from '../e2e/topic.ts'
import { disturb, manyPets, parkAndDiscard, patientWrites, sell } from './history.ts'
import { pasted } from './pasted.ts'
import { hasPython, inEachLanguage, StoredExample } from './stored-example.ts'

const patience = { timeout: 120_000, interval: 100 }
const stored = {
  table: 'pets',
  slowWhen: 'NEW.id % 32 = 0',
  progress: 'total(version)',
  anew: 'DELETE FROM pets; DELETE FROM positions',
}
const tablesOf = (topic: Topic) => inEachLanguage('table').map((name) => new StoredExample(name, stored, topic))
const daysAgo = (count: number) => Date.now() - count * 24 * 60 * 60 * 1000

/** As the table has a pet whose tombstone came and went while its program did not run. */
const stale = [6_000_001, '{"id":6000001}'] as const
const plantStale = `INSERT INTO pets VALUES (${stale[0]}, 1, '${stale[1]}')`

describeWithBrokers('the examples of tables', (brokers) => {
  it('have each pet as GET shows it, and no other, whatever kills them', async () => {
    const environment = { ...brokerEnvironment(brokers), ...patientWrites }
    const service = new Client(await startService(environment))
    await sell(service, 40)
    await produce(environment, manyPets)
    await disturb(environment)
    await parkAndDiscard(environment)

    const tables = tablesOf(environment)
    for (let round = 0; round < 5; round++) {
      await Promise.all([sell(service, 10), ...tables.map((table) => table.killAtWork())])
    }
    const shown = await shownBy(service)
    expect(shown.length).toBeGreaterThan(1500)
    for (const table of tables) await table.until(() => expect(petsOf(table)).toEqual(shown))

    const dump = "setInterval(() => console.log('pets', JSON.stringify([...pets])), 100)\n"
    const inMemory = startCommand([process.execPath, pasted('Load the pets as a table', 10, environment, dump)], {})
    await vi.waitFor(() => {
      const [, last = '[]'] = [...inMemory.output().matchAll(/^pets (.*)\n/gm)].at(-1) ?? []
      const pets: [string, string][] = JSON.parse(last)
      const found = pets.map(([id, json]) => [Number(id), json] as const)
      expect(found.toSorted(([one], [other]) => one - other)).toEqual(shown)
    }, patience)

    // An operator has the topic written anew: its offsets are others, and it grows beyond the positions of before.
    for (const table of tables) await table.kill()
    const documents = documentsOf(environment, 'pets')
    await deleteTopics(environment.KAFKA_BROKERS, documents.KAFKA_TOPIC)
    await sell(service, 80)
    await vi.waitFor(() => storedCount(documents), patience)
    const all = await shownBy(service)
    for (const table of tables) table.run(plantStale)
    for (const table of tables) table.beginAnew()
    for (const table of tables) await table.until(() => expect(petsOf(table)).toEqual(all))
  })

  it('load anew after a week away, and not before', async () => {
    for (const name of inEachLanguage('table')) {
      const topic = await documentsByHand(brokers)
      await topic.tell([told(7, 1, '{"id":7}')])
      const table = new StoredExample(name, stored, topic)
      await table.until(() => expect(petsOf(table)).toEqual([[7, '{"id":7}']]))
      await table.kill()
      table.run(`${plantStale}; UPDATE positions SET time = ${daysAgo(5)}`)
      table.restart()
      await topic.tell([told(8, 1, '{"id":8}')])
      await table.until(() => expect(petsOf(table)).toEqual([[7, '{"id":7}'], [8, '{"id":8}'], stale]))
      await table.kill()
      table.run(`UPDATE positions SET time = ${daysAgo(6.1)}`)
      table.restart()
      await table.until(() =>
        expect(petsOf(table)).toEqual([
          [7, '{"id":7}'],
          [8, '{"id":8}'],
        ]),
      )
    }
  })

  it('do not go back while the topic is filled', async () => {
    const topic = await documentsByHand(brokers)
    await topic.tell([
      ...[told(1, 2, 'a'), told(1, 3, 'b'), told(1, 2, 'a')], // an older one is told again
      ...[told(2, 1, 'a'), told(2, 9, null), told(2, 1, 'a')], // and one of a pet that is removed
      ...[told(3, 9, 'b'), told(3, 10, 'c'), told(3, 9, 'b')], // numbers, no texts
      ...[told(4, 2, 'a'), told(4, 2, 'in another way')], // as other projections show the same version
      ...[told(5, 2, null), told(5, 10, 'a'), told(5, 9, null)],
      told(6, 1, 'the last'),
    ])
    for (const table of tablesOf(topic)) {
      await table.until(() => expect(petsOf(table).at(-1)).toEqual([6, 'the last']))
      expect(petsOf(table).slice(0, -1)).toEqual([
        [1, 'b'],
        [3, 'c'],
        [4, 'in another way'],
        [5, 'a'],
      ])
    }
  })

  // In CI it has to be there: the tests above fail without it.
  if (!hasPython && !process.env.CI) it.skip('in Python: needs confluent-kafka, see examples/README.md')
})

/** A record of the topic of pets. All lie in one partition, so they have one order. */
function told(id: number, version: number, value: string | null) {
  const headers = { 'content-type': 'application/json', stream: String(id), streamversion: String(version) }
  return { partition: 0, key: String(id), value, headers }
}

/** A topic of pets that no service writes to. */
async function documentsByHand(brokers: Parameters<typeof brokerEnvironment>[0]) {
  const { KAFKA_BROKERS, KAFKA_TOPIC } = brokerEnvironment(brokers)
  const { KAFKA_TOPIC: topic } = documentsOf({ KAFKA_BROKERS, KAFKA_TOPIC }, 'pets')
  await createTopics(KAFKA_BROKERS, { topic, numPartitions: 2 })
  async function tell(messages: ReturnType<typeof told>[]): Promise<void> {
    const producer = patientKafka(KAFKA_BROKERS).producer()
    await producer.connect()
    await producer.send({ topic, messages })
    await producer.disconnect()
  }
  return { KAFKA_BROKERS, KAFKA_TOPIC, tell }
}

type Pets = readonly (readonly [id: number, json: string])[]

/** Each pet, digit by digit. */
async function shownBy(service: Client): Promise<Pets> {
  const pets = await service.list()
  return await inParallel(pets.length, 8, async (i) => {
    const { id = 0 } = pets[i] ?? {}
    return [id, (await service.get(id)).text] as const
  })
}

function petsOf(table: StoredExample): Pets {
  const rows = table.rows('SELECT id, pet FROM pets WHERE pet IS NOT NULL ORDER BY id')
  return rows.map(({ id, pet }) => [Number(id), String(pet)] as const)
}
