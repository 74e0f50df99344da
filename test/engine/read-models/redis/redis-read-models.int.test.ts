import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { redisKeys } from '../../../../src/engine/read-models/redis/redis-keys.ts'
import { startOfPartition } from '../../../../src/engine/read-models/stored-texts.ts'
import { describeWithBrokers } from '../../../brokers/describe.ts'
import { eventually } from '../../../lib/eventually.ts'
import { contentOf } from '../contract/contents.ts'
import { fullBatch, fullSets } from '../contract/full.ts'
import { listenerOn, progressOf } from '../contract/hearing.ts'
import { added, applyAll, batchAfter, idsIn, newGeneration, seat, started, under } from '../contract/samples.ts'
import { numbers } from '../contract/values.ts'
import { readModelsContract } from '../read-models.contract.ts'
import { type RedisFixture, redisFixture } from './redis-fixture.ts'

/** All that a full batch fills. */
const sets = [...fullSets.keys()]

describeWithBrokers('redis read models', ({ redisUrl }) => {
  readModelsContract('redis', async () => redisFixture(redisUrl))

  describe('in Redis', () => {
    let fixture: RedisFixture
    let store: ReadModelStore
    let generation: string
    beforeEach(async () => {
      fixture = redisFixture(redisUrl)
      ;({ store, generation } = await started(fixture))
    })
    afterEach(() => fixture.remove())

    const keysOf = (name: string) => redisKeys({ prefix: fixture.prefix, version: 'v1' }).generation(name)
    const page = (index?: string): Promise<unknown> =>
      store.reads.page(generation, { collection: 'seats', ...under(index), after: 0, limit: 5 })

    it('use the declared keys, all with one hash tag', async () => {
      await applyAll(store, generation, fullBatch())
      await store.generations.start(newGeneration(), generation)
      await store.generations.build(newGeneration())
      const { active, building, replaced } = redisKeys({ prefix: fixture.prefix, version: 'v1' })
      const { set } = keysOf(generation)
      const generations = (await store.generations.all()).map(({ name }) => keysOf(name))
      const ofEach = generations.flatMap(({ checkpoints, sizes }) => [checkpoints, sizes])
      const declared = [active, building, replaced, ...sets.map(set), ...ofEach]
      expect((await fixture.keys()).sort()).toEqual(declared.sort())
      for (const key of declared) expect(key.startsWith(`{${fixture.prefix}:v1}:`)).toBe(true)
    })

    it('tell that sets were lost together with their recorded sizes', async () => {
      await applyAll(store, generation, fullBatch())
      const { set, sizes } = keysOf(generation)
      expect(await store.generations.look()).toMatchObject({ active: { name: generation }, isComplete: true })
      await fixture.client.del(sizes, ...sets.map(set))
      const proof = { isComplete: false }
      expect(await page()).toMatchObject({ proof })
      expect(await store.reads.find(generation, { collection: 'seats', id: 1 })).toMatchObject({ proof })
      expect(await store.reads.load(generation, { stream: '1' })).toMatchObject({ proof })
      expect(await store.generations.look()).toMatchObject({ active: { name: generation }, isComplete: false })
      const next = batchAfter(fullBatch(), { documents: added(seat(3)) })
      expect(await store.projection.apply(generation, next)).toEqual({ outcome: 'incomplete' })
    })

    it('do not take over without their recorded sizes', async () => {
      const next = newGeneration()
      await store.generations.build(next)
      await fixture.client.del(keysOf(next.name).sizes)
      expect(await store.generations.activate(next.name)).toBe('incomplete')
    })

    /** The commands of this test's generation that the server was given. */
    async function commandsOf(work: () => Promise<unknown>): Promise<string[][]> {
      const commands: string[][] = []
      const monitor = await fixture.client.monitor()
      monitor.on('monitor', (_time: string, command: string[]) => {
        if (command.some((part) => part.includes(generation))) commands.push(command)
      })
      await work()
      const last = `end of ${generation}`
      await fixture.client.get(last)
      await eventually(() => expect(commands.some((command) => command.includes(last))).toBe(true))
      monitor.disconnect()
      return commands
    }

    it('make a hundred reads in fewer than ten calls', async () => {
      await applyAll(store, generation, fullBatch())
      await page()
      const query = { stream: '1', key: { partition: 0, key: 'k' } }
      const load = (): Promise<unknown> => store.reads.load(generation, query)
      const reads = () => Promise.all(numbers(100).map((i) => [() => page(), () => page('a'), load][i % 3]?.()))
      const scripts = (await commandsOf(reads)).filter(([name]) => /^evalsha$/i.test(name ?? ''))
      expect(scripts.length).toBeGreaterThan(1)
      expect(scripts.length).toBeLessThan(10)
    })

    it('are looked at by one script, which reads no set, however much is in it', async () => {
      await applyAll(store, generation, fullBatch())
      await store.generations.look()
      const commands = await commandsOf(() => store.generations.look())
      const ofSets = commands.filter((command) => sets.some((set) => command.includes(keysOf(generation).set(set))))
      const names = ofSets.map(([name = '']) => name.toUpperCase())
      expect(names.filter((name) => name === 'EVALSHA')).toHaveLength(1)
      expect(new Set(names)).toEqual(new Set(['EVALSHA', 'HLEN', 'ZCARD']))
    })

    it('go on when the server forgot the scripts', async () => {
      const { client } = fixture
      await applyAll(store, generation, fullBatch())
      const before = await contentOf(store, generation)
      await client.script('FLUSH')
      expect(await contentOf(store, generation)).toEqual(before)
      await client.script('FLUSH')
      const answers = await Promise.all(numbers(100).map(() => idsIn(store, generation)))
      for (const ids of answers) expect(ids).toEqual([1, 2])
      await client.script('FLUSH')
      await applyAll(store, generation, batchAfter(fullBatch(), { documents: added(seat(3)) }))
    })

    it('ignore a message that is none of theirs', async () => {
      const { heard } = await listenerOn(store)
      await fixture.client.publish(redisKeys({ prefix: fixture.prefix, version: 'v1' }).progress, 'foreign b c d')
      const batch = batchAfter({ partition: 0, checkpoint: startOfPartition })
      await applyAll(store, generation, batch)
      await eventually(() => expect(heard.at(-1)).toEqual(progressOf(generation, batch)))
      expect(heard.flat()).not.toContain('foreign')
    })
  })
})
