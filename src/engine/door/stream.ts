import type { TSchema } from 'typebox'
import type { Int64 } from '../lib/values/int64.ts'
import type { CommandRoute } from './command.ts'
import type { Rejected } from './rejected.ts'

/** An event of a service, by its name. */
export interface AnyEvent {
  readonly type: string
}

/** An event that has a place in its stream. */
export interface Recorded<Event> {
  readonly event: Event
  /** The version of the stream after the event. Several events of one command have the same. */
  readonly version: number
  /** As in the CloudEvent; '' if it has none. */
  readonly time: string
}

/**
 * A kind of stream, which is what happens to one thing, in one order: its events, and all that follows from them. Pure: no
 * clock, no randomness, no I/O, so that a rebuild gives the same read models byte for byte.
 */
export interface Stream<
  State,
  Command,
  Event extends AnyEvent,
  Code extends string = string,
  Collection extends string = string,
> {
  /** Its documents have the ids of streams; only they can be removed. */
  readonly collection: Collection
  /** What is decided on a stream of this kind. */
  readonly commands: readonly CommandRoute<NoInfer<Command>, TSchema, Collection, Code>[]
  /** The `source` of the CloudEvents. */
  readonly source: string
  /** The state of a stream without events. */
  readonly initial: State
  /**
   * What the command makes happen. If-Match is judged before. The order of the log decides whether it takes effect. Several
   * events take effect together or not at all; none is 'unchanged'.
   */
  decide(command: Command, state: State): Event | readonly Event[] | 'unchanged' | Rejected<Code>
  /**
   * The state after the event. Throws an Error with the reason if the event cannot follow the state, which parks it;
   * IdTakenError if only the id of what it creates is in the way.
   */
  evolve(state: State, recorded: Recorded<Event>): State
  readonly events: { readonly [Type in Event['type']]: EventType<Event & { readonly type: Type }> }
  readonly projections: readonly Projection<State>[]
  /**
   * How the state is stored, as text without NUL: by default as exact JSON. Where the text begins with the JSON of the
   * stream's own document, that part is not stored twice. `document` is that one, where it is shown: only for speed.
   */
  readonly state?: { write(state: State, document?: string): string; read(text: string): State }
  /**
   * The most characters of a state, besides the stream's own document, that a command may leave behind, unless there were
   * more before: 16,384 where it is not said, at most 262,144. Beyond it the command is refused with 409 `stream_full`.
   */
  readonly stateMax?: number
}

/** A kind of stream whose types are forgotten but for what it names. */
export type AnyStream<Collection extends string = string, Code extends string = string> = Stream<
  unknown,
  unknown,
  AnyEvent,
  Code,
  Collection
>

/** Bounds of a state in characters, besides the stream's own document: without `stateMax`, and of any state. */
export const stateBounds = { usual: 16_384, most: 262_144 } as const

/** Characters of a document that a command may leave behind. */
export const documentMax = 262_144

/** What can happen to a stream. The CloudEvents type is `<service>.<name>.v<version>`. */
export interface EventType<Event> {
  /** The newest that is read. An event is written in the lowest version that says all of it. */
  readonly version: number
  /**
   * The highest version that is written: `version`, unless it is said. Before each process reads a new version, say the one
   * before: a command whose event needs a newer one is then refused with 503 `event_version_not_written`.
   */
  readonly writes?: number
  readonly description: string
  /** What `data` must be; the event without its type, unless `write` and `read` say otherwise. */
  readonly data: TSchema
  /** Whether an early release wrote it without `streamversion`: then it counts as 1. */
  readonly isUnversioned?: true
  /** `data` as JSON text. */
  write?(event: Event): string
  /** The event in data that the schema accepts. */
  read?(data: unknown): Event
  /** The versions before that the log may have. */
  readonly earlier?: Readonly<Record<number, EarlierVersion>>
  /** For the documents. Each follows the schema. */
  readonly examples: readonly EventExample<Event>[]
}

/** A version of an event before the newest. The log keeps it for ever. */
export interface EarlierVersion {
  /** What `data` must be. */
  readonly data: TSchema
  /** Data of the next version. Throws if there are none. Without it, data of this version is data of the next one. */
  upcast?(data: unknown): unknown
  /** From data of the next version; undefined where this version cannot say all of them. Without it, it is only read. */
  downcast?(data: unknown): object | undefined
  /** For the documents. Each follows the schema. */
  readonly examples: readonly EarlierExample[]
}

/** Where an example stands in a stream: behind the one before it, which is in the same stream. */
export interface ExamplePlace {
  readonly name: string
  readonly summary: string
  /** The id of the stream. */
  readonly stream: number
  readonly version: number
  /** Its place, from 0 on, where the record that gives the stream this version has several events. */
  readonly index?: number
  /** Whether it is shown as written under an Idempotency-Key; then events of this type may have one. */
  readonly isKeyed?: true
}

export interface EventExample<Event> extends ExamplePlace {
  readonly event: Event
}

export interface EarlierExample extends ExamplePlace {
  readonly data: object
}

/**
 * Shows the state of a stream as documents, after each of its events. A document that is no longer shown stays as it is
 * and is final. The stream's own document can be removed, and cannot be shown again then.
 */
export interface Projection<State> {
  readonly name: string
  /**
   * Raise it with any change of what `documents` returns, but for the value of a filter that the resource declares anew: the
   * read models are then built anew beside the old ones.
   */
  readonly version: number
  documents(state: State): readonly Document[]
}

export interface Document {
  readonly collection: string
  /** 1..2^53 - 1, unique in its collection. */
  readonly id: number
  /** JSON text that begins with `{"id":<id>`, returned as it is. Null: removed. */
  readonly json: string | null
  /**
   * What it is found by: a value for each filter of its resource. A list by a filter leaves it out if it has no value for that, or
   * a text that is empty, is longer than 128 code points, or has NUL or a lone surrogate in it.
   */
  readonly filters?: Readonly<Record<string, string | Int64 | undefined>>
}
