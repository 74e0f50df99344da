import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { askRedis } from '../brokers/ready.ts'
import { metric } from '../lib/http-client.ts'
import { byId, Client, createOnce, inParallel, type Pet } from './client.ts'
import {
  brokerEnvironment,
  expectVerified,
  type ParkedEvent,
  petstoreOutput,
  placeOf,
  startService,
  untilParked,
} from './service.ts'
import { petCreated, produce } from './topic.ts'

const patience = { timeout: 30_000, interval: 20 }
const replaced = 'the read models lost data: an empty generation takes their place'

/** An event that this release cannot apply. */
function ofTheFuture(id: number, streamversion = 1) {
  const pet: Pet = { id, name: 'late', categoryId: 1, status: 'sold' }
  return petCreated({ eventId: `future ${id}`, pet, streamversion, typeVersion: 9 })
}

describeWithBrokers('read models that lose a whole set', (brokers) => {
  // Each set is missed, as the contract of the stores shows: here are two whose loss no read tells of.
  it.each(['keys', 'parked'])('%s: say so, replace themselves, and make no pet twice', async (set) => {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const client = new Client(service)
    const createAll = async () => (await inParallel(20, 8, (i) => createOnce(client, `pet ${i}`))).map(({ pet }) => pet)
    const pets = await createAll()
    await client.order(pets[0]?.id ?? 0)
    await produce(environment, [ofTheFuture(5_000_001), ofTheFuture(5_000_002), ofTheFuture(5_000_002, 2)])
    const first = (await untilParked(environment, 3)).find(({ stream }) => stream === '5000001')
    await petstoreOutput(environment, 'parked', 'discard', placeOf(first as ParkedEvent), '--yes')
    await untilParked(environment, 2)

    await askRedis(brokers.redisUrl, async (redis) => {
      const keys = await redis.keys(`*${environment.REDIS_PREFIX}*:set:${set}`)
      expect(await redis.unlink(...keys)).toBe(1)
    })
    expect(await createAll()).toEqual(pets)
    await vi.waitFor(() => expect(service.output()).toContain(replaced), patience)
    expect(await metric(service.url, 'petstore_read_models_incomplete_total')).toBe(1)
    await expectVerified(environment)
    const ordered = { ...pets[0], status: 'pending' } as Pet
    expect(await client.list()).toEqual(byId([ordered, ...pets.slice(1)]))
  })
})
