import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { KafkaBroker, RedisServer } from './brokers.ts'
import { startKafka, startRedis } from './processes.ts'
import { askRedis, freePort, kafkaBrokersAnswering, startMs, until } from './ready.ts'

type Settings = Readonly<Record<string, string>>

export interface KafkaCluster {
  /** host:port of each, by comma. */
  readonly brokers: string
  /** Node n at index n - 1. */
  readonly nodes: readonly KafkaBroker[]
  remove(): Promise<void>
}

/**
 * Three brokers, which are the controllers as well, as local processes: one of them can be away. `changed` by port and id;
 * `listeners` there are further ones. The data is in a folder of each, by default a temporary one.
 */
export async function startKafkaCluster(
  changed: (port: number, id: number) => Settings = () => ({}),
  folderOf: (id: number) => { folder?: string } = () => ({}),
): Promise<KafkaCluster> {
  const nodePorts = [1, 2, 3].map(async (id) => ({ id, client: await freePort(), controller: await freePort() }))
  const ports = await Promise.all(nodePorts)
  const voters = ports.map(({ id, controller }) => `${id}@127.0.0.1:${controller}`).join(',')
  const nodes = await Promise.all(
    ports.map(({ id, client, controller }) => {
      const { listeners: others, ...own } = changed(client, id)
      const usual = `PLAINTEXT://0.0.0.0:${client},CONTROLLER://127.0.0.1:${controller}`
      const listeners = others === undefined ? usual : `${usual},${others}`
      const config = { ...clusterConfig, ...own, 'node.id': String(id), 'controller.quorum.voters': voters, listeners }
      return startKafka({ config }, { port: client, ...folderOf(id) })
    }),
  )
  const remove = async () => void (await Promise.all(nodes.map((node) => node.remove())))
  const brokers = nodes.map((node) => node.brokers).join(',')
  await until('three brokers have joined', startMs, async () => (await kafkaBrokersAnswering(brokers)) === nodes.length)
  return { brokers, nodes, remove }
}

const clusterConfig = {
  'offsets.topic.replication.factor': '3',
  'transaction.state.log.replication.factor': '3',
  // The first of a partition's replicas leads it again as soon as it can.
  'auto.leader.rebalance.enable': 'true',
  'leader.imbalance.check.interval.seconds': '1',
  'leader.imbalance.per.broker.percentage': '0',
}

export interface RedisCluster {
  /** The URL of the first master. */
  readonly url: string
  readonly masters: readonly Master[]
  /** Until each of these sees all slots served. */
  whole(): Promise<void>
  remove(): Promise<void>
}

export interface MasterPorts {
  readonly client: number
  /** To the other masters. */
  readonly bus: number
}

export interface Master extends RedisServer {
  readonly folder: string
  /** Kills it and starts it again without its data, as the same member of the cluster. */
  restartEmpty(): Promise<void>
}

/** Three masters as local processes: one of them can be away, while the others go on. `argsOf` adds arguments by ports. */
export async function startRedisCluster(
  argsOf: (ports: MasterPorts) => Promise<readonly string[]> = async () => [],
): Promise<RedisCluster> {
  const masters = await Promise.all([1, 2, 3].map(() => startMaster(argsOf)))
  const urls = masters.map(({ url }) => url)
  const hosts = urls.map((url) => new URL(url).host)
  await promisify(execFile)('redis-cli', ['--cluster', 'create', ...hosts, '--cluster-yes'])
  const stateOf = (url: string) => askRedis(url, async (redis) => String(await redis.cluster('INFO'))).catch(String)
  const isWhole = async () =>
    (await Promise.all(urls.map(stateOf))).every((state) => state.includes('cluster_state:ok'))
  const whole = () => until('the Redis Cluster is whole', startMs, isWhole)
  const remove = async () => void (await Promise.all(masters.map((master) => master.remove())))
  await whole()
  return { url: urls[0] ?? '', masters, whole, remove }
}

async function startMaster(argsOf: (ports: MasterPorts) => Promise<readonly string[]>): Promise<Master> {
  const ports = { client: await freePort(), bus: await freePort() }
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-port': String(ports.bus),
    'cluster-node-timeout': '2000',
    'cluster-require-full-coverage': 'no',
  }
  const folder = mkdtempSync(join(tmpdir(), 'petstore-redis-'))
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  const server = await startRedis({ args: [...args, ...(await argsOf(ports))] }, { folder, port: ports.client })
  async function restartEmpty(): Promise<void> {
    await server.kill()
    rmSync(join(folder, 'appendonlydir'), { recursive: true })
    await server.start()
  }
  return { ...server, folder, restartEmpty }
}
