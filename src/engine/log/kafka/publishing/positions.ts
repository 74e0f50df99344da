import { setTimeout as delay } from 'node:timers/promises'
import { timeOfDay } from '../../../lib/clock.ts'
import type { LogRecord, NewRecord, Offset } from '../../event-log.ts'
import { type Filled, nothingTold, type PartitionMemory, type PartitionTurn, StandsStill } from '../../published-log.ts'
import type { KafkaReader } from '../kafka-reader.ts'

/** What a publisher remembers of a partition of the journal, and where it left each topic that it tells it in. */
export interface StoredMemory extends PartitionMemory {
  readonly logId: string
  /** The end of the partition of each target after the last transaction that wrote there, by topic. */
  readonly ends: Readonly<Record<string, Offset>>
  /** Streams whose place is of a topic that was made anew since, and to be forgotten. */
  readonly stale?: readonly string[] | undefined
}

export const nothingStored = (logId: string): StoredMemory => ({ ...nothingTold, logId, ends: {} })

export interface ReadPositions {
  readonly memory: ReadonlyMap<number, StoredMemory>
  /** The offset that the next record will get. */
  readonly end: Offset
}

const readLimitMs = 5000
/** Tombstones are kept for a minute: a longer read could miss one. */
const readAllWithinMs = 30_000
const bytesMax = 1024 * 1024
const pauseMs = 20

/** The records of a transaction in the positions: `<partition>`, and `<partition>/waiting/<stream>` for each changed place. */
export function positionRecords(
  { partition, progress, places }: PartitionTurn,
  stored: StoredMemory,
): readonly PositionRecord[] {
  const { next, last, told, filled } = progress
  const { logId, ends, stale = [] } = stored
  const position = { key: String(partition), value: JSON.stringify({ logId, next, last, told, ends, filled }) }
  const forgotten = stale.map((stream) => [stream, undefined] as const)
  const waiting = [...new Map([...forgotten, ...places])].map(([stream, place]) => ({
    key: `${partition}/waiting/${stream}`,
    value: place === undefined ? null : String(place),
  }))
  return [position, ...waiting]
}

export type PositionRecord = Pick<NewRecord, 'key'> & { readonly value: string | null }

/** All that is committed in one partition of the positions. Throws StandsStill where something else stands there. */
export async function readPositions(reader: KafkaReader, topic: string, partition: number): Promise<ReadPositions> {
  const { [partition]: end = 0 } = await reader.offsets(topic, 'next', readLimitMs)
  const { [partition]: first = 0 } = await reader.offsets(topic, 'first', readLimitMs)
  const untilMs = [performance.now() + readAllWithinMs, timeOfDay().getTime() + readAllWithinMs] as const
  const memory = new Map<number, StoredMemory>()
  for (let from = first; from < end; ) {
    const place = { topic, partition, from, bytesMax, isolation: 'committed' } as const
    const { records, next } = await reader.records(place, readLimitMs)
    for (const record of records) take(record, memory, topic)
    if (performance.now() > untilMs[0] || timeOfDay().getTime() > untilMs[1])
      throw new Error(`reading ${topic} took too long`)
    if (next === from) await delay(pauseMs) // committed readers cannot see the end yet
    from = next
  }
  for (const { logId } of memory.values()) if (logId === '') throw notPositions(topic, 'has a place without a position')
  return { memory, end }
}

function take({ offset, key, value }: LogRecord, memory: Map<number, StoredMemory>, topic: string): void {
  const [, partition, stream] = /^(\d+)(?:\/waiting\/(.+))?$/s.exec(key?.toString() ?? '') ?? []
  const before = memory.get(Number(partition))
  const taken = partition === undefined ? undefined : taking(stream, value?.toString(), before)
  if (taken === undefined) throw notPositions(topic, `has something else than a position at offset ${offset}`)
  memory.set(Number(partition), taken)
}

function taking(
  stream: string | undefined,
  text: string | undefined,
  before: StoredMemory | undefined,
): StoredMemory | undefined {
  const waiting = new Map(before?.waiting)
  if (stream !== undefined) {
    if (text === undefined) waiting.delete(stream)
    else if (/^\d+$/.test(text)) waiting.set(stream, Number(text))
    else return undefined
    return { ...(before ?? nothingStored('')), waiting }
  }
  const found = text === undefined ? undefined : parsed(text)
  return found && { ...found, waiting }
}

function parsed(text: string): Omit<StoredMemory, 'waiting'> | undefined {
  try {
    const { logId, next, last, told, ends, filled } = JSON.parse(text)
    const isLast = last === null || (isOffset(last.offset) && typeof last.identity === 'string')
    const isWhole = typeof logId === 'string' && isOffset(next) && isOffset(told) && isLast
    const areEnds = Object.values(ends).every(isOffset)
    return isWhole && areEnds && isFilled(filled) ? { logId, next, last, told, ends, filled } : undefined
  } catch {
    return undefined // not JSON, or another shape
  }
}

function isFilled(value: Partial<Filled> | undefined): boolean {
  if (value === undefined) return true
  const { projections, copying } = value
  return typeof projections === 'string' && (copying === undefined || isOffset(copying.after))
}

function isOffset(value: unknown): value is Offset {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function notPositions(topic: string, found: string): StandsStill {
  return new StandsStill(
    `Topic ${topic} ${found}: another program writes there. Take away its right, and delete this topic and that of the ` +
      'published events: the service publishes from the first event of the log again.',
  )
}
