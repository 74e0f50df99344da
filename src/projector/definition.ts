import type { CloudEvent, QuickReader } from '../event-log/cloud-event.ts'
import type { Offset } from '../event-log/event-log.ts'
import type { Int64 } from '../lib/int64.ts'

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

export type Countable = string | Int64

/** Counts events by whatever they have in common. Pure, as a projection is. */
export interface Counting<Event> {
  readonly name: string
  readonly version: number
  /** What events are counted by, each under a name. A value has the counter `<name of the counting>:<this name>:<value>`. */
  readonly by: Readonly<Record<string, (event: Event) => Countable>>
}

export type Decoded<Event> =
  | { readonly outcome: 'event'; readonly event: Event }
  /** An operator's decision that the parked event at `offset` of the same partition and subject is to be left out. */
  | { readonly outcome: 'discard'; readonly offset: Offset }
  | { readonly outcome: 'unknown_type' }
  | { readonly outcome: 'unreadable'; readonly reason: string }

/** Everything the projector needs to know of an aggregate. */
export interface ReadModelDefinition<Event> {
  decode(envelope: CloudEvent): Decoded<Event>
  /** Of the data of most events, for speed alone. What it reads, `decode` need not check. */
  readonly readData?: QuickReader
  readonly projection: Projection<Event>
  readonly countings: readonly Counting<Event>[]
}

/** Names the stored read models: code reads and fills only those of its own version. */
export function readModelVersion({
  projection,
  countings,
}: Pick<ReadModelDefinition<never>, 'projection' | 'countings'>): string {
  return [projection, ...countings].map(({ name, version }) => `${name}-${version}`).join('.')
}

/** Of each shard: others where their number is another, since other partitions are in each then. */
export function shardVersions(version: string, shards: number): readonly string[] {
  return shards === 1 ? [version] : Array.from({ length: shards }, (_, shard) => `${version}.s${shards}-${shard}`)
}
