import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { deleteTopics, patientKafka } from '../brokers/topics.ts'
import { beginTransaction } from '../brokers/transactions.ts'
import { Client, createMany, createOnce, type Pet } from './client.ts'
import {
  byStream,
  deleteBesideService,
  expectPublished,
  expectTold,
  idsOf,
  patience,
  publishedOf,
  untilPublishing,
  untilStandsStill,
} from './published-topic.ts'
import { brokerEnvironment, petstoreOutput, placeOf, startService, stop, untilParked } from './service.ts'
import { createTopic, otherIdBeside, petChanged, petCreated, produce, readTopic, type Topic } from './topic.ts'

const change = (pet: Pet, streamversion: number) => petChanged({ pet, streamversion })

function foreign(id: number, streamversion = 1, typeVersion = 1) {
  const pet = { id, name: `foreign ${id}`, categoryId: 1, status: 'available' }
  return petCreated({ eventId: `foreign ${id} ${streamversion}`, pet, streamversion, typeVersion })
}

/** Transactions that interleave, of which one is committed. */
async function foreignTransactions(topic: Topic, committed: readonly number[], aborted: readonly number[]) {
  const begin = () => beginTransaction(patientKafka(topic.KAFKA_BROKERS), topic.KAFKA_TOPIC)
  const [one, other] = [await begin(), await begin()]
  await one.send(...aborted.map((id) => foreign(id)))
  await other.send(...committed.map((id) => foreign(id)))
  await one.abort()
  await other.commit()
}

async function untilServed(client: Client, streams: readonly number[]): Promise<void> {
  await vi.waitFor(async () => {
    for (const stream of streams) expect((await client.get(stream)).status, String(stream)).toBe(200)
  }, patience)
}

describeWithBrokers('what is published of a journal', (brokers) => {
  it('is what took effect, however much beside it is in the log, and the same when it is told again', async () => {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const client = new Client(service)
    const pets = await createMany(client, 24)
    const [first, second, third, fourth] = pets as [Pet, Pet, Pet, Pet]
    const { pet: once } = await createOnce(client, 'once')
    const journal = await readTopic(environment)
    const duplicate = String(otherIdBeside(once.id))
    const keyed = journal.find(({ key }) => String(key) === String(once.id))
    await produce(environment, [{ key: String(once.id), value: keyed?.value ?? null }]) // superseded
    await produce(environment, [
      foreign(6_000_099),
      { ...foreign(6_000_099), value: String(keyed?.value) }, // of another key than its subject
      { key: duplicate, value: String(keyed?.value).replaceAll(`${once.id}`, duplicate) }, // its key is decided
      { key: null, value: 'garbage' },
      { key: '1', value: null },
    ])
    await foreignTransactions(environment, [6_000_001, 6_000_002], [6_000_011, 6_000_012, 6_000_013])
    const rivals = ['one', 'rival', 'another'].map((name) => change({ ...first, name }, 2))
    await produce(environment, [...rivals, change({ ...first, name: 'next' }, 3), change({ ...first, name: 'no' }, 9)])
    const usurper = foreign(second.id, 2)
    const behind = [change({ ...second, name: 'rival of the parked' }, 2), change({ ...second, name: 'behind' }, 3)]
    await produce(environment, [usurper, ...behind, foreign(third.id, 2), foreign(6_000_003, 1, 9)])
    const parked = await untilParked(environment, 5)
    const streams = [...idsOf(pets), once.id, 6_000_001, 6_000_002, 6_000_099]
    await untilServed(client, streams)
    await expectPublished(environment, client, streams)

    const usurping = parked.find(({ value }) => value === usurper.value)
    if (usurping === undefined) throw new Error('it is not parked')
    await petstoreOutput(environment, 'parked', 'discard', placeOf(usurping), '--yes')
    await untilParked(environment, 2)
    expect((await client.change(second.id, { name: 'after' })).status).toBe(200)
    if ((await client.remove(fourth.id)).status !== 204) expect((await client.place(fourth.id)).status).toBe(409)
    pets.push(...(await createMany(client, 24)))
    streams.push(...idsOf(pets.slice(24)))
    await expectPublished(environment, client, streams)

    const before = byStream(await readTopic(publishedOf(environment)))
    await deleteBesideService(publishedOf(environment))
    await expectTold(environment, async () => before)
    await untilPublishing(service)
  })

  it.each<[string, RegExp, boolean]>([
    ['has lost its end', /ends at offset \d+, and was published up to \d+: it has lost its end/, false],
    ['has another end', /has another record at offset \d+: it has lost its end/, true],
  ])('is nothing more once the log %s, until an operator deletes what was published', async (_, reason, isReplaced) => {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const pets = await createMany(new Client(service), 60)
    await expectPublished(environment, new Client(service), idsOf(pets))
    await stop(service)
    const journal = [...Map.groupBy(await readTopic(environment), ({ partition }) => partition).values()]
    await deleteTopics(brokers.kafkaBrokers, environment.KAFKA_TOPIC)
    await createTopic(environment)
    const kept = journal.flatMap((records) => records.slice(0, isReplaced ? -1 : -2))
    const others = journal.map(([record], i) => ({
      partition: record?.partition ?? 0,
      key: String(i),
      value: 'garbage',
    }))
    const restored = kept.map(({ partition, key, value }) => ({ partition, key, value }))
    await produce(environment, [...restored, ...(isReplaced ? others : [])])

    const again = await startService(environment)
    const client = new Client(again)
    await untilStandsStill(again, reason) // though nobody has added anything
    const more = await createMany(client, 60)
    await deleteBesideService(publishedOf(environment))
    const streams = new Set([...kept.map(({ key }) => Number(key)), ...idsOf(more)])
    await expectPublished(environment, client, [...streams])
  })
})
