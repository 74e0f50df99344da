import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { resultOf } from '../brokers/program.ts'
import { asLogRecord } from '../campaign/system/topic-admin.ts'
import { checkDocuments } from '../judge/documents.ts'
import type { LogRecord } from '../judge/history.ts'
import { checkPublished } from '../judge/published.ts'
import { eventRecord } from '../lib/event-record.ts'
import { Client, createMany, outcomeOf, type Pet } from './client.ts'
import { documentTopicOf, tableOf } from './document-topics.ts'
import { buying, Load } from './load.ts'
import { beforeKinds, describeWithPreviousRelease } from './previous-release.ts'
import { byStream, idsOf, publishedOf, untilPublishing } from './published-topic.ts'
import {
  brokerEnvironment,
  type Environment,
  expectVerified,
  startCommand,
  startRoles,
  startService,
  stop,
  untilParked,
} from './service.ts'
import { petChanged, produce, readTopic, type Topic } from './topic.ts'

const patience = { timeout: 60_000, interval: 250 }
const [partitions, categories] = [6, '/v1/categories']
const paths = { pets: '/v1/pets', orders: '/v1/store/orders', categories } as const

async function recordsIn(topic: Topic): Promise<LogRecord[]> {
  return (await readTopic(topic)).map(asLogRecord)
}

describeWithBrokers('pets and categories in one topic', (brokers) => {
  it('are what the log says, on shards, over crashes, in the published topic and in those of documents', async () => {
    const environment = { ...brokerEnvironment(brokers), READ_MODEL_SHARDS: '3' }
    const { projector, apis } = await startRoles(environment)
    const load = new Load(apis, 8, buying)
    load.follow(2)
    await load.until(20, 201, 'createCategory')
    await Promise.all([projector.end('SIGKILL'), apis[0].end('SIGKILL')])
    const again = await Promise.all([
      startService({ ...environment, ROLE: 'projector' }),
      startService({ ...environment, ROLE: 'api' }),
    ])
    load.turnTo([again[1], apis[1]])
    await load.until(20, 201, 'createCategory')
    await load.until(5, 204, 'removeCategory')
    expect(await load.contradictions(environment)).toEqual([])
    await expectVerified(environment)

    const history = { log: await recordsIn(environment), exchanges: [] }
    await vi.waitFor(async () => {
      expect(checkPublished(history, partitions, await recordsIn(publishedOf(environment)))).toEqual([])
    }, patience)
    const client = new Client(again[1])
    for (const collection of ['pets', 'orders', 'categories'] as const) {
      const shown = async (id: number) => {
        const { status, text } = await client.request(`${paths[collection]}/${id}`)
        return status === 404 ? null : text
      }
      await vi.waitFor(async () => {
        const records = await recordsIn(documentTopicOf(environment, collection))
        expect(records.length).toBeGreaterThan(0)
        expect(await checkDocuments(history, partitions, { collection, records, shown })).toEqual([])
      }, patience)
    }
  })
})

describeWithPreviousRelease('the release before categories', before, beforeKinds)

function before(command: readonly string[]): void {
  const cli = command.map((part) => part.replace(/main\.ts$/, 'cli.ts'))
  const parkedIn = async (environment: Environment) =>
    JSON.parse((await resultOf(startCommand([...cli, 'parked', 'list', '--json'], environment))).output)

  describeWithBrokers('on a log with categories and with records of several events', (brokers) => {
    it('parks them and nothing else, tells what it knows, and is followed by the release that tells the rest', async () => {
      const environment = brokerEnvironment(brokers)
      const old = await startService(environment, command)
      const pets = await createMany(new Client(old), 12)
      const present = await startService(environment)
      const client = new Client(present)
      const { id } = (await client.send('POST', categories, { name: 'Dogs' })).body as Pet
      await client.send('PATCH', `${categories}/${id}`, { name: 'Hounds' })
      const [changed] = pets as [Pet]
      await produce(environment, [severalOf({ ...changed, name: 'once' }, { ...changed, name: 'twice' })])
      await vi.waitFor(
        async () => expect((await client.get(changed.id)).body).toMatchObject({ name: 'twice' }),
        patience,
      )

      const parked = await vi.waitFor(async () => {
        const found = await parkedIn(environment)
        expect(found).toHaveLength(3)
        return found as { readonly stream: string; readonly reason: string }[]
      }, patience)
      const reasons = parked.map(({ stream, reason }) => `${stream}: ${reason}`).sort()
      expect(reasons).toEqual(
        [
          `categories/${id}: type petstore.CategoryAdded.v1 is unknown`,
          `categories/${id}: an earlier event of this stream is parked`,
          `${changed.id}: type petstore.Several.v1 is unknown`,
        ].sort(),
      )
      const oldClient = new Client(old)
      expect((await oldClient.get(changed.id)).text).toBe(JSON.stringify(changed))
      expect(outcomeOf(await oldClient.place(changed.id))).toBe('503 stream_parked')
      expect(outcomeOf(await oldClient.request(categories))).toBe('404 route_not_found')
      await stop(present)

      await untilPublishing(old)
      pets.push(await oldClient.create('Rex'))
      const told = async () => byStream(await readTopic(publishedOf(environment)))
      await vi.waitFor(
        async () => expect(Object.keys(await told())).toEqual(expect.arrayContaining(idsOf(pets).map(String))),
        patience,
      )

      const next = await startService(environment)
      await stop(old)
      const nextClient = new Client(next)
      expect((await nextClient.request(`${categories}/${id}`)).body).toEqual({ id, name: 'Hounds' })
      expect(outcomeOf(await nextClient.request(`/v1/store/orders`))).toBe('200')
      await vi.waitFor(async () => {
        const streams = await told()
        expect(Object.keys(streams).sort()).toEqual([...idsOf(pets).map(String), `categories/${id}`].sort())
        expect(streams[`categories/${id}`]).toHaveLength(2)
        expect(streams[changed.id]).toMatchObject([{}, { streamindex: 0 }, { streamindex: 1 }])
        expect([...(await tableOf(environment, 'categories')).keys()]).toEqual([id])
        expect((await tableOf(environment, 'pets')).size).toBe(pets.length)
      }, patience)
      await untilParked(environment, 0)
      await expectVerified(environment)
    })
  })
}

/** One record of two changes of a pet. */
function severalOf(...pets: readonly [Pet, Pet]) {
  const events = pets.map((pet, i) => {
    const { id, type, data } = JSON.parse(petChanged({ pet, streamversion: 2 }).value)
    return { id: `${id} ${i}`, type, data }
  })
  const subject = String(pets[0].id)
  return eventRecord({
    ...{ id: 'several', type: 'petstore.Several.v1', source: '/v1/pets', subject, streamversion: 2 },
    ...{ time: new Date().toISOString(), data: { events } },
  })
}
