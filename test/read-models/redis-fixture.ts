import { randomUUID } from 'node:crypto'
import { Cluster, Redis } from 'ioredis'
import { expect, vi } from 'vitest'
import type { Batch, ReadModels } from '../../src/read-models/read-models.ts'
import { redisKeys } from '../../src/read-models/redis/redis-keys.ts'
import { openRedisReadModels, type RedisReadModelsOptions } from '../../src/read-models/redis/redis-read-models.ts'
import type { ReadModelsFixture } from './contract/fixture.ts'
import { applyAll, newGeneration } from './contract/samples.ts'

export function silentLogger() {
  return { info: vi.fn(), warn: vi.fn() }
}

export interface RedisFixture extends ReadModelsFixture {
  readonly prefix: string
  /** A plain client of the same server. */
  readonly client: Redis
  keys(): Promise<string[]>
}

/** Keys of their own, under a prefix that nobody else uses. */
export function redisFixture(url: string): RedisFixture {
  const prefix = `test-${randomUUID()}`
  const client = new Redis(url)
  const keys = () => client.keys(`*${prefix}*`)
  const empty = async () => {
    const found = await keys()
    if (found.length > 0) await client.unlink(...found)
  }
  return { prefix, client, keys, ...fixtureOn(url, prefix, client, empty) }
}

/** A store, its only generation, and what it told its listener. */
export interface Heard {
  readonly store: ReadModels
  readonly generation: string
  readonly heard: string[]
}

/** With `first` applied; of what it told, no more than that it is connected is left. */
export async function openHeard(options: RedisReadModelsOptions, first: Batch): Promise<Heard> {
  const store = await openRedisReadModels(options)
  const { name: generation, epoch } = newGeneration()
  await store.start({ name: generation, epoch }, undefined)
  const heard: string[] = []
  store.listen({
    progress: (_generation, at) => heard.push(`progress ${at?.next}`),
    connected: () => heard.push('connected'),
    disconnected: () => heard.push('disconnected'),
  })
  await vi.waitFor(() => expect(heard).toContain('connected'))
  await applyAll(store, generation, first)
  await vi.waitFor(() => expect(heard.at(-1)).toBe(`progress ${first.checkpoint.next}`))
  heard.splice(0, heard.length, 'connected')
  return { store, generation, heard }
}

/** As `redisFixture`, on a cluster. */
export function clusterFixture(url: string): ReadModelsFixture {
  const prefix = `test-${randomUUID()}`
  const client = new Cluster([url])
  async function empty(): Promise<void> {
    await client.ping() // by then it knows its nodes
    for (const node of client.nodes('master')) {
      for (const key of await node.keys(`*${prefix}*`)) await node.unlink(key)
    }
  }
  return fixtureOn(url, prefix, client, empty)
}

function fixtureOn(
  url: string,
  prefix: string,
  client: Redis | Cluster,
  empty: () => Promise<void>,
): ReadModelsFixture {
  const opened: ReadModels[] = []
  return {
    empty,
    async damage(generation, id, index) {
      const keys = redisKeys({ prefix, version: 'v1' }).generation(generation)
      await client.zremrangebyscore(index === undefined ? keys.documents : keys.index(index), id, id)
    },
    progressIsHeardBy: 'every store on the data',
    async open(version = 'v1') {
      const store = await openRedisReadModels({ url, prefix, version, logger: silentLogger() })
      opened.push(store)
      return store
    },
    async remove() {
      await Promise.all(opened.map((store) => store.close()))
      await empty()
      client.disconnect()
    },
  }
}
