import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type KafkaBroker, startKafka } from '../brokers/brokers.ts'
import { type Master, type RedisCluster, startRedisCluster } from '../brokers/clusters.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { askRedis } from '../brokers/ready.ts'
import { type Client, codeOf, createMany, expectExactly, inParallel, keyed, type Pet, untilServed } from './client.ts'
import { Load, reading } from './load.ts'
import {
  brokerEnvironment,
  type Environment,
  expectVerified,
  petstoreJson,
  petstoreOutput,
  type Roles,
  startRoles,
  startService,
} from './service.ts'
import type { Topic } from './topic.ts'

describeWithLocalBrokers('three shards on three masters of a Redis Cluster', () => {
  let kafka: KafkaBroker
  let cluster: RedisCluster
  let environment: Environment & Topic
  let clients: Roles['clients']

  beforeAll(async () => {
    ;[kafka, cluster] = await Promise.all([startKafka(), startRedisCluster()])
  })
  afterAll(async () => void (await Promise.all([kafka?.remove(), cluster?.remove()])))

  beforeEach(async () => {
    const brokers = brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl: cluster.url })
    environment = { ...brokers, READ_MODEL_SHARDS: '3' }
    const [roles] = await Promise.all([startRoles(environment), startService({ ...environment, ROLE: 'projector' })])
    clients = roles.clients
  })

  async function expectAllVerified(pets: number): Promise<void> {
    expect((await expectVerified(environment)).compared).toBeGreaterThanOrEqual(2 * pets)
  }

  it('answers from all of them as from one, also while they are rebuilt', async () => {
    const pets = await createMany(clients[0], 60)
    await expectExactly(clients[1], pets)
    expect((await clients[1].get(1_000_000_000)).status).toBe(404)
    expect(await Promise.all(cluster.masters.map((master) => shardsOn(master, environment)))).toEqual([1, 1, 1])
    const once = await Promise.all(clients.map((client) => client.post({ name: 'Dot', categoryId: 7 }, keyed('Dot'))))
    expect(new Set(once.map(({ status, body }) => `${status} ${(body as Pet).id}`)).size).toBe(1)
    const late = await clients[0].post({ name: 'Eve', categoryId: 7 }, { prefer: 'wait=0' })
    const token = { 'consistency-token': late.headers.get('consistency-token') ?? '' }
    expect((await clients[1].request('/v1/pets?limit=100', { headers: token })).body).toContainEqual(late.body)
    pets.push(once[0]?.body as Pet, late.body as Pet)
    await expectAllVerified(62)

    // All shards are rebuilt, listed and counted by the command line.
    const json = (command: string) => petstoreJson(environment, command)
    const before = await json('generations')
    expect(before.generations).toHaveLength(3)
    expect(before.versions.filter(({ isOwn }: { isOwn: boolean }) => isOwn)).toHaveLength(3)
    const readers = new Load(clients, 3, reading(pets))
    expect(await json('rebuild')).toEqual({ outcome: 'activated' })
    await readers.expectTrue(environment)
    expect(readers.codes).toEqual([])
    const after = await json('generations')
    const active = ({ generations }: typeof after): string[] =>
      generations.flatMap(({ name, state }: Record<string, string>) => (state === 'active' ? [name] : []))
    for (const name of active(before)) expect(active(after)).not.toContain(name)
    expect(active(after)).toHaveLength(3)
    expect(await json('stats')).toMatchObject({ pets: { total: 62 } })
    expect(await petstoreOutput(environment, 'parked', 'list')).toBe('No event is parked.\n')
    await expectExactly(clients[1], pets)
    await expectAllVerified(62)
  })

  it.each<[fault: string, suffer: (master: Master) => Promise<unknown>]>([
    ['loses its keys', (master) => askRedis(master.url, (redis) => redis.flushall())],
    ['restarts empty', (master) => master.restartEmpty()],
  ])('a master that %s, idle and under writes: it heals, and no pet is ever missing', async (_, suffer) => {
    const pets = await createMany(clients[0], 90)
    const readers = new Load(clients, 3, reading([...pets]))
    await suffer(cluster.masters[1] as Master)
    await cluster.whole()
    await expectAllVerified(90)

    let writing = true
    const written = inParallel(4, 4, async (writer) => {
      for (let i = 0; writing; i++) pets.push(await (clients[writer % 2] as Client).create(`new ${writer} ${i}`))
    })
    await suffer(cluster.masters[2] as Master)
    await cluster.whole()
    await expectAllVerified(90)
    writing = false
    await written
    await readers.expectTrue(environment)
    expect(readers.codes.length).toBeGreaterThan(0)
    for (const code of readers.codes) expect(code).toMatch(/^read_model_(rebuilding|unavailable)$/)
    await untilServed(clients[1], pets)
  })

  it('a master that is away: pets of the others are served, and it comes back', async () => {
    const pets = await createMany(clients[0], 60)
    const master = cluster.masters[0] as Master
    await master.kill()
    const answers = await inParallel(60, 8, (i) => (clients[i % 2] as Client).get((pets[i] as Pet).id))
    const served = answers.filter(({ status }) => status === 200)
    expect(served.length).toBeGreaterThan(20)
    expect(served.length).toBeLessThan(60)
    for (const answer of answers) if (answer.status !== 200) expect(codeOf(answer)).toBe('read_model_unavailable')
    expect((await clients[0].request('/v1/pets')).status).toBe(503)
    const meanwhile = await createMany(clients[0], 12)
    await master.start()
    await cluster.whole()
    await untilServed(clients[1], [...pets, ...meanwhile])
  })
})

/** How many shards of the service under test a master holds. */
async function shardsOn(master: Master, { REDIS_PREFIX }: Environment): Promise<number> {
  return (await askRedis(master.url, (redis) => redis.keys(`{${REDIS_PREFIX}:*}:active`))).length
}
