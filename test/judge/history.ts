import type * as Rule from '../../examples/journal/rule.ts'
import { collectionOf, holderOf, isOf, keyOf, type Operation } from './operations.ts'

/**
 * What happened in a run, as plain data: every request of every client with what it was answered, and the event log at
 * the end. The judge reads this and nothing else.
 */
export interface History {
  readonly log: readonly LogRecord[]
  /** In the order in which they were sent. */
  readonly exchanges: readonly Exchange[]
  /** By default the pet store. */
  readonly service?: ServiceName
}

export type ServiceName = 'petstore' | 'library'

/** A record of the topic. Those of one partition are in the order of their offsets. */
export interface LogRecord {
  readonly partition: number
  readonly offset: number
  readonly key: string | null
  /** The text of the event. */
  readonly value: string | null
}

/** A page of a list: ids above `after`, of the documents whose members have these values, `limit` at most. */
export interface Page {
  readonly after: number
  readonly limit: number
  readonly filters?: Readonly<Record<string, string>>
}

/** A document that a client has, with the ETag that came with it. */
export interface CachedDocument {
  readonly tag: string
  readonly body: unknown
}

/** One request and its answer; of followEvents one step of the answer, which has no end. */
export interface Exchange {
  /** Unique in the run. A write has it in its traceparent, see `traceparentOf`; so the log tells which request each event is of. */
  readonly number: number
  /** A client that passes on the last token it got, and sends one request after the other. Undefined: without tokens. */
  readonly session: string | undefined
  /**
   * The process that answered, with the count of its starts: `api-1#2`. Undefined if it was started anew meanwhile, or if
   * nobody answered.
   */
  readonly instance: string | undefined
  /** Those of the release of the instance, where several releases run. */
  readonly readModels?: string
  /** Milliseconds of one monotonic clock. */
  readonly sentMs: number
  readonly answeredMs: number
  readonly operation: Operation
  /** Id that the path or the body names: of the pet or the book where something is added to it, else of what the operation is about. */
  readonly id?: number
  /** What is asked for. A name or a title is unique for each Idempotency-Key, or without one for each request. */
  readonly wanted?: {
    readonly name?: string
    readonly categoryId?: number
    readonly status?: string
    /** Null removes it. */
    readonly description?: string | null
    readonly title?: string
    readonly memberId?: number
    readonly do?: 'extend' | 'return'
  }
  readonly idempotencyKey?: string
  readonly page?: Page
  /** The Consistency-Token that was sent; the id from which a step of a feed goes on, or `fromStart`. */
  readonly token?: string
  /** What the client has: its tag was sent as If-None-Match of a GET, or as If-Match of a change. */
  readonly cached?: CachedDocument
  /** Undefined: the connection was lost, or the client gave up. Nobody knows what became of the request. */
  readonly status: number | undefined
  /** If it is an error. */
  readonly code?: string
  /** What came where an answer should have been. It has no status: nobody knows what became of the request. */
  readonly malformed?: string
  /** The body of a 2xx: a document, or an array of documents or events. A 304 says that it is that of `cached`. */
  readonly body?: unknown
  /** The ETag of the answer. */
  readonly tag?: string
  /** The Consistency-Token of the answer; the id of a step of a feed. */
  readonly tokenAfter?: string
  /** `Read-Model-Applied`: whether the new pet or category can be read already. Every other write is answered only then. */
  readonly isApplied?: boolean
  /** `Idempotency-Replayed: true` */
  readonly isReplayed?: boolean
  /** For a list: there is a link to a next page. */
  readonly hasNext?: boolean
}

export type Pet = Omit<Rule.Pet, 'categoryId'> & { readonly categoryId: number }
export type Order = Rule.Order
export type Category = Rule.Category

/** Something that no correct service can have answered. */
export interface Contradiction {
  /** A short name of the rule that is broken, such as `stale read`. */
  readonly rule: string
  /** One sentence for people. */
  readonly what: string
  /** The exchanges that contradict each other, or the log. */
  readonly exchanges: readonly Exchange[]
  /** The records concerned. */
  readonly records: readonly LogRecord[]
}

export function contradiction(
  rule: string,
  what: string,
  exchanges: readonly Exchange[] = [],
  records: readonly LogRecord[] = [],
): Contradiction {
  return { rule, what, exchanges, records }
}

export function isSuccess({ status = 0 }: Exchange): boolean {
  return (status >= 200 && status < 300) || status === 304
}

/** The `token` of the first step of a feed that was asked for from the start: it names no position. */
export const fromStart = ''

/** Errors after which an event of the request may have taken effect (docs/errors.md). After any other error none has. */
export const codesThatMayHaveEffect: ReadonlySet<string> = new Set([
  'append_outcome_unknown',
  'internal_error',
  'event_parked',
])

/**
 * What requests have in common that may have one effect together: their Idempotency-Key, if they have one, which counts for
 * one stream where it is known.
 */
export function outcomeOf(exchange: Exchange): string {
  const { operation, idempotencyKey, id, number } = exchange
  if (idempotencyKey === undefined) return `request ${number}`
  return `${operation} ${isOf(exchange, 'place') ? id : ''} ${idempotencyKey}`
}

/** The stream that a request names: an order is placed in that of its pet. */
export function streamOf(exchange: Exchange): string {
  const collection = collectionOf(exchange.operation)
  return keyOf(isOf(exchange, 'place') ? holderOf(collection) : collection, exchange.id ?? 0)
}

/** What the judge reads of an event. */
export interface LoggedEvent {
  readonly id?: unknown
  readonly type?: unknown
  readonly source?: unknown
  readonly traceparent?: unknown
  readonly streamversion?: unknown
  readonly data?: unknown
}

const events = new WeakMap<LogRecord, LoggedEvent>()

/** Undefined if the record is not an object in JSON. */
export function eventIn(record: LogRecord): LoggedEvent | undefined {
  const known = events.get(record)
  if (known !== undefined) return known
  const event = objectIn(record.value ?? '')
  if (event !== undefined) events.set(record, event)
  return event
}

/** The events of a record as answers have them: without what the topic alone tells, and each of several by itself. */
export function shownIn(record: LogRecord): readonly LoggedEvent[] {
  const event = eventIn(record) ?? {}
  const members = Object.entries(event).filter(([name]) => !ofTopic.has(name))
  const several = severalIn(event)
  if (several === undefined) return [Object.fromEntries(members)]
  return several.map((own, streamindex) => {
    const told = members.flatMap(([name, value]) => {
      const member = [name, ownNames.has(name) ? Object(own)[name] : value]
      return name === 'streamversion' ? [member, ['streamindex', streamindex]] : [member]
    })
    return Object.fromEntries(told)
  })
}

const ofTopic: ReadonlySet<string> = new Set(['idempotencykey', 'requestfingerprint'])
const ownNames: ReadonlySet<string> = new Set(['id', 'type', 'data'])

/** The events of a record of several; undefined if it is none. */
export function severalIn({ type, data }: LoggedEvent): readonly unknown[] | undefined {
  const { events } = Object(data)
  return String(type).endsWith('.Several.v1') && Array.isArray(events) ? events : undefined
}

function objectIn(text: string): LoggedEvent | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether the service wrote the record. Strangers who write to the topic in a test have a source of their own. */
export function isOfService(record: LogRecord): boolean {
  return sources.has(eventIn(record)?.source)
}

const sources: ReadonlySet<unknown> = new Set(['/v1/pets', '/v1/categories', '/v1/books'])

/** W3C Trace Context for the request of this number. */
export function traceparentOf(number: number): string {
  return `00-${(number + 1).toString(16).padStart(32, '0')}-0000000000000001-00`
}

/** The number of the exchange that wrote an event with this traceparent; undefined if it was not one of this run. */
export function numberOf(traceparent: unknown): number | undefined {
  const [, traceId] = /^00-([0-9a-f]{32})-/.exec(String(traceparent)) ?? []
  const number = traceId === undefined ? Number.NaN : Number.parseInt(traceId, 16) - 1
  return Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

/** The last offset per partition that a Consistency-Token names. The text of a token is opaque to clients, not to this test. */
export function positionsOf(token: string | undefined): ReadonlyMap<number, number> {
  const content = Buffer.from(token ?? '', 'base64url').toString('latin1')
  const [, pairs = '', width, packed] =
    /^[^,]+?:((?:\d+:\d+(?:,\d+:\d+)*)?|~(\d)([\w-]+)):[0-9a-f]+$/.exec(content) ?? []
  if (packed !== undefined) return unpacked(Buffer.from(packed, 'base64url'), Number(width))
  if (pairs === '') return new Map()
  return new Map(pairs.split(',').map((pair) => pair.split(':').map(Number) as [number, number]))
}

/** A token of many partitions has the number of records up to the position of each, in so many bytes. */
function unpacked(packed: Buffer, width: number): ReadonlyMap<number, number> {
  const counts = Array.from({ length: packed.length / width }, (_, at) => packed.readUIntBE(at * width, width))
  return new Map(counts.flatMap((count, partition) => (count > 0 ? [[partition, count - 1] as const] : [])))
}
