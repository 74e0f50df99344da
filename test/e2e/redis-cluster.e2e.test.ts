import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Verification } from '../../src/projector/verify.ts'
import { type KafkaBroker, startKafka } from '../brokers/brokers.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { type Master, type RedisCluster, startRedisCluster } from '../brokers/redis-cluster.ts'
import { Client, codeOf, expectExactly, inParallel, type Pet, statuses } from './client.ts'
import { petstore } from './petstore.ts'
import { brokerEnvironment, type Environment, startService } from './service-process.ts'

const patience = { timeout: 40_000, interval: 100 }

describeWithLocalBrokers('three shards on three masters of a Redis Cluster', () => {
  let kafka: KafkaBroker
  let cluster: RedisCluster
  let environment: Environment
  let clients: [Client, Client]

  beforeAll(async () => {
    ;[kafka, cluster] = await Promise.all([startKafka(), startRedisCluster()])
  })
  afterAll(async () => void (await Promise.all([kafka?.remove(), cluster?.remove()])))

  beforeEach(async () => {
    const brokers = brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl: cluster.url })
    environment = { ...brokers, READ_MODEL_SHARDS: '3' }
    const start = (ROLE: string) => startService({ ...environment, ROLE })
    const [one, other] = await Promise.all([start('api'), start('api'), start('projector'), start('projector')])
    clients = [new Client(one), new Client(other)]
  })

  async function createPets(count: number): Promise<Pet[]> {
    return await inParallel(count, 8, (i) => clients[0].create(`pet ${i}`, statuses[i % 3]))
  }

  /** What `petstore verify` finds, once; or why it cannot. */
  async function verify(): Promise<Verification | string> {
    const { output, errors } = await petstore(environment, 'verify', '--json')
    return output === '' ? errors : JSON.parse(output)
  }

  /** It heals by itself, soon. */
  async function expectVerified(pets: number): Promise<void> {
    const before = performance.now()
    await vi.waitFor(async () => expect(await verify()).toMatchObject({ differences: [] }), patience)
    expect(performance.now() - before).toBeLessThan(30_000)
    const { compared } = (await verify()) as Verification
    expect(compared).toBeGreaterThanOrEqual(2 * pets)
  }

  /** Asks for known pets, by id and in the list, all the while: none is ever missing, but 503 may be the answer. */
  function watch(pets: readonly Pet[]) {
    const wrong: unknown[] = []
    const codes = new Set<string | undefined>()
    let ended = false
    const check = async (answer: Awaited<ReturnType<Client['get']>>, isRight: (body: unknown) => boolean) => {
      if (answer.status === 503) codes.add(codeOf(answer))
      else if (answer.status !== 200 || !isRight(answer.body)) wrong.push(answer.status, answer.body)
    }
    async function watchWith(client: Client): Promise<void> {
      for (let i = 0; !ended; i++) {
        const pet = pets[i % pets.length] as Pet
        await check(await client.get(pet.id), (body) => (body as Pet).name === pet.name)
        const known = pets.slice(0, 100).map(({ id }) => id)
        const holdsAll = (body: unknown) => {
          const found = new Set((body as Pet[]).map(({ id }) => id))
          return found.size === 100 || known.every((id) => found.has(id))
        }
        await check(await client.request('/v1/pets?limit=100'), holdsAll)
      }
    }
    const watching = Promise.all(clients.map(watchWith))
    return async () => {
      ended = true
      await watching
      expect(wrong).toEqual([])
      return codes
    }
  }

  it('answers from all of them as from one', async () => {
    const pets = await createPets(60)
    await expectExactly(clients[1], pets)
    expect((await clients[1].get(1_000_000_000)).status).toBe(404)
    expect(await Promise.all(cluster.masters.map((master) => shardsOn(master, environment)))).toEqual([1, 1, 1])
    const key = { 'idempotency-key': `"${randomUUID()}"` }
    const once = await Promise.all(clients.map((client) => client.post({ name: 'Dot', categoryId: 7 }, key)))
    expect(new Set(once.map(({ status, body }) => `${status} ${(body as Pet).id}`)).size).toBe(1)
    const late = await clients[0].post({ name: 'Eve', categoryId: 7 }, { prefer: 'wait=0' })
    const token = { 'consistency-token': late.headers.get('consistency-token') ?? '' }
    expect((await clients[1].request('/v1/pets?limit=100', { headers: token })).body).toContainEqual(late.body)
    await expectVerified(62)
  })

  it('is rebuilt, listed and counted by the command line, all shards of it', async () => {
    const pets = await createPets(30)
    const before = JSON.parse((await petstore(environment, 'generations', '--json')).output)
    expect(before.generations).toHaveLength(3)
    expect(before.versions.filter(({ isOwn }: { isOwn: boolean }) => isOwn)).toHaveLength(3)
    const end = watch(pets)
    expect(await petstore(environment, 'rebuild')).toMatchObject({ code: 0 })
    expect([...(await end())]).toEqual([])
    const after = JSON.parse((await petstore(environment, 'generations', '--json')).output)
    const active = ({ generations }: typeof after) =>
      generations.flatMap(({ name, state }: Record<string, string>) => (state === 'active' ? [name] : []))
    for (const name of active(before)) expect(active(after)).not.toContain(name)
    expect(active(after)).toHaveLength(3)
    expect(JSON.parse((await petstore(environment, 'stats', '--json')).output)).toMatchObject({ pets: { total: 30 } })
    expect(await petstore(environment, 'parked', 'list')).toMatchObject({ code: 0, output: 'No event is parked.\n' })
    await expectExactly(clients[1], pets)
    await expectVerified(30)
  })

  const faults: Record<string, (master: Master) => Promise<unknown>> = {
    'loses its keys': (master) => onMaster(master, (redis) => redis.flushall()),
    'restarts empty': (master) => master.restartEmpty(),
  }

  it.each(Object.keys(faults))('a master that %s, idle: it heals, and no pet is ever missing', async (fault) => {
    const pets = await createPets(90)
    const end = watch(pets)
    await faults[fault]?.(cluster.masters[1] as Master)
    await cluster.whole()
    await expectVerified(90)
    const codes = await end()
    expect(codes.size).toBeGreaterThan(0)
    expect([...codes].filter((code) => !/^read_model_(rebuilding|unavailable)$/.test(code ?? ''))).toEqual([])
    await expectExactly(clients[1], pets)
  })

  it.each(Object.keys(faults))(
    'a master that %s, under writes: it heals, and no pet is ever missing',
    async (fault) => {
      const pets = await createPets(90)
      const end = watch(pets)
      let writing = true
      const written = inParallel(4, 4, async (writer) => {
        const own: Pet[] = []
        for (let i = 0; writing; i++) own.push(await clients[writer % 2 === 0 ? 0 : 1].create(`new ${writer} ${i}`))
        return own
      })
      await faults[fault]?.(cluster.masters[2] as Master)
      await cluster.whole()
      await expectVerified(90)
      writing = false
      const all = [...pets, ...(await written).flat()]
      await end()
      await vi.waitFor(() => expectExactly(clients[1], all), patience)
    },
  )

  it('a master that is away: pets of the others are served, and it comes back', async () => {
    const pets = await createPets(60)
    const master = cluster.masters[0] as Master
    await master.kill()
    const answers = await inParallel(pets.length, 8, (i) => clients[i % 2 === 0 ? 0 : 1].get((pets[i] as Pet).id))
    const served = answers.filter(({ status }) => status === 200)
    expect(served.length).toBeGreaterThan(20)
    expect(served.length).toBeLessThan(60)
    for (const answer of answers) if (answer.status !== 200) expect(codeOf(answer)).toBe('read_model_unavailable')
    expect((await clients[0].request('/v1/pets')).status).toBe(503)
    const meanwhile = await createPets(12)
    await master.start()
    await cluster.whole()
    await vi.waitFor(() => expectExactly(clients[1], [...pets, ...meanwhile]), patience)
  })
})

async function onMaster<T>({ url }: Master, ask: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url)
  try {
    return await ask(redis)
  } finally {
    redis.disconnect()
  }
}

/** How many shards of the service under test a master holds. */
async function shardsOn(master: Master, { REDIS_PREFIX }: Environment): Promise<number> {
  const keys = await onMaster(master, (redis) => redis.keys(`{${REDIS_PREFIX}:*}:active`))
  return keys.length
}
