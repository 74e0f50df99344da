import { randomUUID } from 'node:crypto'
import { Cluster, Redis } from 'ioredis'
import { expect, vi } from 'vitest'
import { isKeyed } from '../../../../src/engine/read-models/document.ts'
import type { Batch } from '../../../../src/engine/read-models/ports/projection.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { redisKeys, versionsKey } from '../../../../src/engine/read-models/redis/redis-keys.ts'
import {
  openRedisReadModels,
  type RedisReadModelsOptions,
} from '../../../../src/engine/read-models/redis/redis-read-models.ts'
import { eventually } from '../../../lib/eventually.ts'
import type { ReadModelsFixture } from '../contract/fixture.ts'
import { listenerOn, progressOf } from '../contract/hearing.ts'
import { applyAll, names, newGeneration } from '../contract/samples.ts'

export function silentLogger() {
  return { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
}

export interface RedisFixture extends ReadModelsFixture {
  readonly prefix: string
  /** A plain client of the same server. */
  readonly client: Redis
  keys(): Promise<string[]>
}

/** Keys of their own, under a prefix that nobody else uses. */
export function redisFixture(url: string): RedisFixture {
  const prefix = newPrefix()
  const client = new Redis(url)
  const keys = async () => (await client.keys('*')).filter((key) => key.includes(prefix))
  const empty = async () => {
    const found = await keys()
    if (found.length > 0) await client.unlink(...found)
  }
  return { prefix, client, keys, ...fixtureOn(url, prefix, client, empty) }
}

/** With characters that mean something to SCAN. */
function newPrefix(): string {
  return `test-[x]*-${randomUUID()}`
}

/** A store, its only generation, and what it told its listener. */
export interface Heard {
  readonly store: ReadModelStore
  readonly generation: string
  readonly heard: unknown[]
}

/** With `first` applied; of what it told, no more than that it is connected is left. */
export async function openHeard(options: Omit<RedisReadModelsOptions, 'names'>, first: Batch): Promise<Heard> {
  const store = await openRedisReadModels({ ...options, names })
  const generation = newGeneration()
  await store.generations.start(generation, undefined)
  const { heard } = await listenerOn(store)
  await applyAll(store, generation.name, first)
  await eventually(() => expect(heard.at(-1)).toEqual(progressOf(generation.name, first)))
  heard.splice(0, heard.length, 'connected')
  return { store, generation: generation.name, heard }
}

/** As `redisFixture`, on a cluster. */
export function clusterFixture(url: string): ReadModelsFixture {
  const prefix = newPrefix()
  const client = new Cluster([url])
  async function empty(): Promise<void> {
    await client.ping() // by then it knows its nodes
    for (const node of client.nodes('master')) {
      for (const key of await node.keys('*')) if (key.includes(prefix)) await node.unlink(key)
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
  const opened: ReadModelStore[] = []
  return {
    empty,
    async damage(generation, set, entry) {
      const key = redisKeys({ prefix, version: 'v1' }).generation(generation).set(set)
      if ((await client.type(key)) === 'hash') await client.hdel(key, `${entry}`)
      else if (isKeyed(set)) await client.zremrangebylex(key, ...membersOf(entry))
      else await client.zremrangebyscore(key, entry, entry)
    },
    async overwrite(generation, piece, text) {
      const keys = redisKeys({ prefix, version: 'v1' }).generation(generation)
      if ('checkpoint' in piece) await client.hset(keys.checkpoints, `${piece.checkpoint}`, text)
      else if ('size' in piece) await client.hset(keys.sizes, piece.size, text)
      else if (isKeyed(piece.set)) {
        await client.zremrangebylex(keys.set(piece.set), ...membersOf(piece.entry))
        await client.zadd(keys.set(piece.set), 0, `${piece.entry}${text}`)
      } else if (typeof piece.entry === 'string') await client.hset(keys.set(piece.set), piece.entry, text)
      else {
        await client.zremrangebyscore(keys.set(piece.set), piece.entry, piece.entry)
        await client.zadd(keys.set(piece.set), piece.entry, text)
      }
    },
    async setClockBack(ms) {
      const move = async (key: string) => {
        for (const member of await client.zrange(key, '0', '-1')) await client.zincrby(key, ms, member)
      }
      await move(versionsKey(prefix))
      for (const version of ['v1', 'v2']) {
        const { active, building, replaced } = redisKeys({ prefix, version })
        for (const key of [active, building]) if (await client.exists(key)) await client.hincrby(key, 'since', ms)
        await move(replaced)
      }
    },
    progressIsHeardBy: 'every store on the data',
    provesSizes: true,
    async open(version = 'v1') {
      const store = await openRedisReadModels({ url, prefix, version, names, logger: silentLogger() })
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

/** The members of a keyed set that an entry names: JSON is behind its name. */
function membersOf(entry: string | number): [from: string, to: string] {
  return [`[${entry}{`, `(${entry}|`]
}
