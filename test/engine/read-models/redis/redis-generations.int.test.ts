import { Redis } from 'ioredis'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import type { Batch } from '../../../../src/engine/read-models/ports/projection.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { run, scripts } from '../../../../src/engine/read-models/redis/redis-calls.ts'
import { redisKeys, versionsKey } from '../../../../src/engine/read-models/redis/redis-keys.ts'
import { typeOf } from '../../../../src/engine/read-models/redis/stored.ts'
import { describeWithBrokers } from '../../../brokers/describe.ts'
import { fullBatch } from '../contract/full.ts'
import { added, applyAll, batchAfter, idsIn, newGeneration, ownLog, seat, started } from '../contract/samples.ts'
import { numbers } from '../contract/values.ts'
import { type RedisFixture, redisFixture } from './redis-fixture.ts'

/** Ten batches, each with an index that was not there before. */
async function addIndexes({ projection }: ReadModelStore, generation: string, first: Batch): Promise<string[]> {
  const outcomes: string[] = []
  let batch = first
  for (const id of numbers(10, 100)) {
    batch = batchAfter(batch, { documents: added(seat(id, [`index ${id}`])) })
    outcomes.push((await projection.apply(generation, batch)).outcome)
  }
  return outcomes
}

describeWithBrokers('generations of redis read models', ({ redisUrl }) => {
  let fixture: RedisFixture
  beforeEach(() => {
    fixture = redisFixture(redisUrl)
  })
  afterEach(() => fixture.remove())

  /** A plain client that can run the scripts one by one. */
  function scriptClient(): Redis {
    const client = new Redis(redisUrl, { scripts })
    onTestFinished(() => client.disconnect())
    return client
  }

  const keysOf = (version: string) => redisKeys({ prefix: fixture.prefix, version })
  const keysThat = async (contain: string) => (await fixture.keys()).filter((key) => key.includes(contain))

  /** A version with a generation in each state, last renewed long ago. */
  async function oldVersion(version: string): Promise<ReadModelStore> {
    const store = await fixture.open(version)
    const [first, second, built] = [newGeneration(), newGeneration(), newGeneration()]
    await store.generations.start(first, undefined)
    await applyAll(store, first.name, fullBatch())
    await store.generations.start(second, first.name)
    await store.generations.build(built)
    for (const { name } of [second, built]) await applyAll(store, name, fullBatch())
    await fixture.client.zadd(versionsKey(fixture.prefix), 1, version)
    return store
  }

  it('one is removed with every key, while it is being filled with new indexes', async () => {
    const { store } = await started(fixture)
    for (const _ of numbers(10)) {
      const { name } = await store.generations.build(newGeneration())
      await applyAll(store, name, fullBatch())
      expect((await keysThat(name)).length).toBeGreaterThan(10)
      const [, removed] = await Promise.all([addIndexes(store, name, fullBatch()), store.generations.remove(name)])
      expect(removed).toBe(true)
      expect(await keysThat(name)).toEqual([])
    }
    const { building, replaced } = keysOf('v1')
    expect(await fixture.client.exists(building, replaced)).toBe(0)
  })

  it('contents are of one moment while indexes are added', async () => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, fullBatch())
    const filling = addIndexes(store, generation, fullBatch())
    for (let indexes = 0; indexes < 10; ) {
      const { sizes, snapshot } = (await store.inspection.contents(generation)) ?? expect.fail('is gone')
      const found = [...sizes].filter(([set]) => set.startsWith('seats:index'))
      indexes = found.length
      expect(sizes.get('seats')).toEqual({ actual: indexes + 2, recorded: indexes + 2 })
      expect(snapshot.checkpoints.get(0)?.next).toBe(fullBatch().checkpoint.next + indexes)
      for (const [, size] of found) expect(size).toEqual({ actual: 1, recorded: 1 })
    }
    expect(new Set(await filling)).toEqual(new Set(['applied']))
  })

  it.each(['active', 'building', 'replaced', 'versions'] as const)(
    'what is of another type counts as absent, and is replaced: %s',
    async (which) => {
      const { store, generation } = await started(fixture)
      await store.generations.build(newGeneration())
      await store.generations.renew()
      const key = which === 'versions' ? versionsKey(fixture.prefix) : keysOf('v1')[which]
      await fixture.client.unlink(key)
      await fixture.client.set(key, 'text')
      const isActive = which !== 'active'
      expect((await store.generations.active())?.name).toBe(isActive ? generation : undefined)
      const { active, isComplete, building } = await store.generations.look()
      expect([active?.name, isComplete]).toEqual([isActive ? generation : undefined, true])
      expect(building === undefined).toBe(which === 'building')
      expect((await store.generations.all()).length).toBe(which === 'active' || which === 'building' ? 1 : 2)
      expect((await store.generations.versions()).length).toBe(which === 'versions' ? 0 : 1)
      expect((await store.inspection.recorded(generation))?.snapshot.active).toBe(isActive ? generation : undefined)
      await store.generations.renew()
      expect((await store.generations.versions()).map(({ version }) => version)).toEqual(['v1'])
      const { name } = await store.generations.build(newGeneration())
      expect(await store.generations.activate(name)).toBe('activated')
      const next = newGeneration()
      expect(await store.generations.start(next, name)).toBe(true)
      await store.generations.prune(0)
      expect((await store.generations.all()).map((each) => each.name)).toEqual([next.name])
    },
  )

  it('activating looks at indexes that were added since it was asked for', async () => {
    const { store } = await started(fixture)
    const { name } = await store.generations.build(newGeneration())
    await applyAll(store, name, fullBatch())
    const { active, building, replaced, progress, generation } = keysOf('v1')
    const { checkpoints, sizes, set } = generation(name)
    const names = [active, building, replaced, active, checkpoints, sizes]
    const before = (await fixture.client.hget(active, 'name')) ?? ''
    const activate = (sets: string[]) =>
      run(
        scriptClient(),
        'activate-generation',
        [...names, ...sets.map(set)],
        [name, before, progress, '', ...sets.flatMap((each) => [each, typeOf(each)])],
      )
    const asked = await fixture.client.hkeys(sizes)
    await applyAll(store, name, batchAfter(fullBatch(), { documents: added(seat(3, ['late'])) }))
    expect(await activate(asked)).toBe('other_keys')
    await fixture.client.zadd(set('seats:late'), '9', 'one that was never added')
    expect(await activate([...asked, 'seats:late'])).toBe('incomplete')
    await fixture.client.zrem(set('seats:late'), 'one that was never added')
    expect(await store.generations.activate(name)).toBe('activated')
    expect(await idsIn(store, name, 'late')).toEqual([3])
  })

  it('one that is started in place of a paused one is not paused', async () => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, fullBatch())
    const { name } = await store.generations.build(newGeneration())
    expect(await store.generations.activate(name)).toBe('behind')
    const next = newGeneration()
    await store.generations.start(next, generation)
    await applyAll(store, next.name, fullBatch())
  })

  it('one whose checkpoints were lost is gone', async () => {
    const { store, generation } = await started(fixture)
    const { checkpoints, sizes } = keysOf('v1').generation(generation)
    await fixture.client.unlink(checkpoints)
    expect(await store.projection.apply(generation, fullBatch())).toEqual({ outcome: 'generation_gone' })
    expect(await keysThat(generation)).toEqual([sizes])
  })

  it('removing leaves no key of a version, whatever another release wrote into it', async () => {
    const own = await oldVersion('v1')
    const old = await oldVersion('v2')
    for (const { name } of await old.generations.all()) {
      await fixture.client.set(`{${fixture.prefix}:v2}:${name}:of-another-release`, 'x')
    }
    await own.generations.renew()
    const keep = (await fixture.keys()).filter((key) => !key.includes(':v2}'))
    expect(await own.generations.removeVersion({ version: 'v2', renewed: 1 }, ownLog)).toBe(true)
    expect((await fixture.keys()).sort()).toEqual(keep.sort())
  })

  it.each(['inf', '-inf', '1e300'])(
    'a version at the time %s, as a stranger wrote it, is listed and removed',
    async (time) => {
      const { store } = await started(fixture)
      await fixture.client.zadd(versionsKey(fixture.prefix), time, 'x')
      expect(await store.generations.versions()).toEqual([{ version: 'x', renewed: 0 }])
      expect(await store.generations.removeVersion({ version: 'x', renewed: 0 }, ownLog)).toBe(true)
      expect(await store.generations.versions()).toEqual([])
    },
  )

  it.each(['inf', 'nan', 'soon', '1e300'])(
    'generations since %s, as a stranger wrote it, are listed and pruned',
    async (time) => {
      const { store, generation: old } = await started(fixture)
      const [active, built] = [newGeneration(), newGeneration()]
      await store.generations.start(active, old)
      await store.generations.build(built)
      const keys = keysOf('v1')
      for (const key of [keys.active, keys.building]) await fixture.client.hset(key, 'since', time)
      await fixture.client.zadd(keys.replaced, 'inf', old)
      expect((await store.generations.all()).map(({ since }) => since)).toEqual([0, 0, 0])
      expect((await store.generations.prune(60_000)).length).toBeLessThan(2)
      await store.generations.prune(0)
      expect(await store.generations.all()).toMatchObject([{ name: active.name }])
    },
  )

  it('a version that came into use while it was being removed is not forgotten', async () => {
    const client = scriptClient()
    const key = versionsKey(fixture.prefix)
    await client.zadd(key, 2, 'v2')
    await run(client, 'forget-version', [key], ['v2', 1])
    expect(await client.zrange(key, '0', '-1')).toEqual(['v2'])
    await run(client, 'forget-version', [key], ['v2', 2])
    expect(await client.exists(key)).toBe(0)
  })

  it('removing goes on where a process that was killed had got to', async () => {
    const own = await oldVersion('v1')
    const old = await oldVersion('v2')
    const client = scriptClient()
    for (const [version, { generations }] of [
      ['v1', own],
      ['v2', old],
    ] as const) {
      const { generation, active, building, replaced } = keysOf(version)
      await fixture.client.hset(building, 'since', 1)
      for (const { name } of (await generations.all()).filter(({ state }) => state !== 'active')) {
        await fixture.client.zadd(replaced, 'XX', 1, name)
        const keys = [active, building, replaced, generation(name).checkpoints]
        expect(await run(client, 'remove-generation', keys, [name, '', 60_000])).toBe('removed')
      }
      expect(await generations.all()).toHaveLength(1)
    }
    const { name } = (await own.generations.active()) ?? expect.fail('none is active')
    await own.generations.prune(60_000)
    expect(await own.generations.removeVersion({ version: 'v2', renewed: 1 }, ownLog)).toBe(true)
    const rest = [versionsKey(fixture.prefix), keysOf('v1').active, ...(await keysThat(name))]
    expect((await fixture.keys()).sort()).toEqual(rest.sort())
  })
})
