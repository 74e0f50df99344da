import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, codeOf, expectExactly, inParallel, type Pet, statuses } from './client.ts'
import { expectVerified, petstore } from './petstore.ts'
import { brokerEnvironment, type Environment, startService } from './service-process.ts'
import { openActiveKeys } from './stored-state.ts'

const timeout = 180_000

describeWithBrokers('petstore verify', (brokers) => {
  async function start(): Promise<{ environment: Environment; client: Client; pets: readonly Pet[]; sold: Pet }> {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const pets = await inParallel(60, 8, (i) => client.create(`pet ${i}`, statuses[i % 3]))
    await expectVerified(environment)
    return { environment, client, pets, sold: pets.find(({ status }) => status === 'sold') as Pet }
  }

  it('finds what was changed, is missing or too many, and --repair heals it', { timeout }, async () => {
    const { environment, client, pets } = await start()
    const { redis, keys } = await openActiveKeys(environment)
    const [set, index] = ['pets', 'pets:status:pending']
    const [changed, missing, extra] = pets.filter(({ status }) => status === 'sold').map(({ id }) => String(id))
    const stored = async (id = '') => (await redis.zrange(keys.set(set), id, id, 'BYSCORE'))[0] ?? ''
    const [before, lost] = [await stored(changed), await stored(missing)]
    const [after, json = ''] = [before.replace('"sold"', '"lost"'), ...(await stored(extra)).split('\0')]
    await redis.multi().zrem(keys.set(set), before, lost).zadd(keys.set(set), Number(changed), after).exec()
    await redis.zadd(keys.set(index), Number(extra), json)
    const { code, output, errors } = await petstore(environment, 'verify', '--json')
    expect(code, errors).toBe(1)
    const differences = [
      { where: set, id: changed, expected: before, found: after },
      { where: set, id: missing, expected: lost },
      { where: index, id: extra, found: json },
      { where: 'size', id: set, expected: '60 of 60', found: '59 of 60' },
      { where: 'size', id: index, expected: '20 of 20', found: '21 of 20' },
    ]
    const sorted = (all: unknown[]) => all.map((each) => JSON.stringify(each)).toSorted()
    expect(sorted(JSON.parse(output).differences)).toEqual(sorted(differences))
    const repaired = await petstore(environment, 'verify', '--repair')
    expect(repaired.code, repaired.errors).toBe(0)
    await expectVerified(environment)
    await expectExactly(client, pets)
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
