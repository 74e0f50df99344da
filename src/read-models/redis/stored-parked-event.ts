import type { ParkedAt, ParkedEvent } from '../read-models.ts'

/** A field of the parked hash. */
export function parkedField(partition: number, offset: number): string {
  return `${partition}/${offset}`
}

/**
 * Without lone surrogates, which would be written as escapes that `apply-batch.lua` cannot decode; as keys and members
 * Redis keeps no such text anyway.
 */
export function encodeParkedEvent({ subject, reason, value }: ParkedEvent): string {
  return JSON.stringify({
    subject: subject.toWellFormed(),
    reason: reason.toWellFormed(),
    value: value.toWellFormed(),
  })
}

export function decodeParkedEvent(offset: number, text: string): ParkedEvent {
  const { subject, reason, value } = JSON.parse(text) as Omit<ParkedEvent, 'offset'>
  return { offset, subject, reason, value }
}

export function decodeParkedAt(field: string, text: string): ParkedAt {
  const [partition = '', offset = ''] = field.split('/')
  return { partition: Number(partition), ...decodeParkedEvent(Number(offset), text) }
}
