import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { processState } from '../../bench/soak/process-state.ts'
import { type KafkaBroker, type RedisServer, startKafka, startRedis } from '../brokers/brokers.ts'
import { describeWithOwnBrokers } from '../brokers/describe.ts'
import { metric } from '../lib/http-client.ts'
import {
  type Answer,
  Client,
  createMany,
  expectExactly,
  inParallel,
  keyed,
  type Order,
  outcomeOf,
  type Pet,
  untilServed,
} from './client.ts'
import { Load } from './load.ts'
import { untilPublishing } from './published-topic.ts'
import { brokerEnvironment, expectVerified, startRoles, startService } from './service.ts'
import { storedCount } from './topic.ts'

const patience = { timeout: 60_000, interval: 50 }
const unwaited = { prefer: 'wait=0' }
const appendTimeoutMs = 2000
const stallSeconds = 1
const growthLimitMiB = 150
// After an outage each of eight clients of Kafka has now and then one more: up to four were seen over five in a row, where
// it did not add up.
const reconnectedMore = 7

/** An API and a projector with pets: those that are surely there. */
async function startWithPets(environment: ReturnType<typeof brokerEnvironment>) {
  const { projector, apis, clients } = await startRoles({ ...environment, APPEND_TIMEOUT_MS: String(appendTimeoutMs) })
  const [client] = clients
  const pets = new Map((await createMany(client, 60)).map((pet) => [pet.id, pet]))
  await untilServed(client, [...pets.values()])
  return { projector, apis, client, pets, stored: () => storedCount(environment) }
}

/** An available pet, and one that has been ordered, with what clients may ask of them. */
async function arrange({ client, pets }: Awaited<ReturnType<typeof startWithPets>>) {
  const [free, taken] = [await client.create('free'), await client.create('taken')]
  const order = await client.order(taken.id)
  pets.set(free.id, free).set(taken.id, { ...taken, status: 'pending' })
  const pet = { name: 'while away', categoryId: 1 }
  const [orderKey, petKey] = [keyed(`order of ${free.id}`), keyed(`pet beside ${free.id}`)]
  const reads = () => Promise.all([client.get(free.id), client.request('/v1/pets'), client.getOrder(order.id)])
  const placeUnderKey = () => client.place(free.id, orderKey)
  /** Those that have to know what was decided before. */
  const commands = () =>
    Promise.all([placeUnderKey(), client.place(free.id), client.update(order.id, 'approved'), client.post(pet, petKey)])
  /** Those that have not. */
  const creates = () => inParallel(20, 5, () => client.post(pet))

  /** Each command goes through once, whatever became of its tries; so many creates had an unknown outcome. */
  async function expectSettled(unknown = 0, outcome = /^201$/): Promise<Order> {
    const first = await vi.waitFor(async () => {
      const answer = await placeUnderKey()
      expect(outcomeOf(answer)).toMatch(outcome)
      return answer
    }, patience)
    await vi.waitFor(async () => expect((await client.update(order.id, 'approved')).status).toBe(200), patience)
    expect(outcomeOf(await client.place(free.id))).toBe('409 pet_not_available')
    pets.set(free.id, { ...free, status: 'pending' })
    const { id } = await vi.waitFor(() => client.create('after'), patience)
    const found = await vi.waitFor(async () => {
      const listed = await client.list()
      expect(listed.map((each) => each.id)).toContain(id)
      return listed.filter((each) => each.id !== id)
    }, patience)
    expect(found).toEqual(expect.arrayContaining([...pets.values()]))
    expect(found.length - pets.size).toBeLessThanOrEqual(unknown)
    for (const each of await client.list()) pets.set(each.id, each)
    return first.body as Order
  }
  return { reads, commands, creates, placeUnderKey, expectSettled }
}

describeWithOwnBrokers('while a part of the service is away', () => {
  let kafka: KafkaBroker
  let redis: RedisServer
  beforeAll(async () => {
    ;[kafka, redis] = await Promise.all([startKafka(), startRedis()])
  })
  afterAll(async () => void (await Promise.all([kafka?.remove(), redis?.remove()])))

  const newEnvironment = () => brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl: redis.url })

  it('each request is answered as it can be, and all is right afterwards without a restart', async () => {
    const environment = newEnvironment()
    const world = await startWithPets(environment)
    const { projector, apis, client, pets, stored } = world

    const standing = await arrange(world)
    process.kill(projector.pid, 'SIGSTOP')
    const before = await stored()
    const undecided = await standing.placeUnderKey()
    expect(outcomeOf(undecided)).toBe('504 append_outcome_unknown')
    expect(await stored()).toBe(before + 1)
    process.kill(projector.pid, 'SIGCONT')
    const { id } = await standing.expectSettled()
    expect(undecided.headers.get('location')).toBe(`/v1/store/orders/${id}`)
    expect((await client.getOrder(id)).status).toBe(200)

    for (const [leave, comeBack] of [
      ['kill', 'start'],
      ['pause', 'resume'],
    ] as const) {
      const { reads, commands, creates, expectSettled } = await arrange(world)
      await redis[leave]()
      const before = await stored()
      for (const answer of [...(await reads()), ...(await commands())]) {
        expect(outcomeOf(answer), leave).toBe('503 read_model_unavailable')
      }
      expect(await stored()).toBe(before)
      for (const { status, body, text } of await creates()) {
        expect(status, text).toBe(201)
        pets.set((body as Pet).id, body as Pet)
      }
      await redis[comeBack]()
      await expectSettled()
    }

    const { reads, commands, creates, expectSettled } = await arrange(world)
    await kafka.pause()
    const asked = commands()
    await kafka.kill()
    const answers = [...(await asked), ...(await creates())]
    for (const answer of answers) {
      expect(outcomeOf(answer)).toMatch(/^(503 event_log_unavailable|504 append_outcome_unknown)$/)
    }
    expect(outcomeOf(answers.at(-1) as Answer)).toBe('503 event_log_unavailable')
    for (const { status } of await reads()) expect(status).toBe(200)
    await expectExactly(client, [...pets.values()])
    await kafka.start()
    const unknown = answers.slice(3).filter(({ status }) => status === 504) // the creates
    await expectSettled(unknown.length, /^(201|409 pet_not_available)$/)

    await untilServed(client, [...pets.values()])
    await expectVerified(environment)
    for (const process of [projector, ...apis]) expect(process.running(), process.output()).toBe(true)
  })

  // The facts about processes are those of Linux.
  it.skipIf(process.platform !== 'linux')(
    'everybody is answered though Kafka stands still; nothing is hoarded meanwhile and nothing arrives late',
    async () => {
      const environment = newEnvironment()
      const service = await startService({ ...environment, APPEND_TIMEOUT_MS: '1000' })
      const client = new Client(service)
      const clients = 200
      const load = new Load([client], clients)
      const port = Number(kafka.brokers.split(':')[1])
      await load.until(500)
      await untilPublishing(service) // it has connections of its own
      const before = { memory: processState(service.pid).memoryMiB, sockets: socketsTo(service.pid, port) }
      expect(before.sockets).toBeGreaterThan(0)
      await kafka.pause()
      await load.until(5 * clients, 503)
      expect(load.overtaken(3 * clients)).toEqual([])
      expect(processState(service.pid).memoryMiB - before.memory).toBeLessThan(growthLimitMiB)
      expect((await client.request('/v1/pets')).status).toBe(200)
      await kafka.resume()
      await load.until(500)
      await load.stop()
      const most = before.sockets + reconnectedMore
      await vi.waitFor(() => expect(socketsTo(service.pid, port)).toBeLessThanOrEqual(most), patience)
      await load.expectTrue(environment)
      expect(service.running()).toBe(true)
    },
  )

  it('a projector that cannot move is reported as stalled, but not while Redis or Kafka is away, however long, and is live again after', async () => {
    const service = await startService({ ...newEnvironment(), PROJECTOR_STALL_SECONDS: String(stallSeconds) })
    const client = new Client(service)
    const pets = await createMany(client, 10)
    const live = () => client.request('/livez')
    expect(await live()).toMatchObject({ status: 200, body: { status: 'ok', checks: { projector: { status: 'ok' } } } })

    // The read models answer, but take nothing.
    const admin = new Redis(redis.url)
    await admin.config('SET', 'maxmemory', '1')
    for (let i = 0; i < 3; i++) pets.push(await client.create(`unseen ${i}`, 'available', unwaited))
    await vi.waitFor(async () => expect((await live()).status).toBe(503), patience)
    const { body } = await live()
    expect(body).toMatchObject({ status: 'stalled', checks: { projector: { status: 'stalled' } } })
    const { partitions } = (body as Health).checks.projector
    expect(sum(partitions)).toBeGreaterThan(0)
    for (const { seconds } of partitions) expect(seconds).toBeGreaterThanOrEqual(stallSeconds)
    // It goes on to serve what it has, so it stays ready, and says how far behind it is.
    await vi.waitFor(async () => expect(sum(await lagOf(client))).toBe(3), patience)
    expect((await client.request('/readyz')).status).toBe(200)
    expect(await metric(service.url, 'petstore_projection_lag_events')).toBe(3)
    expect(await metric(service.url, 'petstore_projection_lag_seconds')).toBeGreaterThanOrEqual(stallSeconds)

    await admin.config('SET', 'maxmemory', '0')
    admin.disconnect()
    await vi.waitFor(async () => expect((await live()).status).toBe(200), patience)
    await vi.waitFor(async () => expect(sum(await lagOf(client))).toBe(0), patience)
    await expectExactly(client, pets)
    expect(await metric(service.url, 'petstore_projection_records_total')).toBe(13)

    // While a broker is away it is not stalled, and it has the full time when that is back.
    const seen = new Set<number>()
    const look = async () => {
      seen.add((await live()).status)
      return await lagOf(client)
    }
    for (const broker of [redis, kafka]) {
      await broker.kill()
      if (broker === redis) await client.create('while Redis is away', 'available', unwaited)
      await vi.waitFor(async () => expect(await look()).toBe('unknown'), patience)
      const since = performance.now()
      while (performance.now() - since < 2 * stallSeconds * 1000) expect(await look()).toBe('unknown')
      await broker.start()
      await vi.waitFor(async () => expect(sum(await look())).toBe(0), patience)
    }
    expect([...seen]).toEqual([200])
  })
})

interface Behind {
  readonly events: number
  readonly seconds: number
}
interface Health {
  readonly checks: {
    readonly projector: { readonly partitions: readonly Behind[] }
    readonly readModels: { readonly lag: readonly Behind[] | 'unknown' }
  }
}

function sum(partitions: readonly Behind[] | 'unknown'): number {
  return partitions === 'unknown' ? Number.NaN : partitions.reduce((total, { events }) => total + events, 0)
}

async function lagOf(client: Client): Promise<readonly Behind[] | 'unknown'> {
  return ((await client.request('/readyz')).body as Health).checks.readModels.lag
}

/** How many TCP sockets a process holds, in whatever state, whose other end is this port. */
function socketsTo(pid: number, port: number): number {
  const held = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => socketInode(`/proc/${pid}/fd/${fd}`)))
  return ['tcp', 'tcp6']
    .flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , remote, , , , , , , inode]) => portOf(remote) === port && held.has(inode)).length
}

function socketInode(link: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.[1]
  } catch {
    return undefined // closed since it was listed
  }
}

/** The port of an address as the kernel writes it: hexadecimal, behind the last colon. */
function portOf(address: string | undefined): number {
  return Number.parseInt(address?.split(':').at(-1) ?? '', 16)
}
