import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { documentsTarget, eventsTarget } from '../../../src/engine/log/published-log.ts'
import { startRedisCluster } from '../../brokers/clusters.ts'
import type { Link } from '../../brokers/link.ts'
import { startRedis } from '../../brokers/processes.ts'
import type { Environment } from '../../brokers/program.ts'
import { askRedis, until } from '../../brokers/ready.ts'
import type { LogRecord } from '../../judge/history.ts'
import { services as judged } from '../../judge/services.ts'
import type { Lane } from '../faults/fault.ts'
import { foreignTransactions } from '../faults/foreign-producers.ts'
import { fullKafkaDisk, kafkaFaults } from '../faults/kafka-faults.ts'
import { lossFaults, makeLossyTopics } from '../faults/loss-faults.ts'
import { networkFaults } from '../faults/network-faults.ts'
import { processFaults } from '../faults/process-faults.ts'
import { emptyRestart, Failover, type RedisNode, redisFaults } from '../faults/redis-faults.ts'
import { petstore, type Served } from '../served.ts'
import { type KafkaSide, lagMs, linkTo, names, startKafka } from './kafka-side.ts'
import { apiKey, operatorLane, type Setting, type StartScenario } from './scenario.ts'
import { Supervised } from './supervised.ts'
import { asAdmin, readCommitted, readLog } from './topic-admin.ts'

const prefix = 'campaign'
const partitions = 6
/** What the Redis of a scenario is, and what can happen to it. */
interface RedisSide {
  /** Past all links. */
  readonly url: string
  readonly urlOf: (name: string) => string
  readonly environment?: Environment
  readonly lanes: readonly Lane[]
}

/** A single Redis. */
export const redis: StartScenario = onKafka(async (stack, folder) => {
  const node = await redisNode(stack, join(folder, 'redis'))
  const { urlOf, lane } = await linksTo(stack, portOf(node.url))
  return { url: node.url, urlOf, lanes: [redisFaults([node], prefix), lane] }
})

/** A master with a replica that takes its place. */
export const replica: StartScenario = onKafka(async (stack, folder) => {
  const [master, other] = [
    await redisNode(stack, join(folder, 'redis-1')),
    await redisNode(stack, join(folder, 'redis-2')),
  ]
  const { links, linksOf, urlOf, lane } = await linksTo(stack, portOf(master.url))
  const replication = await linkTo(stack, portOf(master.url))
  await askRedis(other.url, (client) => client.replicaof('127.0.0.1', replication.port))
  await until('the replica follows', 20_000, () =>
    askRedis(other.url, async (client) => (await client.info('replication')).includes('master_link_status:up')),
  )
  const failover = new Failover({ nodes: [master, other], replication, links, linksOf })
  const ofMaster = [...failover.faults(), ...failover.faults(), ...failover.faultsOfMaster(prefix)]
  return { url: urlOf('operator'), urlOf, lanes: [ofMaster, lane] }
})

/** Three masters, and a shard of the read models for each. */
export const cluster: StartScenario = onKafka(async (stack) => {
  const [toMasters, amongMasters]: [Link[], Link[]] = [[], []]
  const masters = await startRedisCluster(async ({ client, bus }) => {
    const [link, busLink] = [await linkTo(stack, client), await linkTo(stack, bus)]
    toMasters.push(link)
    amongMasters.push(busLink)
    const announced = { ip: '127.0.0.1', port: link.port, 'bus-port': busLink.port }
    return Object.entries(announced).flatMap(([name, value]) => [`--cluster-announce-${name}`, String(value)])
  })
  stack.defer(() => masters.remove())
  return {
    url: masters.url,
    urlOf: () => urlTo(toMasters[0]),
    environment: { READ_MODEL_SHARDS: '3' },
    lanes: [
      [...redisFaults(masters.masters, prefix), emptyRestart(masters)],
      networkFaults('to Redis masters', [toMasters]),
      networkFaults('among Redis masters', [amongMasters], { leastMs: 2500, mostMs: 6000 }), // a node times out after 2 s
    ],
  }
})

/** What a process writes before it ends because of it (decision 0027). */
const logLost = /the event log was replaced|the events are gone/

/**
 * A topic that may lose what was acknowledged, and does. Nobody writes to it in transactions: the loss of what ends one
 * leaves it open for ever, and no reader comes past it until an operator ends it.
 */
export const lossy: StartScenario = async (stack, setting) => {
  const { folder, context } = setting
  const kafka = await kafkaOf(stack, setting)
  const topic = newTopic()
  const node = await redisNode(stack, join(folder, 'redis'))
  await makeLossyTopics(kafka.cluster, topic)
  const redisSide = { url: node.url, urlOf: () => node.url, lanes: [] }
  const running = await startServices(stack, setting, { kafka, topic, redisSide, endsAfter: logLost })
  const projectors = running.services.filter(({ name }) => name.startsWith('projector'))
  const loss = lossFaults({ ...kafka, ...running, topic, projectors, context })
  const lanes = [loss, processFaults(running.services), redisFaults([node], prefix)]
  const readPublished = readAnew(kafka.cluster.brokers, publishingTopics(running.served, topic), running.readPublished)
  return { ...running, readPublished, lanes: [...lanes, operatorLane({ ...running, ...context })] }
}

/** Those that come back when they are deleted. */
function publishingTopics({ name }: Served, topic: string): string[] {
  return [eventsTarget, ...judged[name].collections.map(documentsTarget), 'positions'].map((each) => `${topic}.${each}`)
}

/**
 * What was published of a log that lost its end cannot be unsaid, so nothing more is: at last an operator deletes it, and it
 * comes back as the log is then.
 */
function readAnew(brokers: string, topics: string[], read: () => Promise<LogRecord[]>): () => Promise<LogRecord[]> {
  let isDeleted = false
  return async () => {
    if (!isDeleted) {
      await asAdmin(brokers, (admin) => admin.deleteTopics({ topics }))
      isDeleted = true
    }
    return await read()
  }
}

/** A scenario on three Kafka brokers, with two processes of each kind. */
function onKafka(startRedisSide: (stack: AsyncDisposableStack, folder: string) => Promise<RedisSide>): StartScenario {
  return async (stack, setting) => {
    const { folder, context } = setting
    const [kafka, redisSide] = await Promise.all([kafkaOf(stack, setting), startRedisSide(stack, folder)])
    const topic = newTopic()
    const running = await startServices(stack, setting, { kafka, topic, redisSide })
    const { cluster, smallDisk, among } = kafka
    const underFaults = {
      brokers: cluster.brokers,
      nodes: cluster.nodes,
      topics: [topic, `${topic}.id-blocks`, ...publishingTopics(running.served, topic)],
    }
    const full = smallDisk && cluster.nodes[2] && fullKafkaDisk(underFaults, cluster.nodes[2], smallDisk)
    const eachAlone = among.map((link) => [link])
    const amongBrokers = networkFaults('among Kafka brokers', eachAlone, { leastMs: lagMs + 500, mostMs: lagMs + 4000 })
    return {
      ...running,
      lanes: [
        processFaults(running.services),
        // one broker at a time: two are needed to confirm a write
        [...kafkaFaults(underFaults), ...(full ? [full] : []), ...amongBrokers],
        networkFaults('to Kafka', names.map(kafka.linksOf)),
        [foreignTransactions(running.served, cluster.brokers, topic)],
        ...redisSide.lanes,
        operatorLane({ ...running, ...context }),
      ],
    }
  }
}

async function kafkaOf(stack: AsyncDisposableStack, setting: Setting): Promise<KafkaSide> {
  return setting.kafka ?? (await startKafka(stack, setting))
}

/** Scenarios may share a Kafka. */
function newTopic(): string {
  return `campaign-${randomUUID()}`
}

interface Sides {
  readonly kafka: KafkaSide
  readonly topic: string
  readonly redisSide: RedisSide
  readonly endsAfter?: RegExp
}

async function startServices(
  stack: AsyncDisposableStack,
  { folder, environment: own, canMount, served = petstore }: Setting,
  { kafka: { cluster, linksOf }, topic, redisSide: { url, urlOf, environment: ofRedis }, endsAfter }: Sides,
) {
  const common = {
    ...own,
    ...ofRedis,
    KAFKA_TOPIC: topic,
    REDIS_PREFIX: prefix,
    DATA_DIR: join(folder, 'service'),
    API_KEYS: apiKey,
  }
  const services = await Promise.all(
    names.map((name) => {
      const brokers = linksOf(name).map(({ port }) => `127.0.0.1:${port}`)
      const ROLE = name.replace(/-\d$/, '')
      const environment = { ...common, ROLE, KAFKA_BROKERS: brokers.join(), REDIS_URL: urlOf(name) }
      return Supervised.start(stack, {
        name,
        served,
        folder,
        environment,
        canMount,
        ...(endsAfter && { endsAfter, logsItsEnd: true }),
      })
    }),
  )
  const apis = services.filter(({ name }) => name.startsWith('api'))
  return {
    served,
    services,
    apis,
    environment: { ...common, KAFKA_BROKERS: cluster.brokers, REDIS_URL: url },
    partitions,
    readLog: () => readLog(cluster.brokers, topic),
    readPublished: () => readCommitted(cluster.brokers, `${topic}.${eventsTarget}`),
    readDocuments: (collection: string) => readCommitted(cluster.brokers, `${topic}.${documentsTarget(collection)}`),
  }
}

async function redisNode(stack: AsyncDisposableStack, folder: string): Promise<RedisNode> {
  const node = await startRedis({ args: ['--shutdown-timeout', '1'] }, { folder }) // seconds that it waits for a replica
  stack.defer(() => node.remove())
  return { ...node, folder }
}

/** From each process, and from the command line, to the port of a Redis; with what can happen to those of the processes. */
async function linksTo(stack: AsyncDisposableStack, port: number) {
  const from = [...names, 'operator']
  const links = await Promise.all(from.map(() => linkTo(stack, port)))
  return {
    links,
    linksOf: (role: string) => links.filter((_, index) => from[index]?.startsWith(role)),
    urlOf: (name: string) => urlTo(links[from.indexOf(name)]),
    lane: networkFaults('to Redis', [links.slice(0, names.length)]),
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

function urlTo(link: Link | undefined): string {
  return `redis://127.0.0.1:${link?.port}`
}
