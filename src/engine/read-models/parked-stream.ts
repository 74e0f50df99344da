import type { Offset } from '../log/event-log.ts'
import type { StreamId } from './stream-row.ts'

/** A stream with parked events. Their values stand in the log. */
export interface ParkedStream {
  readonly stream: StreamId
  readonly partition: number
  /** The offset of the first parked event, which could not be applied. Later events of the stream wait behind it. */
  readonly first: Offset
  /** How many wait behind the first one. Their offsets are in the set `waiting`. */
  readonly waiting: number
  /** Why the first one could not be applied. */
  readonly reason: string
}

/** The stored form, under the name of the stream: `partition first waiting reason`. */
export function encodeParkedStream({ partition, first, waiting, reason }: ParkedStream): string {
  return `${partition} ${first} ${waiting} ${reason}`
}

const parkedForm = /^(\d+) (\d+) (\d+) (.*)$/s

export function decodeParkedStream(stream: StreamId, text: string): ParkedStream {
  const [, partition, first, waiting, reason = ''] = parkedForm.exec(text) ?? []
  if (waiting === undefined) throw new Error(`not a stream with parked events: ${text}`)
  return { stream, partition: Number(partition), first: Number(first), waiting: Number(waiting), reason }
}

/** Chunk n has the offsets of the waiting events 500n+1 to 500n+500, counted from the first that waits. */
export const waitingPerChunk = 500

/** How many chunks so many waiting events take. */
export function waitingChunks(waiting: number): number {
  return Math.ceil(waiting / waitingPerChunk)
}

export function encodeOffsets(offsets: readonly Offset[]): string {
  return offsets.join(',')
}

export function decodeOffsets(text: string): readonly Offset[] {
  return text.split(',').map(Number)
}
