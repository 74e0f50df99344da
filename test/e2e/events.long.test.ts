import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import type { ToldEvent } from '../lib/http-client.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { whenDone } from '../lib/when-done.ts'
import { Client, createMany } from './client.ts'
import { cutEmbeddedLog } from './embedded-log.ts'
import { brokerEnvironment, petstoreOutput, startPetstore, startService, stop } from './service.ts'

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
    await vi.waitFor(() => expect(following.output()).toMatch(/^EVENT +TIME +TYPE +STREAM +VERSION +OUTCOME\n/), until)
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

const subjectsOf = (events: readonly ToldEvent[]) => events.map(({ subject }) => subject)

describeWithBrokers('a feed of 256 partitions', (brokers) => {
  it('goes on from an id that fits into a header', async () => {
    const service = await startService({ ...brokerEnvironment(brokers), KAFKA_PARTITIONS: '256' })
    const client = new Client(service)
    const pets = await createMany(client, 600)
    const { events, lastId } = await client.told(600)
    expect(subjectsOf(events).toSorted()).toEqual(pets.map(({ id }) => String(id)).sort())
    expect(lastId.length).toBeLessThan(1024)
    const { id } = await client.create('Rex')
    const again = await client.told(1, '', { 'last-event-id': lastId })
    expect(subjectsOf(again.events)).toEqual([String(id)])
  })
})

it('a feed that is to go on beyond the end of a log that lost it is refused, and says so', async () => {
  const environment = { DATA_DIR: temporaryFolder() }
  const service = await startService(environment)
  const client = new Client(service)
  await createMany(client, 3)
  const { lastId } = await client.told(3)
  await service.end('SIGTERM')
  cutEmbeddedLog(environment.DATA_DIR, 1)
  const again = new Client(await startService(environment))
  const refused = await again.request('/v1/events', { headers: { 'last-event-id': lastId } })
  const message = 'header: Last-Event-ID is beyond the end of the log'
  expect([refused.status, refused.body]).toEqual([400, { code: 'invalid_consistency_token', message, status: 400 }])
  expect((await again.told(2)).events).toHaveLength(2)
})

it('1,000 clients of the feed are all told, others are served, and SIGTERM ends all', async () => {
  const limits = { MAX_IN_FLIGHT_PER_KEY: '2000', MAX_CONNECTIONS_PER_ADDRESS: '1200' }
  const service = await startService({ DATA_DIR: temporaryFolder(), ...limits })
  const client = new Client(service)
  const left = new AbortController()
  whenDone(() => left.abort())
  async function follow() {
    const blocks = await client.follow('/v1/events', { signal: left.signal })
    const told: string[] = []
    const ended = (async () => {
      for await (const { data } of blocks) {
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
  await stop(service)
  await Promise.all(followers.map(({ ended }) => ended))
})
