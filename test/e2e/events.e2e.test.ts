import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { whenDone } from '../lib/when-done.ts'
import { apiKey, Client, createMany } from './client.ts'
import { cutEmbeddedLog } from './embedded-log.ts'
import { serverSentEvents } from './server-sent-events.ts'
import { brokerEnvironment, petstoreOutput, startPetstore, startService } from './service.ts'

const until = { timeout: 60_000, interval: 50 }

interface ShownEvent {
  readonly partition: number
  readonly offset: number
  readonly outcome: string
  readonly event: { readonly type: string; readonly subject: string }
}

describeWithBrokers('the command line, on Kafka and Redis', (brokers) => {
  it('shows every event, and what became of it', async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    async function shown(...args: string[]): Promise<ShownEvent[]> {
      const lines = (await petstoreOutput(environment, 'events', '--json', ...args)).trimEnd().split('\n')
      return lines.map((line) => JSON.parse(line))
    }
    const following = startPetstore(environment, 'events', '--follow')
    await vi.waitFor(() => expect(following.output()).toMatch(/^EVENT +TIME +TYPE +PET +VERSION +OUTCOME\n/), until)
    const { id } = await client.create('Rex')
    const order = await client.order(id)
    expect((await client.update(order.id, 'cancelled')).status).toBe(200)
    await vi.waitFor(() => expect(following.output()).toMatch(/petstore\.OrderCancelled\.v1 .* applied\n/), until)
    await following.end('SIGTERM')
    await createMany(client, 20)

    const events = await shown('--pet', String(id))
    expect(events.map(({ event }) => event.type.split('.')[1])).toEqual(['PetCreated', 'OrderPlaced', 'OrderCancelled'])
    expect(new Set(events.map(({ outcome }) => outcome))).toEqual(new Set(['applied']))
    expect(events.map(({ event }) => event)).toEqual((await client.request(`/v1/pets/${id}/events`)).body)
    const [, { partition, offset } = { partition: 0, offset: 0 }] = events
    const later = await shown('--from', `${partition}/${offset}`)
    expect(later[0]).toEqual(events[1])
    expect(new Set(later.map((each) => each.partition))).toEqual(new Set([partition]))
    const all = await shown()
    expect(all).toHaveLength(23)
    expect(all.filter(({ event }) => event.subject === String(id))).toEqual(events)
  })
})

/** Follows the feed until it has told so many events. */
async function follow(
  { url }: { readonly url: string },
  count: number,
  query = '',
  headers: Readonly<Record<string, string>> = {},
) {
  const left = new AbortController()
  const authorization = `Bearer ${apiKey}`
  const answer = await fetch(`${url}/v1/events${query}`, {
    headers: { authorization, ...headers },
    signal: left.signal,
  })
  expect(answer.status).toBe(200)
  const told: string[] = []
  let lastId = ''
  for await (const { data, id } of serverSentEvents(answer.body as ReadableStream<Uint8Array>)) {
    if (id !== undefined) lastId = id
    if (data !== undefined) told.push(JSON.parse(data).subject)
    if (told.length === count) break
  }
  left.abort()
  return { told, lastId }
}

describeWithBrokers('a feed of 256 partitions', (brokers) => {
  it('goes on from an id that fits into a header', async () => {
    const service = await startService({ ...brokerEnvironment(brokers), KAFKA_PARTITIONS: '256' })
    const client = new Client(service)
    const pets = await createMany(client, 600)
    const { told, lastId } = await follow(service, 600, '?from=start')
    expect(told.toSorted()).toEqual(pets.map(({ id }) => String(id)).sort())
    expect(lastId.length).toBeLessThan(1024)
    const { id } = await client.create('Rex')
    const again = await follow(service, 1, '', { 'last-event-id': lastId })
    expect(again.told).toEqual([String(id)])
  })
})

it('a feed that is to go on beyond the end of a log that lost it is refused, and says so', async () => {
  const environment = { DATA_DIR: temporaryFolder() }
  const service = await startService(environment)
  await createMany(new Client(service), 3)
  const { lastId } = await follow(service, 3, '?from=start')
  await service.end('SIGTERM')
  cutEmbeddedLog(environment.DATA_DIR, 1)
  const again = await startService(environment)
  const refused = await new Client(again).request('/v1/events', { headers: { 'last-event-id': lastId } })
  const message = 'header: Last-Event-ID is beyond the end of the log'
  expect([refused.status, refused.body]).toEqual([400, { code: 'invalid_consistency_token', message, status: 400 }])
  expect((await follow(again, 2, '?from=start')).told).toHaveLength(2)
})

it('1,000 clients of the feed are all told, others are served, and SIGTERM ends all', async () => {
  const limits = { MAX_IN_FLIGHT_PER_KEY: '2000', MAX_CONNECTIONS_PER_ADDRESS: '1200' }
  const service = await startService({ DATA_DIR: temporaryFolder(), ...limits })
  const client = new Client(service)
  const left = new AbortController()
  whenDone(() => left.abort())
  async function follow() {
    const headers = { authorization: `Bearer ${apiKey}` }
    const { body } = await fetch(`${service.url}/v1/events`, { headers, signal: left.signal })
    const told: string[] = []
    const ended = (async () => {
      for await (const { data } of serverSentEvents(body as ReadableStream<Uint8Array>)) {
        if (data !== undefined) told.push(JSON.parse(data).subject)
      }
    })()
    return { told, ended }
  }
  const followers = await Promise.all(Array.from({ length: 1000 }, follow))
  const pets = await createMany(client, 20)
  const wanted = pets.map(({ id }) => String(id)).sort()
  for (const { told } of followers) await vi.waitFor(() => expect(told.toSorted()).toEqual(wanted), until)
  expect((await client.list()).length).toBe(pets.length)
  expect(service.output()).not.toMatch(/"level":[456]0/)
  expect(await service.end('SIGTERM'), service.output()).toBe(0)
  await Promise.all(followers.map(({ ended }) => ended))
})
