import type { KafkaAccess } from './kafka-access.ts'
import type { KafkaClient } from './kafka-client.ts'
import type { KafkaProducer } from './kafka-producer.ts'
import type { KafkaReader } from './kafka-reader.ts'

export interface KafkaLogOptions extends KafkaAccess {
  /** The topic of the events. `<topic>.id-blocks` holds the identity of the log and the reserved blocks. */
  readonly topic: string
  readonly partitions: number
  /** Replicas of topics that are created; undefined: three, or the number of brokers if there are fewer. */
  readonly replicationFactor?: number | undefined
  /** Time from the call of an append to its outcome. */
  readonly appendTimeoutMs: number
  /** How long to wait for brokers that do not answer yet; by default 30 s. */
  readonly bootTimeoutMs?: number | undefined
  /** The least time between two looks at the settings of the topics; by default 10 s. */
  readonly topicLookMs?: number | undefined
  /** How often a subscription commits how far it has come; by default every 5 s. */
  readonly commitIntervalMs?: number | undefined
  /** When a batch that cannot be decoded is tried again; by default after 5 s. */
  readonly undecodableDelayMs?: number | undefined
}

/** The parts of a log, before anything about it is known. */
export interface LogPartOptions extends KafkaLogOptions {
  /** A topic of one partition: the identity of the log at offset 0, then a record for each reserved block. */
  readonly idBlocks: string
  readonly newClient: () => KafkaClient
  readonly reader: KafkaReader
  readonly idBlocksProducer: KafkaProducer
}
