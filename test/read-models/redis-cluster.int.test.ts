import slotOf from 'cluster-key-slot'
import { Cluster, Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { redisKeys } from '../../src/read-models/redis/redis-keys.ts'
import { openRedisReadModels } from '../../src/read-models/redis/redis-read-models.ts'
import { shardVersions } from '../../src/read-models/shards.ts'
import { type RedisCluster, startRedisCluster } from '../brokers/clusters.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { eventually } from '../lib/eventually.ts'
import { progressOf } from './contract/hearing.ts'
import { added, applyAll, batchAfter, firstBatch, home, idsIn, newGeneration, pet } from './contract/samples.ts'
import { readModelsContract } from './read-models.contract.ts'
import { clusterFixture, type Heard, openHeard, silentLogger } from './redis-fixture.ts'

const first = firstBatch({ documents: added(pet(1, ['a'])) })
const second = batchAfter(first, { documents: added(pet(2, ['a'])) })
const _soon = { timeout: 15_000, interval: 20 }

describeWithLocalBrokers('redis read models on a cluster', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startRedisCluster()
  })
  afterAll(() => cluster.remove())

  readModelsContract('redis cluster', async () => clusterFixture(cluster.url))

  describe('with a shard on each master', () => {
    const logger = silentLogger()
    let prefix: string
    let shards: Heard[]

    beforeEach(async () => {
      prefix = `test-${newGeneration().name}`
      const opened = shardVersions('v1', 3).map((version) =>
        openHeard({ url: cluster.url, prefix, version, logger }, first),
      )
      shards = await Promise.all(opened)
    })
    afterEach(async () => {
      await Promise.all(shards.map(({ store }) => store.close()))
    })

    /** The shard of each master in turn, as slots are given out evenly in order. */
    const shard = (number: number) => {
      const found = shards[number]
      if (found === undefined) throw new Error(`no shard ${number}`)
      return found
    }

    it.each(['kill', 'pause'] as const)('%s of one master: the others go on, and it comes back', async (how) => {
      const master = cluster.masters[1]
      await master?.[how]()
      const lost = shard(1)
      const before = performance.now()
      for (let i = 0; i < 20; i++) {
        const read = lost.store.reads.find(lost.generation, pet(1))
        await expect(read).rejects.toMatchObject({ code: 'read_model_unavailable' })
        for (const other of [shard(0), shard(2)]) expect(await idsIn(other.store, other.generation)).toEqual([1])
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      expect(performance.now() - before).toBeLessThan(20_000)
      await applyAll(shard(0).store, shard(0).generation, second)
      await eventually(() => expect(lost.heard).toEqual(['connected', 'disconnected']))
      expect(shard(0).heard).not.toContain('disconnected')
      await master?.[how === 'kill' ? 'start' : 'resume']()
      await cluster.whole()
      await eventually(async () => expect(await idsIn(lost.store, lost.generation)).toEqual([1]))
      await eventually(() => expect(lost.heard).toEqual(['connected', 'disconnected', 'connected']))
      await eventually(() => applyAll(lost.store, lost.generation, second))
      await eventually(() => expect(lost.heard.at(-1)).toEqual(progressOf(lost.generation, second)))
    })

    it('loss of the master in the URL: the shards of the others go on', async () => {
      await cluster.masters[0]?.kill()
      const other = shard(2)
      expect(await idsIn(other.store, other.generation)).toEqual([1])
      await expect(shard(0).store.generations.active()).rejects.toMatchObject({ code: 'read_model_unavailable' })
      await cluster.masters[0]?.start()
      await cluster.whole()
      await eventually(async () => expect(await idsIn(shard(0).store, shard(0).generation)).toEqual([1]))
    })

    it('a slot that moves to another master is followed', async () => {
      const { store, generation, heard } = shard(1)
      const { active } = redisKeys({ prefix, version: 'v1.s3-1' })
      await moveSlot(cluster, slotOf(active), 1, 2)
      onTestFinished(() => moveSlot(cluster, slotOf(active), 2, 1))
      await eventually(async () => expect(await idsIn(store, generation)).toEqual([1]))
      await eventually(() => expect(heard.at(-1)).toBe('connected'))
      await applyAll(store, generation, second)
      await eventually(() => expect(heard.at(-1)).toEqual(progressOf(generation, second)))
    })
  })

  it('refuses a master that evicts keys, whichever it is', async () => {
    const [, , last] = cluster.masters
    const client = new Cluster([last?.url ?? ''])
    onTestFinished(() => client.disconnect())
    await client.ping()
    const node = client.nodes('master').find(({ options }) => last?.url.endsWith(`:${options.port}`))
    await node?.config('SET', 'maxmemory-policy', 'allkeys-lru')
    const open = (version: string) =>
      openRedisReadModels({ url: cluster.url, prefix: 'evicted', version, home, logger: silentLogger() })
    await expect(open('v1.s3-2')).rejects.toThrow(/maxmemory-policy allkeys-lru/)
    await node?.config('SET', 'maxmemory-policy', 'noeviction')
    await (await open('v1.s3-2')).close()
  })
})

/** Moves a slot with all its keys, as `redis-cli --cluster reshard` does. */
async function moveSlot({ masters }: RedisCluster, slot: number, from: number, to: number): Promise<void> {
  const clients = masters.map(({ url }) => new Redis(url))
  const [source, target] = [clients[from], clients[to]]
  if (source === undefined || target === undefined) throw new Error('no such master')
  const [sourceId, targetId] = [await source.cluster('MYID'), await target.cluster('MYID')]
  await target.cluster('SETSLOT', slot, 'IMPORTING', sourceId)
  await source.cluster('SETSLOT', slot, 'MIGRATING', targetId)
  const keys = await source.cluster('GETKEYSINSLOT', slot, 1000)
  const { hostname, port } = new URL(masters[to]?.url ?? '')
  if (keys.length > 0) await source.migrate(hostname, Number(port), '', 0, 5000, 'KEYS', ...keys)
  for (const client of [target, source, ...clients]) await client.cluster('SETSLOT', slot, 'NODE', targetId)
  for (const client of clients) client.disconnect()
}
