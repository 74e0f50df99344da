import type { Position } from '../event-log/event-log.ts'
import type { StreamId } from './stream-row.ts'

/** An event that could not be applied, with everything needed to investigate it. */
export interface ParkedEvent extends Position {
  /** Events of one stream stay in order: once one is parked, later ones are parked behind it. */
  readonly stream: StreamId
  readonly reason: string
  /** The record value as text. */
  readonly value: string
}

/** Names a parked event. */
export function parkedId({ partition, offset }: Position): string {
  return `${partition}/${offset}`
}

/** Replaces lone surrogates: no store keeps them, and the text must match what names the event. */
export function encodeParkedEvent({ stream, reason, value }: Omit<ParkedEvent, keyof Position>): string {
  return JSON.stringify({
    stream: stream.toWellFormed(),
    reason: reason.toWellFormed(),
    value: value.toWellFormed(),
  })
}

export function decodeParkedEvent(id: string, text: string): ParkedEvent {
  const [partition = 0, offset = 0] = id.split('/').map(Number)
  const { stream, reason, value } = JSON.parse(text) as Omit<ParkedEvent, keyof Position>
  return { partition, offset, stream, reason, value }
}
