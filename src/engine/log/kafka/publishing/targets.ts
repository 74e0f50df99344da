import { setTimeout as delay } from 'node:timers/promises'
import type { LogRecord, Offset } from '../../event-log.ts'
import { StandsStill } from '../../published-log.ts'
import type { KafkaReader } from '../kafka-reader.ts'

/** One partition that a publisher tells in: the offsets of its first record and of the next one. */
export interface Target {
  readonly topic: string
  readonly partition: number
  readonly first: Offset
  readonly next: Offset
}

const readLimitMs = 5000
const bytesMax = 1
const pauseMs = 20

export async function findTargets(reader: KafkaReader, topic: string): Promise<readonly Target[]> {
  const nexts = await reader.offsets(topic, 'next', readLimitMs)
  const firsts = await reader.offsets(topic, 'first', readLimitMs)
  return nexts.map((next, partition) => ({ topic, partition, first: firsts[partition] ?? 0, next }))
}

/** What became of a partition since its publisher left it. */
export type TargetState =
  | 'as_left'
  /** Made anew: nothing is in it. */
  | 'new'
  /** It holds records, and there is no position for them. */
  | 'unknown'
  /** Its last record is not there any more. */
  | 'lost'

/** `end` is where its publisher left it; undefined where there is no position. Throws StandsStill where another wrote. */
export async function stateOf(reader: KafkaReader, target: Target, end: Offset | undefined): Promise<TargetState> {
  const { topic, partition, first } = target
  const found = await firstCommitted(reader, target, Math.max(first, (end ?? 0) - 1))
  const isLast = found !== undefined && end !== undefined && found.offset === end - 1
  const behind = isLast ? await firstCommitted(reader, target, end) : found
  const isEmptied = end !== undefined && first > end - 1 && first > 0 // by its retention
  if (behind === undefined && (isLast || isEmptied || end === 0)) return 'as_left'
  const any = found ?? (first === 0 ? await firstCommitted(reader, target, 0) : undefined)
  if (any === undefined && first === 0) return 'new'
  if (end === undefined) return 'unknown'
  if (behind === undefined || behind.offset < end) return 'lost'
  throw new StandsStill(
    `Topic ${topic} has a record at offset ${behind.offset} of partition ${partition}, and its publisher left it at ${end}: ` +
      'the topic of the positions has lost its end, or another program writes here. Take away its right, and delete this topic: it comes back.',
  )
}

/** Undefined if there is none up to the end. */
async function firstCommitted(reader: KafkaReader, target: Target, start: Offset): Promise<LogRecord | undefined> {
  const { topic, partition, next: end } = target
  for (let from = start; from < end; ) {
    const { records, next } = await reader.records(
      { topic, partition, from, bytesMax, isolation: 'committed' },
      readLimitMs,
    )
    if (records[0] !== undefined) return records[0]
    if (next === from) await delay(pauseMs) // committed readers cannot see the end yet
    from = next
  }
  return undefined
}
