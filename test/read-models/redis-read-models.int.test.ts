import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Batch } from '../../src/read-models/read-models.ts'
import { redisKeys } from '../../src/read-models/redis/redis-keys.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import {
  applyAll,
  batchAfter,
  contents,
  documentOf,
  firstBatch,
  found,
  idsIn,
  idsOf,
  insert,
  newGeneration,
  started,
} from './contract/samples.ts'
import { readModelsContract } from './read-models.contract.ts'
import { type RedisFixture, redisFixture } from './redis-fixture.ts'

/** One that writes every key of a generation. */
function fullBatch(): Batch {
  return firstBatch({ inserts: [insert(1, ['a'])], counters: [['c', 1]], parked: ['subject'], keys: ['k'] })
}

describeWithBrokers('redis read models', ({ redisUrl }) => {
  readModelsContract('redis', async () => redisFixture(redisUrl))

  describe('in Redis', () => {
    let fixture: RedisFixture
    beforeEach(() => {
      fixture = redisFixture(redisUrl)
    })
    afterEach(() => fixture.remove())

    it('use the declared keys, all with one hash tag', async () => {
      const { store, generation } = await started(fixture)
      await applyAll(store, generation, fullBatch())
      const next = newGeneration()
      await store.start(next, generation)
      await store.build(newGeneration())
      const { active, building, replaced, generation: keysOf } = redisKeys({ prefix: fixture.prefix, version: 'v1' })
      const { index, ...named } = keysOf(generation)
      const built = (await store.generations()).flatMap(({ name }) => keysOf(name).checkpoints)
      const declared = [active, building, replaced, index('a'), ...new Set([...Object.values(named), ...built])]
      expect((await fixture.keys()).sort()).toEqual(declared.sort())
      for (const key of declared) expect(key.startsWith(`{${fixture.prefix}:v1}:`)).toBe(true)
    })

    it('keep a parked event with all that is needed to look into it', async () => {
      const { store, generation } = await started(fixture)
      const event = { subject: '12', reason: 'data: name', value: '{"é":"🐕"}' }
      await applyAll(store, generation, { ...firstBatch({ partition: 3 }), parked: [{ offset: 7, ...event }] })
      const { parked } = redisKeys({ prefix: fixture.prefix, version: 'v1' }).generation(generation)
      const fields = await fixture.client.hgetall(parked)
      expect(Object.entries(fields).map(([field, json]) => [field, JSON.parse(json)])).toEqual([['3/7', event]])
    })

    it('tell of documents that were lost', async () => {
      const { store, generation } = await started(fixture)
      await applyAll(store, generation, firstBatch({ inserts: [insert(1, ['a']), insert(2, ['a'])] }))
      const keys = redisKeys({ prefix: fixture.prefix, version: 'v1' }).generation(generation)
      await fixture.client.zrem(keys.index('a'), documentOf(1))
      await fixture.client.unlink(keys.documents)
      const inIndex = await store.range(generation, { index: 'a', from: 1, limit: 5 })
      const inAll = await store.range(generation, { from: 1, limit: 5 })
      expect([inIndex, inAll]).toMatchObject([
        { ...found([documentOf(2)]), held: 1, added: 2 },
        { ...found([]), held: 0, added: 2 },
      ])
    })

    it('answer all that share a failing call with read_model_unavailable, and those after it', async () => {
      const { store, generation } = await started(fixture)
      await applyAll(store, generation, firstBatch({ inserts: [insert(1, ['a'])] }))
      const keys = redisKeys({ prefix: fixture.prefix, version: 'v1' }).generation(generation)
      await fixture.client.set(keys.index('broken'), 'not a sorted set')
      const asked = ['a', 'broken', undefined].map((index) => store.range(generation, { index, from: 1, limit: 5 }))
      for (const result of await Promise.allSettled(asked)) {
        expect(result).toMatchObject({ status: 'rejected', reason: { code: 'read_model_unavailable' } })
      }
      expect(await idsIn(store, generation, 'a')).toEqual([1])
    })

    it('read a hundred ranges in fewer than ten calls, and each in one', async () => {
      const { store, generation } = await started(fixture)
      await applyAll(store, generation, firstBatch({ inserts: [insert(1, ['a']), insert(2, ['b'])] }))
      const read = (count: number) =>
        Promise.all(
          Array.from({ length: count }, (_, i) =>
            store.range(generation, { index: [undefined, 'a', 'b'][i % 3], from: 1, limit: 5 }),
          ),
        )
      await read(1)
      const calls: string[][] = []
      const monitor = await fixture.client.monitor()
      monitor.on('monitor', (_time: string, command: string[]) => {
        if (command.some((part) => part.includes(generation))) calls.push(command)
      })
      const ended = (name: string) => vi.waitFor(() => expect(calls.some((call) => call.includes(name))).toBe(true))
      await read(100)
      await fixture.client.get(`end of ${generation}`)
      await ended(`end of ${generation}`)
      monitor.disconnect()
      const scripts = calls.filter(([name]) => /^evalsha$/i.test(name ?? ''))
      expect(scripts.length).toBeGreaterThan(1)
      expect(scripts.length).toBeLessThan(10)
    })

    it('take a batch that is larger than the stack of Lua', async () => {
      const { store, generation } = await started(fixture)
      const inserts = Array.from({ length: 5000 }, (_, i) => insert(i + 1, ['a']))
      await applyAll(store, generation, firstBatch({ inserts }))
      expect(await idsIn(store, generation, 'a')).toEqual(inserts.map(({ id }) => id))
    })

    it('go on when the server forgot the scripts', async () => {
      const { store, generation } = await started(fixture)
      const first = firstBatch({ inserts: [insert(1)] })
      await applyAll(store, generation, first)
      const before = await contents(store, generation)
      await fixture.client.script('FLUSH')
      expect(await contents(store, generation)).toEqual(before)
      await fixture.client.script('FLUSH')
      const all = { from: 1, limit: 10 }
      const asked = Array.from({ length: 100 }, () => store.range(generation, all))
      for (const answer of await Promise.all(asked)) expect(idsOf(answer)).toEqual([1])
      await fixture.client.script('FLUSH')
      await applyAll(store, generation, batchAfter(first.checkpoint, { inserts: [insert(2)] }))
    })

    it('ignore a message that is none of theirs', async () => {
      const { store, generation } = await started(fixture)
      const heard: unknown[][] = []
      const connected = new Promise<void>((resolve) => {
        store.listen({ progress: (...all) => heard.push(all), connected: resolve, disconnected: () => {} })
      })
      await connected
      await fixture.client.publish(redisKeys({ prefix: fixture.prefix, version: 'v1' }).progress, 'a b c d')
      await applyAll(store, generation, firstBatch())
      await vi.waitFor(() => expect(heard.at(-1)).toEqual([generation, { partition: 0, next: 1, parked: [] }]))
      expect(heard.map(([name]) => name)).not.toContain('a')
    })
  })
})
