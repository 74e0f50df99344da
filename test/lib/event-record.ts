import { exactJson } from '../../src/engine/index.ts'

/** What an event says besides its stream, as CloudEvents names it; other programs may leave anything out. */
export interface EventAttributes {
  readonly id: string
  readonly type: string
  readonly source: string
  readonly subject: string
  readonly time?: unknown
  readonly traceparent?: string | undefined
  readonly idempotencykey?: string | undefined
  readonly streamversion?: unknown
  readonly data?: unknown
}

/** The record of an event as any program writes one: with these attributes and no others. */
export function eventRecord({ id, type, source, subject, ...rest }: EventAttributes): { key: string; value: string } {
  return { key: subject, value: exactJson({ specversion: '1.0', id, type, source, subject, ...rest }) }
}
