import type { Redis } from 'ioredis'
import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, createMany, expectExactly, outcomeOf, type Pet, untilServed } from './client.ts'
import { brokerEnvironment, expectVerified, petstore, petstoreOutput, startService } from './service.ts'
import { openActiveKeys } from './stored-state.ts'

const text = ({ id, name, categoryId, status }: Pet) =>
  `{"id":${id},"name":"${name}","categoryId":${categoryId},"status":"${status}"}`

/** What nothing but a fault or a bug would do to the read models, and how verify tells of it. */
const faults: Readonly<
  Record<string, (redis: Redis, set: (name: string) => string, pet: Pet, size: number) => Promise<object[]>>
> = {
  'a document that was changed': async (redis, set, pet) => {
    const [stored = ''] = await redis.zrange(set('pets'), String(pet.id), String(pet.id), 'BYSCORE')
    const changed = stored.replace(pet.name, 'another')
    await redis.multi().zrem(set('pets'), stored).zadd(set('pets'), pet.id, changed).exec()
    return [{ where: 'pets', id: String(pet.id), expected: stored, found: changed }]
  },
  'a document that is missing': async (redis, set, pet, size) => {
    const [stored = ''] = await redis.zrange(set('pets'), String(pet.id), String(pet.id), 'BYSCORE')
    await redis.zrem(set('pets'), stored)
    const [expected, found] = [`${size} of ${size}`, `${size - 1} of ${size}`]
    return [
      { where: 'pets', id: String(pet.id), expected: stored },
      { where: 'size', id: 'pets', expected, found },
    ]
  },
  'an entry too many in an index': async (redis, set, pet, size) => {
    const index = 'pets:status:pending'
    await redis.zadd(set(index), pet.id, text(pet))
    const [expected, found] = [`${size / 3} of ${size / 3}`, `${size / 3 + 1} of ${size / 3}`]
    return [
      { where: index, id: String(pet.id), found: text(pet) },
      { where: 'size', id: index, expected, found },
    ]
  },
}

describeWithBrokers('petstore verify', (brokers) => {
  it('finds what differs from the log, and --repair heals it', async () => {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const client = new Client(service)
    const pets = await createMany(client, 60)
    await expectVerified(environment)
    const sold = pets.find(({ status }) => status === 'sold') as Pet
    for (const [what, fault] of Object.entries(faults)) {
      process.kill(service.pid, 'SIGSTOP') // it would heal what changes a size by itself
      const { redis, keys } = await openActiveKeys(environment)
      const differences = await fault(redis, keys.set, sold, pets.length)
      const { code, output, errors } = await petstore(environment, 'verify', '--json')
      expect(code, errors).toBe(1)
      expect(JSON.parse(output).differences, what).toEqual(differences)
      await petstoreOutput(environment, 'verify', '--repair')
      process.kill(service.pid, 'SIGCONT')
      await expectVerified(environment)
      await expectExactly(client, pets)
    }

    // It need not be called for a set that lost something: a read that notices has it replaced.
    const { redis, keys } = await openActiveKeys(environment)
    await redis.zremrangebyscore(keys.set('pets'), sold.id, sold.id)
    expect(outcomeOf(await client.get(sold.id))).toBe('503 read_model_rebuilding')
    await vi.waitFor(async () => expect((await client.get(sold.id)).body).toEqual(sold), { timeout: 30_000 })
    await untilServed(client, pets)
    await expectVerified(environment)
  })
})
