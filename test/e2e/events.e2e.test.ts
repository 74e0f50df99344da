import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { apiKey, Client, createMany, inParallel, type Pet } from './client.ts'
import { FeedClient, type ToldEvent } from './feed-client.ts'
import {
  brokerEnvironment,
  type Environment,
  metric,
  petstoreOutput,
  startPetstore,
  startRoles,
  startService,
} from './service.ts'

const until = { timeout: 60_000, interval: 50 }

/** A pet that is ordered, and of which the order is cancelled. */
async function liveAPet(client: Client): Promise<Pet> {
  const pet = await client.create('Rex')
  const { id } = await client.order(pet.id)
  expect((await client.update(id, 'cancelled')).status).toBe(200)
  return pet
}

const names = (events: readonly Pick<ToldEvent, 'type'>[]) => events.map(({ type }) => type.split('.')[1])
const life = ['PetCreated', 'OrderPlaced', 'OrderCancelled']

/** The history of a pet, page by page. */
function historyOf(client: Client, id: number): Promise<ToldEvent[]> {
  return client.pages(`/v1/pets/${id}/events?limit=2`)
}

/** What `petstore events --json` prints. */
async function shown(environment: Environment, ...args: string[]) {
  const lines = (await petstoreOutput(environment, 'events', '--json', ...args)).trimEnd().split('\n')
  return lines.map((line): { partition: number; offset: number; outcome: string; event: ToldEvent } => JSON.parse(line))
}

describeWithBrokers('on Kafka and Redis', (brokers) => {
  it('the feed goes on where it ended, on another instance, and tells nothing that cannot be read', async () => {
    const environment = brokerEnvironment(brokers)
    const { apis, clients } = await startRoles(environment)
    const feed = new FeedClient()
    await feed.follow(apis[0], '?from=start', async ({ subject, streamversion }) => {
      const { status, headers } = await clients[0].get(Number(subject))
      const version = Number(/(\d+)"$/.exec(headers.get('etag') ?? '')?.[1])
      expect([status, version >= streamversion]).toEqual([200, true])
    })
    const first = await Promise.all(Array.from({ length: 20 }, () => liveAPet(clients[1])))
    await vi.waitFor(() => expect(feed.events.length).toBeGreaterThan(30), until)
    await apis[0].end('SIGKILL')
    await feed.ended
    const second = await Promise.all(Array.from({ length: 20 }, () => liveAPet(clients[1])))
    await feed.follow(apis[1])
    const pets = [...first, ...second]
    await vi.waitFor(() => expect(feed.events).toHaveLength(pets.length * life.length), until)
    const byPet = Map.groupBy(feed.events, ({ subject }) => Number(subject))
    for (const { id } of pets) {
      expect(names(byPet.get(id) ?? [])).toEqual(life)
      expect(await historyOf(clients[1], id)).toEqual(byPet.get(id))
    }
    await feed.leave()
  })

  it('the command line shows every event, and what became of it', async () => {
    const environment = brokerEnvironment(brokers)
    const { clients } = await startRoles(environment)
    const following = startPetstore(environment, 'events', '--follow')
    await vi.waitFor(() => expect(following.output()).toContain('OUTCOME'), until)
    await vi.waitFor(async () => {
      await clients[0].create('Bo')
      expect(following.output()).toMatch(/petstore\.PetCreated\.v1 .* applied\n/)
    }, until)
    await following.end('SIGTERM')
    const { id } = await liveAPet(clients[0])
    const events = await shown(environment, '--pet', String(id))
    expect(names(events.map(({ event }) => event))).toEqual(life)
    expect(new Set(events.map(({ outcome }) => outcome))).toEqual(new Set(['applied']))
    const [, { partition, offset } = { partition: 0, offset: 0 }] = events
    const later = await shown(environment, '--from', `${partition}/${offset}`)
    expect(later[0]).toEqual(events[1])
    expect(new Set(later.map((each) => each.partition))).toEqual(new Set([partition]))
    const all = await shown(environment)
    expect(all.filter(({ event }) => event.subject === String(id))).toEqual(events)
  })
})

describe('embedded', () => {
  it('tells the feed, the history and the command line the same', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    const service = await startService(environment)
    const client = new Client(service)
    const feed = new FeedClient()
    await feed.follow(service)
    const pets = [await liveAPet(client), await liveAPet(client)]
    await vi.waitFor(() => expect(feed.events).toHaveLength(6), until)
    const events = await shown(environment)
    expect(events.map(({ event }) => event)).toEqual(feed.events)
    expect(await historyOf(client, pets[0]?.id ?? 0)).toEqual(feed.events.slice(0, 3))
    const table = await petstoreOutput(environment, 'events', '--pet', String(pets[1]?.id))
    expect(table.split('\n')[0]).toMatch(/^EVENT +TIME +TYPE +PET +VERSION +OUTCOME$/)
    expect(table.match(/ applied\n/g)).toHaveLength(3)
    expect(await service.end('SIGTERM'), service.output()).toBe(0)
    await feed.ended
  })

  it('1,000 clients of the feed are all told, and others are served', async () => {
    const service = await startService({
      DATA_DIR: temporaryFolder(),
      MAX_IN_FLIGHT_PER_KEY: '2000',
      MAX_CONNECTIONS_PER_ADDRESS: '1200',
    })
    const client = new Client(service)
    const feeds = Array.from({ length: 1000 }, () => new FeedClient())
    onTestFinished(async () => void (await Promise.all(feeds.map((feed) => feed.leave()))))
    await Promise.all(feeds.map((feed) => feed.follow(service)))
    const pets = await createMany(client, 50)
    const wanted = pets.map(({ id }) => String(id)).sort()
    for (const { events } of feeds) {
      await vi.waitFor(() => expect(events.map(({ subject }) => subject).sort()).toEqual(wanted), until)
    }
    expect((await client.list()).length).toBe(50)
    expect(service.output()).not.toMatch(/"level":[456]0/)
  })

  it('a client of the feed that never reads costs little, and is let go', async () => {
    const service = await startService({ DATA_DIR: temporaryFolder(), APPEND_TIMEOUT_MS: '1000' })
    const client = new Client(service)
    // More than the system keeps for a connection.
    const longName = '🐕'.repeat(128)
    await inParallel(5000, 32, () => client.create(longName))
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    socket.pause()
    socket.write(`GET /v1/events?from=start HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`)
    const feed = new FeedClient()
    await feed.follow(service)
    const pets = await createMany(client, 500)
    await vi.waitFor(() => expect(feed.events).toHaveLength(pets.length), until)
    const gone = once(socket, 'close')
    // After twice the 31 seconds that nothing may move. It learns of that only once it reads what the system kept for it.
    const followers = () => metric(service.url, 'petstore_feed_followers')
    await vi.waitFor(async () => expect(await followers()).toBe(1), { timeout: 100_000, interval: 500 })
    socket.resume()
    await gone
  })
})
