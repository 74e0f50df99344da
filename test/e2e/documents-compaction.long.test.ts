import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { patientKafka } from '../brokers/topics.ts'
import { alterTopic } from '../engine/log/kafka/kafka-fixture.ts'
import { whenDone } from '../lib/when-done.ts'
import { Client, createMany, inParallel } from './client.ts'
import { documentTopicOf, expectTables, fillingsOf, tableOf, untilFilled } from './document-topics.ts'
import { idsOf, patience } from './published-topic.ts'
import { brokerEnvironment, startService, stop } from './service.ts'
import { readTopic, type Topic } from './topic.ts'

/** Compacts whatever is not of the last moment. */
const atOnce = {
  ...{ 'cleanup.policy': 'compact', 'delete.retention.ms': String(7 * 24 * 3_600_000) },
  ...{ 'segment.ms': '500', 'min.cleanable.dirty.ratio': '0.001', 'max.compaction.lag.ms': '1' },
}

/** Loads a topic into a table from its first record on; goes no further than some of them until `goOn`. */
async function startLoading({ KAFKA_BROKERS, KAFKA_TOPIC: topic }: Topic) {
  const table = new Map<number, string | null>()
  const [begun, allowed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const consumer = patientKafka(KAFKA_BROKERS).consumer({ groupId: `${topic}.loads`, maxBytesPerPartition: 1 })
  whenDone(() => consumer.disconnect())
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message: { key, value }, heartbeat }) => {
      table.set(Number(key), value && String(value))
      begun.resolve()
      const beats = setInterval(() => void heartbeat().catch(() => {}), 1000)
      await allowed.promise
      clearInterval(beats)
    },
  })
  await begun.promise
  return { table, goOn: allowed.resolve }
}

const values = (table: ReadonlyMap<number, { readonly value: Buffer | null }>) =>
  new Map([...table].map(([id, { value }]) => [id, value && String(value)]))

describeWithBrokers('topics of documents that are compacted', (brokers) => {
  it('give a consumer that loads meanwhile the right table, and their publisher goes on', async () => {
    const environment = brokerEnvironment(brokers)
    const topic = documentTopicOf(environment, 'pets')
    const first = await startService(environment)
    await untilFilled(environment)
    const client = new Client(first)
    const pets = idsOf(await inParallel(12, 6, (i) => client.create(`pet ${i}`)))
    const orders = idsOf(await inParallel(3, 3, (i) => client.order(pets[i] ?? 0)))
    const known = { pets, orders }
    const change = async (text: string) => {
      await inParallel(pets.length, 6, async (i) => {
        expect((await client.change(pets[i] ?? 0, { description: text })).status).toBe(200)
      })
      await expectTables(environment, client, known)
    }
    await change('before')
    const { table, goOn } = await startLoading(topic)
    await alterTopic(brokers.kafkaBrokers, topic.KAFKA_TOPIC, atOnce)
    for (let round = 0; round < 6; round++) await change(`change ${round}`)
    await vi.waitFor(async () => expect((await readTopic(topic)).length).toBeLessThan(4 * pets.length), patience)
    goOn()
    await change('behind')
    expect((await client.remove(pets[11] ?? 0)).status).toBe(204)
    await expectTables(environment, client, known)
    await vi.waitFor(async () => expect(table).toEqual(values(await tableOf(environment, 'pets'))), patience)
    await stop(first)

    const copied = await fillingsOf(environment)
    const again = await startService(environment)
    pets.push(...idsOf(await createMany(new Client(again), 12)))
    await expectTables(environment, new Client(again), known)
    const since = [...(await fillingsOf(environment))].flatMap(([key, all]) => all.slice(copied.get(key)?.length))
    expect(since.length).toBeGreaterThan(0)
    expect(since.filter(({ copying }) => copying !== undefined)).toEqual([])
    await stop(again)
  })
})
