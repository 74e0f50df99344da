import type { EarlierEvents, Story, TailMessage, ToldEvent } from './event-answers.ts'

/**
 * What the console's API answers: the server and the page are both checked against it. It and what it imports use no type of
 * the engine: those would bring the types of Node into the page.
 */
export interface Answers {
  readonly status: Status
  readonly generations: Generations
  /** The name of the process that projects each partition. */
  readonly projectors: Readonly<Record<string, string>>
  /** None where nothing is published. */
  readonly published: readonly Published[]
  readonly parked: ParkedQueue
  readonly lists: readonly DocumentList[]
  readonly [figures: `figures?${string}`]: NewFigures
  readonly [runbook: `runbook?${string}`]: string
  readonly [event: `events/${string}`]: ToldEvent
  readonly [earlier: `events?${string}`]: EarlierEvents
  readonly [story: `streams/${string}`]: Story
  readonly [streamOf: `stream-of?${string}`]: StreamOf
  readonly [tail: `tail?${string}`]: TailMessage
  readonly [job: `jobs/${string}`]: Job
  readonly [discard: `parked/${string}`]: Discarding
}

export interface Status {
  readonly service: {
    readonly title: string
    /** The kinds of its streams. */
    readonly kinds: readonly Kind[]
    /** Those of events. */
    readonly types: readonly string[]
  }
  readonly process: {
    readonly name: string
    readonly role: string
    readonly release: string
    readonly startedAt: number
  }
  readonly problems: readonly Problem[]
  readonly lag: ShownLag
  readonly job?: Job | undefined
}

/** A kind of stream. */
export interface Kind {
  readonly noun: string
  /** What its name begins with, before the id. */
  readonly prefix: string
}

/** What is wrong. */
export interface Problem {
  /** One that stays has the same. */
  readonly code: string
  readonly what: string
  readonly remedy: string
  /** The heading that says more. */
  readonly runbook: string
  /** Since when this process knows of it: milliseconds since 1970. */
  readonly since: number
}

export type ShownLag =
  | { readonly status: 'unknown'; readonly reason: string }
  | {
      readonly status: 'known'
      readonly generation: string
      readonly partitions: readonly ShownPartition[]
      readonly rebuildEvents?: number | undefined
    }

export interface ShownPartition {
  readonly partition: number
  readonly events: number
  readonly seconds: number
  readonly checkpoint: {
    readonly next: number
    readonly counts: { readonly parked: number; readonly discarded: number }
  }
}

export interface NewFigures {
  readonly everyMs: number
  readonly samples: readonly Sample[]
  readonly marks: readonly Mark[]
}

/** Some seconds of this process and of the log. What is not known has no figure: a plot then has a gap. */
export interface Sample {
  /** 1 for the first one of this process. A clock may be set back, so `at` says nothing of what came after what. */
  readonly number: number
  /** Milliseconds since 1970. */
  readonly at: number
  /** Records a second that came into the log, from all processes. */
  readonly appended?: number | undefined
  /** Records a second that the read models took in, from all processes. */
  readonly projected?: number | undefined
  readonly lagEvents?: number | undefined
  readonly lagSeconds?: number | undefined
  /** Requests a second that this process answered. */
  readonly requests: number
  /** Milliseconds in which half of those were answered, and 99 of 100. */
  readonly p50?: number | undefined
  readonly p99?: number | undefined
  /** Errors that this process answered with, by code. */
  readonly errors: Readonly<Record<string, number>>
}

/** Something that happened. */
export interface Mark {
  readonly at: number
  readonly what: string
}

export interface Job {
  readonly kind: string
  /** The API key of whoever started it. */
  readonly actor: string
  /** Milliseconds since 1970; `endedAt` is undefined while it goes on. */
  readonly startedAt: number
  readonly endedAt?: number
  readonly step: string
  readonly done: number
  readonly total: number
  readonly result?: Result
}

export interface Result {
  /** A sentence. */
  readonly outcome: string
  readonly isGood: boolean
  readonly differences?: readonly {
    readonly where: string
    readonly id: string
    readonly expected?: string | undefined
    readonly found?: string | undefined
  }[]
}

interface Generations {
  readonly generations: readonly {
    readonly version: string
    readonly name: string
    readonly state: string
    readonly since: string
    readonly position?: number
    readonly lag?: number | undefined
    readonly documents?: Readonly<Record<string, number>> | undefined
    readonly parked?: number
  }[]
}

/** What consumers read beside the log, and how far it is. */
export interface Published {
  readonly publisher: string
  readonly topics: readonly string[]
  /** Records that were told, and those of the log that are not passed yet. */
  readonly told: number
  readonly lag: number
  /** Where copies of the read models into the topics are; none once all is copied. */
  readonly filling: readonly string[]
  /** Streams whose further events wait behind a parked one. */
  readonly waiting: number
  /** The processes that publish. */
  readonly owners: readonly string[]
  /** What stands still, or is not as it should be, and what to do about it. */
  readonly problems: readonly string[]
}

interface ParkedQueue {
  readonly streams: readonly ParkedFirst[]
  readonly more: number
}

/** A stream with parked events, by the first one. */
export interface ParkedFirst {
  readonly stream: string
  readonly partition: number
  readonly first: number
  readonly waiting: number
  readonly reason: string
}

/** How a kind of document is listed. */
export interface DocumentList {
  /** What stands behind `v1/` in its path. */
  readonly name: string
  readonly path: string
  /** The path of one document, as the OpenAPI document has it, and its parameter. */
  readonly one: string
  readonly parameter: string
  readonly filters: readonly DocumentFilter[]
  readonly counts?: DocumentCounts | undefined
}

export interface DocumentFilter {
  readonly name: string
  /** Those of an enumeration; none of a filter that has any value. */
  readonly values?: readonly string[] | undefined
  readonly isInteger: boolean
  /** The enumerations that go together with a filter of any value. */
  readonly beside: readonly string[]
}

/** How many documents there are by each value of a filter: of all, or of those that another one chooses. */
export interface DocumentCounts {
  readonly path: string
  readonly by: string
  readonly within: readonly string[]
}

interface Discarding {
  readonly isApplied: boolean
}

interface StreamOf {
  readonly stream: string
}
