import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, codeOf, expectExactly, inParallel, type Pet, statuses } from './client.ts'
import { expectVerified, petstore } from './petstore.ts'
import { brokerEnvironment, type Environment, startService } from './service-process.ts'
import { openActiveKeys } from './stored-state.ts'

const timeout = 180_000

interface Difference {
  readonly where: string
  readonly id: string
  readonly expected?: string
  readonly found?: string
}

describeWithBrokers('petstore verify', (brokers) => {
  async function start(): Promise<{ environment: Environment; client: Client; pets: readonly Pet[]; sold: Pet }> {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const pets = await inParallel(60, 8, (i) => client.create(`pet ${i}`, statuses[i % 3]))
    await expectVerified(environment)
    return { environment, client, pets, sold: pets.find(({ status }) => status === 'sold') as Pet }
  }

  async function differences(environment: Environment): Promise<Difference[]> {
    const { code, output, errors } = await petstore(environment, 'verify', '--json')
    expect(code, errors).toBe(1)
    return JSON.parse(output).differences
  }

  async function expectRepaired({ environment, client, pets }: Awaited<ReturnType<typeof start>>): Promise<void> {
    const { code, errors } = await petstore(environment, 'verify', '--repair')
    expect(code, errors).toBe(0)
    await expectVerified(environment)
    await expectExactly(client, pets)
  }

  const text = ({ id, name, categoryId, status }: Pet) =>
    `{"id":${id},"name":"${name}","categoryId":${categoryId},"status":"${status}"}`

  it('finds a document that was changed, and --repair heals it', { timeout }, async () => {
    const world = await start()
    const { environment, sold } = world
    const { redis, keys } = await openActiveKeys(environment)
    const [stored = ''] = await redis.zrange(keys.set('pets'), String(sold.id), String(sold.id), 'BYSCORE')
    const changed = stored.replace(sold.name, 'another')
    await redis.multi().zrem(keys.set('pets'), stored).zadd(keys.set('pets'), sold.id, changed).exec()
    const id = String(sold.id)
    expect(await differences(environment)).toEqual([{ where: 'pets', id, expected: stored, found: changed }])
    await expectRepaired(world)
  })

  it('finds a document that is missing, and --repair heals it', { timeout }, async () => {
    const world = await start()
    const { environment, pets, sold } = world
    const { redis, keys } = await openActiveKeys(environment)
    const [stored = ''] = await redis.zrange(keys.set('pets'), String(sold.id), String(sold.id), 'BYSCORE')
    await redis.zrem(keys.set('pets'), stored)
    const [expected, found] = [`${pets.length} of ${pets.length}`, `${pets.length - 1} of ${pets.length}`]
    expect(await differences(environment)).toEqual([
      { where: 'pets', id: String(sold.id), expected: stored },
      { where: 'size', id: 'pets', expected, found },
    ])
    await expectRepaired(world)
  })

  it('finds an entry too many in an index, and --repair heals it', { timeout }, async () => {
    const world = await start()
    const { environment, pets, sold } = world
    const { redis, keys } = await openActiveKeys(environment)
    await redis.zadd(keys.set('pets:status:pending'), sold.id, text(sold))
    const pending = pets.filter(({ status }) => status === 'pending').length
    const [expected, found] = [`${pending} of ${pending}`, `${pending + 1} of ${pending}`]
    expect(await differences(environment)).toEqual([
      { where: 'pets:status:pending', id: String(sold.id), found: text(sold) },
      { where: 'size', id: 'pets:status:pending', expected, found },
    ])
    await expectRepaired(world)
  })

  it('need not be called for a set that lost something: a read that notices has it replaced', { timeout }, async () => {
    const { environment, client, pets, sold } = await start()
    const { redis, keys } = await openActiveKeys(environment)
    await redis.zremrangebyscore(keys.set('pets'), sold.id, sold.id)
    const first = await client.get(sold.id)
    expect([first.status, codeOf(first)]).toEqual([503, 'read_model_rebuilding'])
    await vi.waitFor(async () => expect((await client.get(sold.id)).body).toEqual(sold), {
      timeout: 30_000,
      interval: 50,
    })
    await expectExactly(client, pets)
    await expectVerified(environment)
  })
})
