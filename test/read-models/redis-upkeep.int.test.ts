import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Checkpoint } from '../../src/read-models/checkpoint.ts'
import type { ReadModels } from '../../src/read-models/read-models.ts'
import { redisKeys, versionsKey } from '../../src/read-models/redis/redis-keys.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { applyAll, batchAfter, firstBatch, idsIn, insert, newGeneration, started } from './contract/samples.ts'
import { type RedisFixture, redisFixture } from './redis-fixture.ts'

const full = firstBatch({ inserts: [insert(1, ['a', 'b'])], counters: [['c', 1]], parked: ['subject'], keys: ['k'] })

/** Ten batches, each with an index that was not there before. */
async function addIndexes(store: ReadModels, generation: string, expected: Checkpoint): Promise<string[]> {
  const outcomes: string[] = []
  let checkpoint = expected
  for (let id = 100; id < 110; id++) {
    const batch = batchAfter(checkpoint, { inserts: [insert(id, [`index ${id}`])] })
    outcomes.push((await store.apply(generation, batch)).outcome)
    checkpoint = batch.checkpoint
  }
  return outcomes
}

describeWithBrokers('the upkeep of redis read models', ({ redisUrl }) => {
  let fixture: RedisFixture
  beforeEach(() => {
    fixture = redisFixture(redisUrl)
  })
  afterEach(() => fixture.remove())

  const keysOf = (version: string) => redisKeys({ prefix: fixture.prefix, version })
  const versions = () => versionsKey(fixture.prefix)
  const keysThat = async (contain: string) => (await fixture.keys()).filter((key) => key.includes(contain))
  const redisNow = async () => {
    const [seconds, micros] = await fixture.client.time()
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  }

  /** A version with a generation in each state, last renewed that long ago. */
  async function versionRenewed(version: string, agoMs: number): Promise<ReadModels> {
    const store = await fixture.open(version)
    const [first, second, built] = [newGeneration(), newGeneration(), newGeneration()]
    await store.start(first, undefined)
    await applyAll(store, first.name, full)
    await store.start(second, first.name)
    await store.build(built)
    for (const { name } of [second, built]) await applyAll(store, name, full)
    await fixture.client.zadd(versions(), (await redisNow()) - agoMs, version)
    return store
  }

  it('removing a generation leaves no key of it', async () => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, full)
    await store.start(newGeneration(), generation)
    const built = await store.build(newGeneration())
    await applyAll(store, built.name, full)
    expect(await keysThat(generation)).toHaveLength(9)
    expect(await store.remove(generation)).toBe(true)
    expect(await store.remove(built.name)).toBe(true)
    expect(await keysThat(generation)).toEqual([])
    expect(await keysThat(built.name)).toEqual([])
    const { building, replaced } = keysOf('v1')
    expect(await fixture.client.exists(building, replaced)).toBe(0)
  })

  it('removing a generation that is being filled with new indexes leaves no key of it', async () => {
    const { store } = await started(fixture)
    for (let round = 0; round < 10; round++) {
      const { name } = await store.build(newGeneration())
      await applyAll(store, name, full)
      // It may be removed only once all are added: each new index has it look again.
      const [, removed] = await Promise.all([addIndexes(store, name, full.checkpoint), store.remove(name)])
      expect(removed).toBe(true)
      expect(await store.apply(name, batchAfter(full.checkpoint))).toEqual({ outcome: 'generation_gone' })
      expect(await keysThat(name)).toEqual([])
    }
  })

  it('contents are of one moment while indexes are added', async () => {
    const { store, generation } = await started(fixture)
    await applyAll(store, generation, full)
    const filling = addIndexes(store, generation, full.checkpoint)
    let indexes = 0
    while (indexes < 12) {
      const contents = await store.contents(generation)
      indexes = contents?.indexes.size ?? 0
      expect(contents?.documents).toEqual({ held: indexes - 1, added: indexes - 1 })
      expect(contents?.moment.checkpoints.get(0)?.applied).toBe(indexes - 1)
      for (const size of contents?.indexes.values() ?? []) expect(size).toEqual({ held: 1, added: 1 })
    }
    expect(new Set(await filling)).toEqual(new Set(['applied']))
  })

  it('activating looks at indexes that were added since it was asked for', async () => {
    const { store } = await started(fixture)
    const { name } = await store.build(newGeneration())
    await applyAll(store, name, full)
    const index = keysOf('v1').generation(name).index('late')
    await fixture.client.zadd(index, '1', 'one that was never added')
    const activating = store.activate(name)
    const late = await store.apply(name, batchAfter(full.checkpoint, { inserts: [insert(2, ['late'])] }))
    expect([late.outcome, await activating]).toEqual(['applied', 'incomplete'])
    await fixture.client.zrem(index, 'one that was never added')
    expect(await store.activate(name)).toBe('activated')
    expect(await idsIn(store, name, 'late')).toEqual([2])
  })

  it('pruning takes out a version that was not renewed, and leaves no key of it', async () => {
    const own = await versionRenewed('v1', 100_000)
    await versionRenewed('v2', 100_000)
    await versionRenewed('v3', 1000)
    await own.renew()
    const keep = (await fixture.keys()).filter((key) => !key.includes(':v2}'))
    expect(await own.prune(60_000)).toEqual(['v2'])
    expect((await fixture.keys()).sort()).toEqual(keep.sort())
    expect((await own.versions()).map(({ version }) => version)).toEqual(['v3', 'v1'])
  })

  it('pruning leaves a version alone that is its own, or was never renewed', async () => {
    const own = await versionRenewed('v1', 100_000)
    await versionRenewed('v2', 100_000)
    await fixture.client.zrem(versions(), 'v2')
    const before = (await fixture.keys()).sort()
    expect(await own.prune(60_000)).toEqual([])
    expect((await fixture.keys()).sort()).toEqual(before)
  })

  it('pruning goes on where another that was killed had got to', async () => {
    const own = await fixture.open('v1')
    const v2 = await versionRenewed('v2', 100_000)
    const { replaced } = keysOf('v2')
    for (const { name, state } of await v2.generations()) if (state !== 'active') await v2.remove(name)
    expect(await fixture.client.exists(replaced)).toBe(0)
    expect(await own.prune(60_000)).toEqual(['v2'])
    expect(await keysThat('v2')).toEqual([])
    expect(await own.prune(60_000)).toEqual([])
  })

  it('a version that was removed under its process finds nothing, and starts again', async () => {
    const v2 = await versionRenewed('v2', 100_000)
    const generation = (await v2.active())?.name ?? ''
    await (await fixture.open('v1')).prune(60_000)
    expect(await v2.active()).toBeUndefined()
    expect(await v2.apply(generation, batchAfter(full.checkpoint))).toEqual({ outcome: 'generation_gone' })
    const next = newGeneration()
    await v2.start(next, undefined)
    await v2.renew()
    expect(await v2.active()).toEqual({ ...next, continues: undefined })
    expect((await v2.versions()).map(({ version }) => version)).toEqual(['v2'])
  })

  it('pruning spares generations of its own that were replaced or asked for of late', async () => {
    const store = await versionRenewed('v1', 0)
    const [active, built, old] = await store.generations()
    const { building, replaced } = keysOf('v1')
    await fixture.client.zadd(replaced, (await redisNow()) - 100_000, old?.name ?? '')
    await fixture.client.hset(building, 'since', (await redisNow()) - 50_000)
    expect(await store.prune(60_000)).toEqual([`v1/${old?.name}`])
    expect((await store.generations()).map(({ name }) => name)).toEqual([active?.name, built?.name])
    expect(await store.prune(40_000)).toEqual([`v1/${built?.name}`])
    expect(await store.generations()).toEqual([active])
  })

  it('times are by the clock of Redis, in milliseconds', async () => {
    const before = await redisNow()
    const store = await versionRenewed('v1', 0)
    await store.renew()
    const after = await redisNow()
    const times = [...(await store.generations()).map(({ since }) => since), (await store.versions())[0]?.renewed]
    expect(times).toHaveLength(4)
    for (const time of times) {
      expect(time).toBeGreaterThanOrEqual(before)
      expect(time).toBeLessThanOrEqual(after)
    }
  })
})
