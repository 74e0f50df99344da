import type { Admin } from 'kafkajs'
import type { KafkaBroker } from '../../brokers/brokers.ts'
import { until, within } from '../../brokers/ready.ts'
import { empty, fill } from '../system/small-disk.ts'
import { asAdmin } from '../system/topic-admin.ts'
import { brokerFaults } from './broker-faults.ts'
import { type Fault, lasting } from './fault.ts'

const inSyncMs = 30_000
const leadMs = 30_000

export interface KafkaUnderFaults {
  /** host:port of each, by comma, past all links. */
  readonly brokers: string
  readonly nodes: readonly KafkaBroker[]
  /** The topics of the log, and those of what is published, which come later. */
  readonly topics: readonly string[]
}

type Cluster = Omit<KafkaUnderFaults, 'nodes'>

/** Faults of a cluster of three brokers: after each, all replicas are in sync again. */
export function kafkaFaults(kafka: KafkaUnderFaults): Fault[] {
  const { nodes } = kafka
  const faults: Fault[] = [
    ...brokerFaults('a Kafka broker', nodes),
    lasting('two of three Kafka brokers stand still', (random) => {
      const most = random.shuffle(nodes).slice(0, 2)
      return {
        wrong: () => Promise.all(most.map((node) => node.pause())),
        right: () => Promise.all(most.map((node) => node.resume())),
      }
    }),
    { kind: 'leaders move', inflict: () => moveLeaders(kafka) },
  ]
  return faults.map(({ kind, inflict }) => ({
    kind,
    inflict: async (occasion) => {
      const happened = await inflict(occasion)
      await untilInSync(kafka)
      return happened
    },
  }))
}

/** The broker whose data is on a small file system. It ends when that is full, and is started again when it is not. */
export function fullKafkaDisk(kafka: KafkaUnderFaults, node: KafkaBroker, mount: string): Fault {
  const disk = {
    wrong: () => fill(mount),
    right: async () => {
      empty(mount)
      await node.kill()
      await node.start()
      await untilInSync(kafka)
    },
  }
  return lasting('disk of a Kafka broker is full', () => disk, { leastMs: 1000, mostMs: 4000 })
}

/** Each partition gets the next of its replicas as its preferred leader. Resolves to whether all of these lead in time. */
export function moveLeaders(kafka: Cluster): Promise<boolean> {
  return orderReplicas(kafka, ([first, ...others]) => [...others, first ?? 1])
}

/** The first of the replicas of each partition is its preferred leader. Resolves to whether all of these lead in time. */
export async function orderReplicas(
  { brokers, topics }: Cluster,
  order: (replicas: readonly number[]) => number[],
): Promise<boolean> {
  return await asAdmin(brokers, async (admin) => {
    const metadata = await admin.fetchTopicMetadata({ topics: await existing(admin, topics) })
    const moved = metadata.topics.map(({ name, partitions }) => ({
      topic: name,
      partitionAssignment: partitions.map(({ partitionId, replicas }) => ({
        partition: partitionId,
        replicas: order(replicas),
      })),
    }))
    await admin.alterPartitionReassignments({ topics: moved })
    const wanted = moved.flatMap(({ topic, partitionAssignment }) =>
      partitionAssignment.map(({ partition, replicas }) => `${topic} ${partition} ${replicas[0]}`),
    )
    return await within(leadMs, async () => {
      const found = await admin
        .fetchTopicMetadata({ topics: moved.map(({ topic }) => topic) })
        .catch(() => ({ topics: [] }))
      const leaders = found.topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionId, leader }) => `${name} ${partitionId} ${leader}`),
      )
      return wanted.every((each) => leaders.includes(each))
    })
  })
}

export async function untilInSync({ brokers, topics }: Cluster): Promise<void> {
  await until('all replicas are in sync', inSyncMs, () =>
    asAdmin(brokers, async (admin) => {
      const metadata = await admin.fetchTopicMetadata({ topics: await existing(admin, topics) })
      const partitions = metadata.topics.flatMap((topic) => topic.partitions)
      return partitions.length > 0 && partitions.every(({ isr, replicas }) => isr.length === replicas.length)
    }).catch(() => false),
  )
}

async function existing(admin: Admin, topics: readonly string[]): Promise<string[]> {
  return (await admin.listTopics()).filter((topic) => topics.includes(topic))
}
