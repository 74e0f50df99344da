import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import type { RedisServer } from './brokers.ts'
import { startRedis } from './processes.ts'
import { freePort, until } from './ready.ts'

export interface RedisCluster {
  /** The URL of the first master. */
  readonly url: string
  readonly masters: readonly Master[]
  /** Until each of these sees all slots served. */
  whole(): Promise<void>
  remove(): Promise<void>
}

export interface Master extends RedisServer {
  /** Kills it and starts it again without its data, as the same member of the cluster. */
  restartEmpty(): Promise<void>
}

/** Three masters as local processes: one of them can be away, while the others go on. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const masters = await Promise.all([1, 2, 3].map(startMaster))
  const urls = masters.map(({ url }) => url)
  const hosts = urls.map((url) => new URL(url).host)
  await promisify(execFile)('redis-cli', ['--cluster', 'create', ...hosts, '--cluster-yes'])
  const isWhole = async () => (await Promise.all(urls.map(clusterState))).every((state) => state === 'ok')
  const whole = () => until('the Redis Cluster is whole', 30_000, isWhole)
  const remove = async () => void (await Promise.all(masters.map((master) => master.remove())))
  await whole()
  return { url: urls[0] ?? '', masters, whole, remove }
}

async function startMaster(): Promise<Master> {
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-port': String(await freePort()),
    'cluster-node-timeout': '2000',
    'cluster-require-full-coverage': 'no',
  }
  const folder = mkdtempSync(join(tmpdir(), 'petstore-redis-'))
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  const server = await startRedis({ args }, { folder })
  async function restartEmpty(): Promise<void> {
    await server.kill()
    rmSync(join(folder, 'appendonlydir'), { recursive: true })
    await server.start()
  }
  return { ...server, restartEmpty }
}

async function clusterState(url: string): Promise<string | undefined> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 1000 })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return /cluster_state:(\w+)/.exec(String(await redis.cluster('INFO')))?.[1]
  } catch {
    return undefined
  } finally {
    redis.disconnect()
  }
}
