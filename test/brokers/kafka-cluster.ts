import type { KafkaBroker } from './brokers.ts'
import { startKafka } from './processes.ts'
import { freePort, kafkaBrokersAnswering, until } from './ready.ts'

export interface KafkaCluster {
  /** host:port of each, by comma. */
  readonly brokers: string
  /** Node n at index n - 1. */
  readonly nodes: readonly KafkaBroker[]
  remove(): Promise<void>
}

const nodeIds = [1, 2, 3]

/** Three brokers, which are the controllers as well, as local processes: one of them can be away. */
export async function startKafkaCluster(): Promise<KafkaCluster> {
  const ports = await Promise.all(
    nodeIds.map(async (id) => ({ id, client: await freePort(), controller: await freePort() })),
  )
  const voters = ports.map(({ id, controller }) => `${id}@127.0.0.1:${controller}`).join(',')
  const nodes = await Promise.all(
    ports.map(({ id, client, controller }) => {
      const listeners = `PLAINTEXT://0.0.0.0:${client},CONTROLLER://127.0.0.1:${controller}`
      const config = { ...clusterConfig, 'node.id': String(id), 'controller.quorum.voters': voters, listeners }
      return startKafka({ config }, { port: client })
    }),
  )
  const remove = async () => void (await Promise.all(nodes.map((node) => node.remove())))
  const brokers = nodes.map((node) => node.brokers).join(',')
  await until('three brokers have joined', 60_000, async () => (await kafkaBrokersAnswering(brokers)) === nodes.length)
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
