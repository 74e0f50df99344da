import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { askRedis } from '../brokers/ready.ts'
import { type Answer, byId, Client, inParallel, type Pet } from './client.ts'
import { createOnce } from './load.ts'
import { brokerEnvironment, expectVerified, petstoreJson, petstoreOutput, startService } from './service.ts'
import { petCreated, produce } from './topic.ts'

const patience = { timeout: 30_000, interval: 20 }
const timeout = 180_000
const replaced = 'the read models lost data: an empty generation takes their place'

/** An event that this release cannot apply. */
function ofTheFuture(id: number): { key: string; value: string } {
  const pet: Pet = { id, name: 'late', categoryId: 1, status: 'sold' }
  const event = petCreated({ eventId: `future ${id}`, pet, streamversion: 1 })
  return { ...event, value: event.value.replace('PetCreated.v1', 'PetCreated.v9') }
}

describeWithBrokers('read models that lose a whole set', (brokers) => {
  const sets = ['pets', 'pets:status:available', 'orders', 'rows', 'keys', 'parked', 'parked-queue']
  it.each(sets)('%s: say so, replace themselves, and make no pet twice', { timeout }, async (set) => {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const client = new Client(service)
    const pets = (await inParallel(20, 8, (i) => createOnce(client, `pet ${i}`))).map(({ body }) => body as Pet)
    await client.order(pets[0]?.id ?? 0)
    await produce(environment, [ofTheFuture(5_000_001), ofTheFuture(5_000_002)])
    const parked: { partition: number; offset: number }[] = await vi.waitFor(async () => {
      const found = await petstoreJson(environment, 'parked', 'list')
      expect(found).toHaveLength(2)
      return found
    }, patience)
    const place = `${parked[0]?.partition}/${parked[0]?.offset}`
    await petstoreOutput(environment, 'parked', 'discard', place, '--yes')
    const left = async () => expect(await petstoreJson(environment, 'parked', 'list')).toHaveLength(1)
    await vi.waitFor(left, patience)

    await askRedis(brokers.redisUrl, async (redis) => {
      const keys = await redis.keys(`*${environment.REDIS_PREFIX}*:set:${set}`)
      expect(await redis.unlink(...keys)).toBe(1)
    })
    const again = await inParallel(20, 8, (i) => createOnce(client, `pet ${i}`))
    expect(again.map(({ body }: Answer) => body)).toEqual(pets)
    await vi.waitFor(() => expect(service.output()).toContain(replaced), patience)
    expect(await (await fetch(`${service.url}/metrics`)).text()).toMatch(/^petstore_read_models_incomplete_total 1$/m)
    await expectVerified(environment)
    const ordered = { ...pets[0], status: 'pending' } as Pet
    expect(await client.list()).toEqual(byId([ordered, ...pets.slice(1)]))
  })
})
