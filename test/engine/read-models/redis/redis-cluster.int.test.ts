import slotOf from 'cluster-key-slot'
import { Cluster, Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { redisKeys } from '../../../../src/engine/read-models/redis/redis-keys.ts'
import { openRedisReadModels } from '../../../../src/engine/read-models/redis/redis-read-models.ts'
import { shardVersions } from '../../../../src/engine/read-models/shards.ts'
import { type RedisCluster, startRedisCluster } from '../../../brokers/clusters.ts'
import { describeWithLocalBrokers } from '../../../brokers/describe.ts'
import { eventually } from '../../../lib/eventually.ts'
import { progressOf } from '../contract/hearing.ts'
import { added, applyAll, batchAfter, firstBatch, idsIn, names, newGeneration, seat } from '../contract/samples.ts'
import { readModelsContract } from '../read-models.contract.ts'
import { clusterFixture, type Heard, openHeard, silentLogger } from './redis-fixture.ts'

const first = firstBatch({ documents: added(seat(1, ['a'])) })
const second = batchAfter(first, { documents: added(seat(2, ['a'])) })

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

    it.each([
      ['kill', 'start', 0], // the master of the URL
      ['pause', 'resume', 1],
    ] as const)('%s of one master: the others go on, and it comes back with %s', async (begin, end, number) => {
      const [lost, others] = [shard(number), shards.filter((each) => each !== shards[number])]
      await cluster.masters[number]?.[begin]()
      for (let turn = 0; turn < 20 || !lost.heard.includes('disconnected'); turn++) {
        const read = lost.store.reads.find(lost.generation, seat(1))
        await expect(read).rejects.toMatchObject({ code: 'read_model_unavailable' })
        for (const other of others) expect(await idsIn(other.store, other.generation)).toEqual([1])
      }
      for (const other of others) await applyAll(other.store, other.generation, second)
      for (const other of others) expect(other.heard).not.toContain('disconnected')
      await cluster.masters[number]?.[end]()
      await cluster.whole()
      await eventually(async () => expect(await idsIn(lost.store, lost.generation)).toEqual([1]))
      await eventually(() => expect(lost.heard).toEqual(['connected', 'disconnected', 'connected']))
      await eventually(() => applyAll(lost.store, lost.generation, second))
      await eventually(() => expect(lost.heard.at(-1)).toEqual(progressOf(lost.generation, second)))
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
      openRedisReadModels({ url: cluster.url, prefix: 'evicted', version, names, logger: silentLogger() })
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
