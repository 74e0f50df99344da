import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { LogRecord } from '../event-log.ts'
import { BootRefusal } from './boot-refusal.ts'
import type { KafkaProducer } from './kafka-producer.ts'
import type { KafkaReader } from './kafka-reader.ts'
import type { LogTopics } from './kafka-topics.ts'

/** What makes this log this one: the first record of the id-blocks topic, as JSON in which the log id is named `epoch`. */
export interface LogIdentity {
  readonly logId: string
  readonly partitions: number
}

const readLimitMs = 3000
const appendLimitMs = 5000
const readsMax = 20

/**
 * The identity of the log; a new log is given one. It is read back and never assumed from what was written: of several
 * processes that find the topic empty, the first one to write decides for all.
 */
export async function establishIdentity(
  reader: KafkaReader,
  idBlocksProducer: KafkaProducer,
  topics: LogTopics,
): Promise<LogIdentity> {
  // Events first: whoever appends them has written the identity before, so that a log being born is not refused.
  const events = await reader.offsets(topics.events, 'next', readLimitMs)
  const [idBlocks] = await reader.offsets(topics.idBlocks, 'next', readLimitMs)
  if (idBlocks === 0) {
    refuseLostIdentity(topics, events)
    const identity = { epoch: randomUUID(), partitions: topics.partitions, createdAt: new Date().toISOString() }
    await idBlocksProducer.append(0, [{ key: 'identity', value: JSON.stringify(identity) }], appendLimitMs)
  }
  return checkIdentity(await firstRecord(reader, topics.idBlocks), topics)
}

/** Whether the log that is there is still the one with this log id. Throws where that cannot be told. */
export async function holdsIdentity(
  reader: KafkaReader,
  idBlocks: string,
  logId: string,
  limitMs: number,
): Promise<boolean> {
  const first = await reader.firstRecord(idBlocks, limitMs / 2)
  if (first !== undefined) return parseIdentity(first.value)?.logId === logId
  // A new leader may hold back records for a moment, but then it does not tell where they end.
  const [end] = await reader.offsets(idBlocks, 'next', limitMs / 2)
  if (end === 0) return false
  throw new Error(`the first record of ${idBlocks} cannot be read`)
}

function refuseLostIdentity({ events, idBlocks }: LogTopics, ends: readonly number[]): void {
  if (ends.every((end) => end === 0)) return
  throw new BootRefusal(
    `Topic ${idBlocks} is empty, but ${events} holds events: ids would be given a second time. Restore ${idBlocks} from ` +
      `a backup, or set KAFKA_TOPIC to another name for a new log.`,
  )
}

async function firstRecord(reader: KafkaReader, topic: string): Promise<LogRecord> {
  for (let reads = 0; reads < readsMax; reads++) {
    const record = await reader.firstRecord(topic, readLimitMs)
    if (record) return record
    await delay(100) // acknowledged, but not yet given to readers
  }
  throw new Error(`the first record of ${topic} cannot be read`)
}

function checkIdentity({ value }: LogRecord, { events, partitions, idBlocks }: LogTopics): LogIdentity {
  const identity = parseIdentity(value)
  if (identity === undefined) {
    throw new BootRefusal(
      `The first record of topic ${idBlocks} is not the identity of a log: something else wrote to it. Restore it from ` +
        `a backup, or set KAFKA_TOPIC to another name for a new log.`,
    )
  }
  if (identity.partitions !== partitions) {
    throw new BootRefusal(
      `Topic ${events} has ${partitions} partitions, but was created with ${identity.partitions} (first record of ` +
        `${idBlocks}): keys would move between partitions. Restore it from a backup with ${identity.partitions} ` +
        `partitions, or set KAFKA_TOPIC to another name for a new log.`,
    )
  }
  return identity
}

function parseIdentity(value: Buffer | null): LogIdentity | undefined {
  try {
    const { epoch: logId, partitions } = JSON.parse(value?.toString('utf8') ?? '')
    if (typeof logId === 'string' && logId !== '' && Number.isInteger(partitions)) return { logId, partitions }
  } catch {
    // not JSON, or not an object
  }
  return undefined
}
