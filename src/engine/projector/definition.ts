import type { EventLog, Recorded } from '../log/event-log.ts'
import type { CloudEvent, Decoded, QuickReader } from '../log/record-codec.ts'
import type { StoredDocument } from '../read-models/document.ts'
import type { StateCodec } from '../read-models/stream-row.ts'

export type ShownDocument = Omit<StoredDocument, 'behind'>
/** `json` is null for the home document of a stream that is removed. */
export type Document = ShownDocument | (Omit<ShownDocument, 'json'> & { readonly json: null })

/**
 * Shows the state of a stream as documents, after each of its events. A document that is no longer shown stays as it is
 * and is final. Only the home document of the stream can be removed, and once it is, it cannot be shown again. Pure: no
 * clock, no randomness, no I/O, so that a rebuild gives the same read models byte for byte.
 */
export interface Projection<State> {
  readonly name: string
  /**
   * Raise it with any change of what `documents` returns, or of how stores lay it out: the read models are then built
   * anew beside the old ones.
   */
  readonly version: number
  documents(state: State): readonly Document[]
}

/** Everything that the projector needs to know about a kind of stream. */
export interface StreamDefinition<State, Event> {
  decode(event: CloudEvent): Decoded<Event>
  /** Parses the data of most events, only for speed: `decode` need not check what it returns. */
  readonly readData?: QuickReader | undefined
  /** The version of the stream after an event; undefined if the event has no readable version. */
  streamVersion(event: CloudEvent): number | undefined
  readonly initialState: State
  /** Throws if the event cannot follow the state; IdTakenError if only the id of what it creates is in the way. */
  evolve(state: State, recorded: Recorded<Event>): State
  readonly codec: StateCodec<State>
  readonly projections: readonly Projection<State>[]
  /** The collection whose document with the stream's own id shows the stream, and stores its row. */
  readonly home: string
}

/** What interpreting a record needs. Whoever only passes it on need not know State and Event. */
export interface Rules<State = unknown, Event = unknown> {
  readonly definition: StreamDefinition<State, Event>
  readonly log: Pick<EventLog, 'partitionFor'>
}

/** Names the stored read models: code reads and fills only those of its own version. */
export function readModelVersion(projections: readonly Pick<Projection<never>, 'name' | 'version'>[]): string {
  return projections.map(({ name, version }) => `${name}-${version}`).join('.')
}

/** Enough of a UUID to distinguish the few logs that may share a Redis and a prefix. */
const logIdLength = 8

/** The name of the version for the read models of one log. */
export function versionOfLog(version: string, logId: string): string {
  return `${version}@${logId.slice(0, logIdLength)}`
}
