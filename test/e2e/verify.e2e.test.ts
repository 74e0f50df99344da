import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, createMany, expectExactly, outcomeOf, type Pet, untilServed } from './client.ts'
import { brokerEnvironment, expectVerified, petstore, petstoreOutput, startService } from './service.ts'
import { openActiveKeys } from './stored-state.ts'

const text = ({ id, name, categoryId, status }: Pet) =>
  `{"id":${id},"name":"${name}","categoryId":${categoryId},"status":"${status}"}`

describeWithBrokers('petstore verify', (brokers) => {
  it('finds what differs from the log, and --repair heals it', async () => {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const client = new Client(service)
    const pets = await createMany(client, 60)
    await untilServed(client, pets)
    const sold = pets.filter(({ status }) => status === 'sold')
    const [changed, missing, doubled] = sold as [Pet, Pet, Pet]

    // Nothing but a fault or a bug would do this.
    process.kill(service.pid, 'SIGSTOP') // it would heal what changes a size by itself
    const { redis, keys } = await openActiveKeys(environment)
    const set = keys.set('pets')
    const storedOf = async ({ id }: Pet) => (await redis.zrange(set, String(id), String(id), 'BYSCORE'))[0] ?? ''
    const [before, lost] = [await storedOf(changed), await storedOf(missing)]
    const after = before.replace(changed.name, 'another')
    await redis.multi().zrem(set, before, lost).zadd(set, changed.id, after).exec()
    const index = 'pets:status:pending'
    await redis.zadd(keys.set(index), doubled.id, text(doubled))
    // In the index of categories a pet stands in the place of another: no size tells of it.
    const byCategory = 'pets:categoryId='
    const placeOf = ({ id, status }: Pet) => `1:1${status} ${String(id).padStart(16, '0')}`
    const [entry, other] = [placeOf(changed), `1:2${changed.status} ${String(changed.id).padStart(16, '0')}`]
    const categories = keys.set(byCategory)
    await redis
      .multi()
      .zrem(categories, entry + text(changed))
      .zadd(categories, 0, other + text(changed))
      .exec()
    const differences = [
      { where: byCategory, id: entry, expected: text(changed) },
      { where: byCategory, id: other, found: text(changed) },
      { where: 'pets', id: String(changed.id), expected: before, found: after },
      { where: 'pets', id: String(missing.id), expected: lost },
      { where: index, id: String(doubled.id), found: text(doubled) },
      { where: 'size', id: 'pets', expected: '60 of 60', found: '59 of 60' },
      { where: 'size', id: index, expected: '20 of 20', found: '21 of 20' },
    ]
    const { code, output, errors } = await petstore(environment, 'verify', '--json')
    expect(code, errors).toBe(1)
    const found = JSON.parse(output).differences
    expect(found).toHaveLength(differences.length)
    expect(found).toEqual(expect.arrayContaining(differences))
    await petstoreOutput(environment, 'verify', '--repair')
    process.kill(service.pid, 'SIGCONT')
    await expectExactly(client, pets)

    // It need not be called for a set that lost something: a read that notices has it replaced.
    const { keys: active } = await openActiveKeys(environment)
    await redis.zremrangebyscore(active.set('pets'), missing.id, missing.id)
    expect(outcomeOf(await client.get(missing.id))).toBe('503 read_model_rebuilding')
    await vi.waitFor(async () => expect((await client.get(missing.id)).body).toEqual(missing), { timeout: 30_000 })
    await untilServed(client, pets)
    await expectVerified(environment)
  })
})
