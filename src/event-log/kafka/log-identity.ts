import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { timeOfDay } from '../../lib/clock.ts'
import type { LogRecord, Offset } from '../event-log.ts'
import type { KafkaProducer } from './kafka-producer.ts'
import type { KafkaReader } from './kafka-reader.ts'

/** What makes this log this one: the first record of the id-blocks topic, as JSON in which the log id is named `epoch`. */
export interface LogIdentity {
  readonly logId: string
  readonly partitions: number
}

/**
 * Any later record of that topic, as JSON in which the log id is named `epoch`. One with the key `block` reserves the block
 * of its offset; one with the key `events` only says that there are some. Releases before wrote the log id alone.
 */
export interface BlockRecord {
  readonly logId: string
  /** Tells this record from any other that could come to stand at its offset. */
  readonly token: string
  /** Whether the log was known to hold events when this was written. */
  readonly hasEvents: boolean
}

const readLimitMs = 3000
const appendLimitMs = 5000
const readsMax = 20

/** Gives a log its identity. Of several processes that do so at once, the first one to write decides for all. */
export async function writeIdentity(idBlocksProducer: KafkaProducer, partitions: number): Promise<void> {
  const value = JSON.stringify({ epoch: randomUUID(), partitions, createdAt: timeOfDay().toISOString() })
  await idBlocksProducer.append(0, [{ key: 'identity', value, headers: {} }], appendLimitMs)
}

/** The identity that the log has; undefined where something else stands in its place. */
export async function readIdentity(reader: KafkaReader, idBlocks: string): Promise<LogIdentity | undefined> {
  return parseIdentity((await readBlocks(reader, idBlocks, 0)).value)
}

/** Whether the log held events once; undefined where a release before this one wrote last, which did not say. */
export async function heldEvents(reader: KafkaReader, idBlocks: string): Promise<boolean | undefined> {
  const [end = 0] = await reader.offsets(idBlocks, 'next', readLimitMs)
  if (end <= 1) return false
  const { value } = await readBlocks(reader, idBlocks, end - 1)
  if (parseIdentity(value) !== undefined) return false // the only one, or that of a process that was not the first
  return parseBlockRecord(value)?.hasEvents
}

export function parseIdentity(value: Buffer | null): LogIdentity | undefined {
  const { epoch: logId, partitions } = parseObject(value)
  return typeof logId === 'string' && logId !== '' && Number.isInteger(partitions)
    ? { logId, partitions: Number(partitions) }
    : undefined
}

export function encodeBlockRecord({ logId, token, hasEvents }: BlockRecord): string {
  return JSON.stringify({ epoch: logId, token, hasEvents })
}

export function parseBlockRecord(value: Buffer | null): BlockRecord | undefined {
  const { epoch: logId, token, hasEvents } = parseObject(value)
  return typeof logId === 'string' && typeof token === 'string' && typeof hasEvents === 'boolean'
    ? { logId, token, hasEvents }
    : undefined
}

async function readBlocks(reader: KafkaReader, idBlocks: string, offset: Offset): Promise<LogRecord> {
  for (let reads = 0; reads < readsMax; reads++) {
    const record = await reader.record(idBlocks, offset, readLimitMs)
    if (record) return record
    await delay(100) // acknowledged, but not yet given to readers
  }
  throw new Error(`the record at offset ${offset} of ${idBlocks} cannot be read`)
}

function parseObject(value: Buffer | null): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(value?.toString('utf8') ?? ''))
  } catch {
    return {} // not JSON
  }
}
