import type { Cluster, Kafka, PartitionAssigner } from 'kafkajs'
import type { LogRecord, Offset } from '../event-log.ts'
import { withoutMarker } from './batch-decoding.ts'
import { type KafkaClient, KafkaConnection, toOffset } from './kafka-client.ts'

/** What kafkajs decodes from a fetch response; its own type is `any`. */
interface FetchResponse {
  readonly responses: readonly {
    readonly partitions: readonly {
      readonly messages: readonly { offset: string; key: Buffer | null; value: Buffer | null }[]
    }[]
  }[]
}

/** A record exists and cannot be read: not an outage, and waiting does not help. */
export class UndecodableError extends Error {
  override readonly name = 'UndecodableError'

  constructor(topic: string, offset: Offset, reason: string) {
    super(`the batch at offset ${offset} of topic ${topic} cannot be decoded: ${reason}`)
  }
}

/** Reads offsets and single records without a consumer group, which could take seconds to form. */
export class KafkaReader {
  readonly #connection: KafkaConnection<Cluster>

  constructor(newClient: () => KafkaClient) {
    this.#connection = new KafkaConnection(newClient, clusterOf)
  }

  /** For each partition of the topic, the offset of its first record, or the offset that its next record will get. */
  async offsets(topic: string, which: 'first' | 'next', limitMs: number): Promise<Offset[]> {
    return await this.#read(limitMs, async (cluster) => {
      await cluster.addTargetTopic(topic)
      await cluster.refreshMetadataIfNecessary()
      const partitions = cluster.findTopicPartitionMetadata(topic).map((each) => ({ partition: each.partitionId }))
      const [found] = await cluster.fetchTopicsOffset([{ topic, partitions, fromBeginning: which === 'first' }])
      if (found?.partitions.length !== partitions.length) throw new Error(`offsets of ${topic} are incomplete`)
      return found.partitions
        .toSorted((one, other) => one.partition - other.partition)
        .map(({ offset }) => toOffset(offset))
    })
  }

  /** The record at this offset of partition 0; undefined if there is none yet. */
  async record(topic: string, offset: Offset, limitMs: number): Promise<LogRecord | undefined> {
    return await this.#read(limitMs, async (cluster) => {
      await cluster.addTargetTopic(topic)
      const leader = Object.keys(cluster.findLeaderForPartitions(topic, [0]))[0] ?? ''
      const broker = await cluster.findBroker({ nodeId: leader })
      const partitions = [{ partition: 0, fetchOffset: String(offset), maxBytes: 65_536 }]
      const response: FetchResponse = await broker.fetch({ maxWaitTime: 100, topics: [{ topic, partitions }] })
      const { messages, undecodable } = withoutMarker(response.responses[0]?.partitions[0]?.messages ?? [])
      if (undecodable?.offset === offset) throw new UndecodableError(topic, offset, undecodable.reason)
      const found = messages.find((message) => message.offset === String(offset)) // a batch may begin at an earlier offset
      return found && { offset, key: found.key, value: found.value }
    })
  }

  close(): void {
    this.#connection.close()
  }

  // The second attempt covers changes since the first connection: a leader that moved, a broker that restarted.
  async #read<T>(limitMs: number, read: (cluster: Cluster) => Promise<T>): Promise<T> {
    const deadline = performance.now() + limitMs
    try {
      return await this.#connection.use(limitMs / 2, read)
    } catch {
      return await this.#connection.use(deadline - performance.now(), read)
    }
  }
}

/** kafkajs passes its cluster object only to partition assigners. This consumer exists for that and never runs. */
function clusterOf(kafka: Kafka): Cluster {
  let captured: Cluster | undefined
  const capture: PartitionAssigner = ({ cluster }) => {
    captured = cluster
    return {
      name: 'none',
      version: 0,
      assign: async () => [],
      protocol: () => ({ name: '', metadata: Buffer.alloc(0) }),
    }
  }
  kafka.consumer({
    groupId: 'none',
    allowAutoTopicCreation: false,
    readUncommitted: true, // an open transaction of another producer must not hide later records
    partitionAssigners: [capture],
  })
  if (captured === undefined) throw new Error('kafkajs did not create a partition assigner')
  return captured
}
