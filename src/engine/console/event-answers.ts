/** A record of the log, and what became of it. */
export interface ToldEvent {
  readonly partition: number
  readonly offset: number
  /** As text, in which what is not UTF-8 is replaced; null if it has none. */
  readonly key: string | null
  readonly value: string | null
  readonly outcome: string
  /** A sentence. */
  readonly why: string
}

/** An event of a stream, and what is shown after it. */
export interface ToldVersion {
  readonly version: number
  /** The CloudEvent, as JSON text. */
  readonly event: string
  /** Where it is in the log, as `partition/offset`. */
  readonly place: string
  /** `json` is null where the document is removed. */
  readonly documents: readonly { readonly collection: string; readonly id: number; readonly json: string | null }[]
}

export interface Story {
  /** Whether there is such a stream. */
  readonly isKnown: boolean
  /** Oldest first. */
  readonly versions: readonly ToldVersion[]
  /** How many events before those took effect. */
  readonly before: number
}

/** A CloudEvent. */
export interface ShownEvent {
  readonly subject: string
  readonly streamversion?: number
  /** Where several events have one version. */
  readonly streamindex?: number
  readonly type: string
  readonly time?: string
  readonly data: unknown
}

export interface EarlierEvents {
  readonly events: readonly ShownEvent[]
  /** Where to ask for those before them; null at the beginning of the log. */
  readonly before: string | null
}

export interface TailMessage {
  readonly events: readonly ShownEvent[]
  /** How many more there were. */
  readonly leftOut: number
  /** The place behind them all. */
  readonly after: string
}
