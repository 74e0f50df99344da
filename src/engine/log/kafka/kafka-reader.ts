import type { Cluster, Kafka, PartitionAssigner } from 'kafkajs'
import type { LogRecord, Offset, ReadRecords } from '../event-log.ts'
import { withoutMarker } from './batch-decoding.ts'
import { type KafkaClient, KafkaConnection, toOffset } from './kafka-client.ts'
import type { FetchedMessage } from './record-batch.ts'

/** What kafkajs decodes from a fetch response; its own type is `any`. */
interface FetchResponse {
  readonly responses: readonly {
    readonly partitions: readonly {
      readonly messages: readonly FetchedMessage[]
    }[]
  }[]
}

interface FetchPosition {
  readonly topic: string
  readonly partition: number
  readonly from: Offset
  /** About how much to fetch. */
  readonly bytesMax: number
  readonly isolation: keyof typeof isolationLevels
}

/** A broker gives at least one batch, however long it is. */
const oneBatchBytes = 1
/** How long a broker waits for a first record at the end. */
const waitMs = 100
/** As Kafka numbers them. `uncommitted` is for what only this service writes: an open transaction hides nothing there. */
const isolationLevels = { uncommitted: 0, committed: 1 }

/** A record exists and cannot be read: not an outage, and waiting does not help. */
export class UndecodableError extends Error {
  override readonly name = 'UndecodableError'

  constructor(topic: string, offset: Offset, reason: string) {
    super(`the batch at offset ${offset} of topic ${topic} cannot be decoded: ${reason}`)
  }
}

/** Reads offsets and records without a consumer group, which could take seconds to form. */
export class KafkaReader {
  readonly #connection: KafkaConnection<Cluster>

  constructor(newClient: () => KafkaClient) {
    this.#connection = new KafkaConnection(newClient, clusterOf, { isShared: true })
  }

  /** For each partition of the topic, the offset of its first record, or the offset that its next record will get. */
  async offsets(topic: string, which: 'first' | 'next', limitMs: number): Promise<Offset[]> {
    return await this.ask(limitMs, async (cluster) => {
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

  /** The record at this offset, also one of a transaction; undefined if there is none. */
  async record(topic: string, offset: Offset, limitMs: number, partition = 0): Promise<LogRecord | undefined> {
    const place = { topic, partition, from: offset, bytesMax: oneBatchBytes, isolation: 'uncommitted' } as const
    const { records } = await this.records(place, limitMs)
    const [found] = records
    return found?.offset === offset ? found : undefined
  }

  /**
   * What one fetch brings: at least the batch with the first record from `from` on, whatever its size; no records from the
   * end on. Throws UndecodableError where that batch cannot be decoded.
   */
  async records({ topic, partition, from, bytesMax, isolation }: FetchPosition, limitMs: number): Promise<ReadRecords> {
    const response = await this.ask(limitMs, async (cluster) => {
      await cluster.addTargetTopic(topic)
      const leader = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))[0] ?? ''
      const broker = await cluster.findBroker({ nodeId: leader })
      const partitions = [{ partition, fetchOffset: String(from), maxBytes: bytesMax }]
      const fetching: Promise<FetchResponse> = broker.fetch({
        maxWaitTime: waitMs,
        isolationLevel: isolationLevels[isolation],
        topics: [{ topic, partitions }],
      })
      return await fetching.catch(nothingBeyondTheEnd)
    })
    return recordsFrom(from, response.responses[0]?.partitions[0]?.messages ?? [], topic)
  }

  /** A second attempt covers changes since the first connection: a leader that moved, a broker that restarted. */
  async ask<T>(limitMs: number, question: (cluster: Cluster) => Promise<T>): Promise<T> {
    const deadline = performance.now() + limitMs
    try {
      return await this.#connection.use(limitMs / 2, question)
    } catch {
      return await this.#connection.use(deadline - performance.now(), question)
    }
  }

  close(): void {
    this.#connection.close()
  }
}

function nothingBeyondTheEnd(error: unknown): FetchResponse {
  if ((error as { type?: unknown }).type === 'OFFSET_OUT_OF_RANGE') return { responses: [] }
  throw error
}

/** A batch may begin before `from`. */
function recordsFrom(from: Offset, fetched: readonly FetchedMessage[], topic: string): ReadRecords {
  const { messages, undecodable } = withoutMarker(fetched)
  const found = messages
    .map((message) => ({ ...message, offset: toOffset(message.offset) }))
    .filter(({ offset }) => offset >= from)
  const last = found.at(-1)
  if (last === undefined && undecodable !== undefined) {
    throw new UndecodableError(topic, undecodable.offset, undecodable.reason)
  }
  const records = found.filter(({ isControlRecord }) => !isControlRecord)
  return {
    records: records.map(({ offset, key, value }) => ({ offset, key, value })),
    next: last === undefined ? from : last.offset + 1,
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
    readUncommitted: true,
    partitionAssigners: [capture],
  })
  if (captured === undefined) throw new Error('kafkajs did not create a partition assigner')
  return captured
}
