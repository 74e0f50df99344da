import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** What a broker is made from where no image can be had; see images/build.sh. */
export const kafkaImageFolder = join(import.meta.dirname, 'images/kafka')
export const jarsFolder = join(import.meta.dirname, '../../node_modules/.cache/petstore-brokers/kafka-4.3.1')

export function jarsFetched(): boolean {
  return existsSync(jarsFolder)
}

/** Suits a test: one node, nothing that waits for others, a small heap, topics made only on purpose. */
const testConfig = {
  'node.id': '1',
  'process.roles': 'broker,controller',
  'controller.listener.names': 'CONTROLLER',
  'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
  'auto.create.topics.enable': 'false',
  'group.initial.rebalance.delay.ms': '0',
  // a broker that was killed may come back only when its session has ended: 9 s by default
  'broker.session.timeout.ms': '3000',
  'broker.heartbeat.interval.ms': '500',
  'offsets.topic.replication.factor': '1',
  'offsets.topic.num.partitions': '1',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  // how often it is looked for transactions whose producers are gone: every 10 s by default
  'transaction.abort.timed.out.transaction.cleanup.interval.ms': '500',
  'share.coordinator.state.topic.replication.factor': '1',
  'share.coordinator.state.topic.min.isr': '1',
}

/**
 * The environment of a single broker by the conventions of the official image. It listens on `port` inside and outside
 * of a container alike, so that the address it advertises is right from both sides.
 */
export function kafkaEnvironment(
  ports: { client: number; controller: number },
  config: Record<string, string> = {},
): Record<string, string> {
  const properties = {
    ...testConfig,
    listeners: `PLAINTEXT://0.0.0.0:${ports.client},CONTROLLER://127.0.0.1:${ports.controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${ports.client}`,
    'controller.quorum.voters': `1@127.0.0.1:${ports.controller}`,
    ...config,
  }
  const named = Object.entries(properties).map(([key, value]) => [environmentName(key), value])
  return { CLUSTER_ID: '5L6g3nShT-eMCtK--X86sw', KAFKA_HEAP_OPTS: '-Xmx512m', ...Object.fromEntries(named) }
}

function environmentName(property: string): string {
  return `KAFKA_${property.replaceAll('_', '__').replaceAll('-', '___').replaceAll('.', '_').toUpperCase()}`
}

/** Every write is on disk before it is acknowledged, so a test may kill the server at any moment and know what is left. */
export const redisTestArgs: readonly string[] = [
  ...['--save', ''],
  ...['--appendonly', 'yes'],
  ...['--appendfsync', 'always'],
]
