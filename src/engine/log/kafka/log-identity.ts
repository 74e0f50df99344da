import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { timeOfDay } from '../../lib/clock.ts'
import type { LogRecord, Offset } from '../event-log.ts'
import { type FirstRecord, parseFirstRecords } from './first-records.ts'
import type { KafkaProducer } from './kafka-producer.ts'
import type { KafkaReader } from './kafka-reader.ts'

/** The identity of this log: the first record of the id-blocks topic, as JSON that calls the log id `epoch`. */
export interface LogIdentity {
  readonly logId: string
  readonly partitions: number
}

/**
 * Any later record of that topic, as JSON that calls the log id `epoch`. A record with the key `block` reserves the
 * block of its offset; a record with the key `events` only notes that there are events. Earlier releases wrote the log
 * id alone.
 */
export interface BlockRecord {
  readonly logId: string
  /** Distinguishes this record from any other that may come to have its offset. */
  readonly token: string
  /** Whether the log was known to hold events when this was written. */
  readonly hasEvents: boolean
  readonly firstRecords: readonly FirstRecord[]
}

/** What a record of this log says of its events; held: undefined if it is from an early release, which did not say. */
export interface Notes {
  readonly held: boolean | undefined
  readonly firstRecords: readonly FirstRecord[]
}

const readLimitMs = 3000
const appendLimitMs = 5000
const readsMax = 20

/** Writes the identity of a log. If several processes do so at the same time, the first record decides for all. */
export async function writeIdentity(idBlocksProducer: KafkaProducer, partitions: number): Promise<void> {
  const value = JSON.stringify({ epoch: randomUUID(), partitions, createdAt: timeOfDay().toISOString() })
  await idBlocksProducer.append(0, [{ key: 'identity', value, headers: {} }], appendLimitMs)
}

/** The identity of the log; undefined if its place holds something else. */
export async function readIdentity(reader: KafkaReader, idBlocks: string): Promise<LogIdentity | undefined> {
  return parseIdentity((await readBlocks(reader, idBlocks, 0)).value)
}

/** Undefined for a record of the id blocks that does not name this log. */
export function notesOf(value: Buffer | null, logId: string): Notes | undefined {
  if (value?.toString('utf8') === logId) return { held: undefined, firstRecords: [] }
  if (parseObject(value).epoch !== logId) return undefined
  if (parseIdentity(value) !== undefined) return { held: false, firstRecords: [] }
  const { hasEvents: held, firstRecords = [] } = parseBlockRecord(value) ?? {}
  return { held, firstRecords }
}

export function parseIdentity(value: Buffer | null): LogIdentity | undefined {
  const { epoch: logId, partitions } = parseObject(value)
  return typeof logId === 'string' && logId !== '' && Number.isInteger(partitions)
    ? { logId, partitions: Number(partitions) }
    : undefined
}

export function encodeBlockRecord({ logId, ...rest }: BlockRecord): string {
  return JSON.stringify({ epoch: logId, ...rest })
}

export function parseBlockRecord(value: Buffer | null): BlockRecord | undefined {
  const { epoch: logId, token, hasEvents, firstRecords } = parseObject(value)
  return typeof logId === 'string' && typeof token === 'string' && typeof hasEvents === 'boolean'
    ? { logId, token, hasEvents, firstRecords: parseFirstRecords(firstRecords) }
    : undefined
}

async function readBlocks(reader: KafkaReader, idBlocks: string, offset: Offset): Promise<LogRecord> {
  for (let reads = 0; reads < readsMax; reads++) {
    const record = await reader.record(idBlocks, offset, readLimitMs)
    if (record) return record
    await delay(100) // acknowledged, but not yet visible to readers
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
