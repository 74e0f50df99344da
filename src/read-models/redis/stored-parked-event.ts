import type { Position } from '../../event-log/event-log.ts'
import type { ParkedEvent } from '../parked-event.ts'

/** Its field of the parked hash. */
export function parkedField({ partition, offset }: Position): string {
  return `${partition}/${offset}`
}

/** Its member of the parked queue. */
export function queueMember({
  partition,
  stream,
  offset,
}: Pick<ParkedEvent, 'partition' | 'stream' | 'offset'>): string {
  return `${stream}\0${String(offset).padStart(16, '0')}/${partition}`
}

/** Without lone surrogates: Redis keeps no such text as key or member, and what names the event is to match it. */
export function encodeParkedEvent({ stream, reason, value }: ParkedEvent): string {
  return JSON.stringify({
    stream: stream.toWellFormed(),
    reason: reason.toWellFormed(),
    value: value.toWellFormed(),
  })
}

export function decodeParkedEvent(field: string, text: string): ParkedEvent {
  const [partition = 0, offset = 0] = field.split('/').map(Number)
  const { stream, reason, value } = JSON.parse(text) as Omit<ParkedEvent, keyof Position>
  return { partition, offset, stream, reason, value }
}
