import type { CloudEvent } from '../src/event-log/cloud-event.ts'

/** What an event adds to the read models: one document, in the whole collection and in the named indexes. */
export interface Change {
  readonly id: number
  /** JSON text. */
  readonly document: string
  readonly indexes: readonly string[]
}

/**
 * A pure function from event to change: no clock, no randomness, no I/O. What it does may depend on the event alone,
 * so that a rebuild gives the same read models byte for byte.
 */
export interface Projection<Event> {
  readonly name: string
  /** Raised with any change of what `change` returns: the read models are then built anew, beside the old ones. */
  readonly version: number
  change(event: Event): Change
}

export type Decoded<Event> =
  | { readonly outcome: 'event'; readonly event: Event }
  | { readonly outcome: 'unknown_type' }
  | { readonly outcome: 'unreadable'; readonly reason: string }

/** Everything the projector needs to know of an aggregate. */
export interface ReadModelDefinition<Event> {
  decode(envelope: CloudEvent): Decoded<Event>
  readonly projection: Projection<Event>
}

/** Names the stored read models: code reads and fills only those of its own version. */
export function readModelVersion({ projection }: Pick<ReadModelDefinition<never>, 'projection'>): string {
  return `${projection.name}-${projection.version}`
}
