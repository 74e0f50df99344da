import { randomUUID } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { eventRecord } from '../lib/event-record.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client, outcomeOf } from './client.ts'
import { documentTopicOf } from './document-topics.ts'
import { byStream, publishedOf } from './published-topic.ts'
import { brokerEnvironment, expectVerified, startRoles, startService, stop } from './service.ts'
import { produce, readTopic } from './topic.ts'

const patience = { timeout: 60_000, interval: 50 }
const list = '/v1/categories'

interface Category {
  readonly id: number
  readonly name: string
}

interface Told {
  readonly type: string
  readonly subject: string
}

async function add(client: Client, name: string): Promise<Category> {
  const { status, text, body } = await client.send('POST', list, { name }, { prefer: 'wait=10' })
  expect(status, text).toBe(201)
  return body as Category
}

async function told(client: Client, path: string): Promise<string[]> {
  const { body } = await client.request(`${path}/events`)
  return (body as Told[]).map(({ type, subject }) => `${subject} ${type.split('.')[1]}`)
}

describe('categories beside pets, in one process', () => {
  it('are there after a restart, as is what happened to them', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    const first = await startService(environment)
    const client = new Client(first)
    const { id } = await add(client, 'Dogs')
    const other = await add(client, 'Cats')
    const pet = await client.create('Rex')
    const ofCategory = await client.change(pet.id, { categoryId: other.id })
    expect((await client.send('PATCH', `${list}/${id}`, { description: 'They like walks' })).status).toBe(200)
    expect(outcomeOf(await client.request(`${list}/${other.id}`, { method: 'DELETE' }))).toBe('204')
    const { events } = await client.told(6)
    expect(events.map(({ subject, type }) => `${subject} ${type.split('.')[1]}`)).toEqual([
      `categories/${id} CategoryAdded`,
      `categories/${other.id} CategoryAdded`,
      `${pet.id} PetCreated`,
      `${pet.id} PetChanged`,
      `categories/${id} CategoryChanged`,
      `categories/${other.id} CategoryRemoved`,
    ])
    const ofOne = await client.told(2, `?from=start&categoryId=${id}`)
    expect(ofOne.events.map(({ subject }) => subject)).toEqual(Array(2).fill(`categories/${id}`))
    await expectVerified(environment)
    await stop(first)

    const again = new Client(await startService(environment))
    expect((await again.request(list)).body).toEqual([{ id, name: 'Dogs', description: 'They like walks' }])
    expect(await told(again, `${list}/${id}`)).toEqual([
      `categories/${id} CategoryAdded`,
      `categories/${id} CategoryChanged`,
    ])
    expect(await told(again, `${list}/${other.id}`)).toHaveLength(2)
    expect(outcomeOf(await again.request(`${list}/${other.id}`))).toBe('404 category_not_found')
    expect((await again.get(pet.id)).text).toBe(ofCategory.text)
    expect((await add(again, 'Birds')).id).not.toBe(other.id)
  })
})

describeWithBrokers('a category with the id of a pet', (brokers) => {
  it('is another thing, wherever it is told or shown', async () => {
    const environment = brokerEnvironment(brokers)
    const { clients } = await startRoles(environment)
    const [one, client] = clients
    const { id } = await one.create('Rex')
    const pet = await one.get(id)
    const [subject, time] = [`categories/${id}`, new Date().toISOString()]
    const said = { type: 'petstore.CategoryAdded.v1', time, streamversion: 1, data: { id, name: 'Dogs' } }
    await produce(environment, [eventRecord({ id: randomUUID(), source: list, subject, ...said })])
    await vi.waitFor(
      async () => expect((await client.request(`${list}/${id}`)).text).toBe(`{"id":${id},"name":"Dogs"}`),
      patience,
    )

    expect((await client.send('PATCH', `${list}/${id}`, { name: 'Hounds' })).text).toBe(`{"id":${id},"name":"Hounds"}`)
    expect((await one.get(id)).text).toBe(pet.text)
    expect(outcomeOf(await one.remove(id))).toBe('204')
    expect((await client.request(`${list}?id=${id}`)).text).toBe(`[{"id":${id},"name":"Hounds"}]`)
    expect(await told(client, `/v1/pets/${id}`)).toEqual([`${id} PetCreated`, `${id} PetRemoved`])
    const added = [`${subject} CategoryAdded`, `${subject} CategoryChanged`]
    expect(await told(client, `${list}/${id}`)).toEqual(added)

    await vi.waitFor(async () => {
      const streams = byStream(await readTopic(publishedOf(environment)))
      expect(Object.keys(streams).sort()).toEqual([String(id), subject].sort())
      for (const stream of Object.values(streams)) expect(stream).toHaveLength(2)
      const documents = await readTopic(documentTopicOf(environment, 'categories'))
      expect(documents.map(({ key, value }) => [String(key), String(value)]).at(-1)).toEqual([
        subject,
        `{"id":${id},"name":"Hounds"}`,
      ])
    }, patience)
    await expectVerified(environment)
  })
})
