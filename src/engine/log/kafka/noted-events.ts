import { setTimeout as delay } from 'node:timers/promises'
import type { LogRecord, Offset } from '../event-log.ts'
import { type KafkaReader, UndecodableError } from './kafka-reader.ts'
import { type Notes, notesOf, parseIdentity } from './log-identity.ts'

/** What the last record of this log among the id blocks says of the events. */
export interface NotedEvents extends Notes {
  /** How many records behind it are of something else: they say nothing of this log. */
  readonly foreign: number
}

/** So many offsets at the end may lack a record of this log. */
export const foreignMax = 1000

const readLimitMs = 3000
const readsMax = 20
const bytesMax = 1024 * 1024

/** Whether the log ever held events, and which ones came first. Undefined behind too many records of something else. */
export async function notedEvents(
  reader: KafkaReader,
  idBlocks: string,
  logId: string,
): Promise<NotedEvents | undefined> {
  const [end = 0] = await reader.offsets(idBlocks, 'next', readLimitMs)
  // Mostly the last record is of this log.
  for (const from of [end - 1, Math.max(0, end - 1 - foreignMax)]) {
    const found = await lastNotes(records(reader, idBlocks, from, end), logId)
    if (found !== undefined) return found
  }
  return undefined
}

async function lastNotes(found: AsyncIterable<LogRecord | undefined>, logId: string): Promise<NotedEvents | undefined> {
  let last: Notes | undefined
  let foreign = 0
  for await (const record of found) {
    const notes = record && notesOf(record.value, logId)
    // Processes that create a log at the same time each write an identity.
    const isForeign = notes === undefined && (record === undefined || parseIdentity(record.value) === undefined)
    foreign = notes === undefined ? foreign + Number(isForeign) : 0
    last = notes ?? last
  }
  return last && { ...last, foreign }
}

/** Undefined for one that cannot be decoded, and for each further offset of its batch. */
async function* records(
  reader: KafkaReader,
  idBlocks: string,
  from: Offset,
  end: Offset,
): AsyncGenerator<LogRecord | undefined> {
  let reads = 0
  for (let next = from; next < end; ) {
    const place = { topic: idBlocks, partition: 0, from: next, bytesMax, isolation: 'uncommitted' } as const
    const read = await reader.records(place, readLimitMs).catch((error) => {
      if (error instanceof UndecodableError) return undefined
      throw error
    })
    yield* read?.records ?? [undefined]
    if (read?.next === next) {
      if (++reads === readsMax) throw new Error(`the record at offset ${next} of ${idBlocks} cannot be read`)
      await delay(100) // acknowledged, but not yet visible to readers
    } else reads = 0
    next = read?.next ?? next + 1
  }
}
