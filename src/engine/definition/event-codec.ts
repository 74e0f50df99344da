import { randomUUIDv7 } from 'node:crypto'
import type { Static } from 'typebox'
import { exactJson } from '../lib/exact-json.ts'
import { compileCheck } from '../lib/validation.ts'
import type { NewRecord, Offset } from '../log/event-log.ts'
import { type CloudEvent, writeCloudEvent } from '../log/record-codec.ts'
import { discardedName, EventDiscardedData, typeOf } from './event-schemas.ts'
import type { AnyEvent, EventType, Stream } from './stream.ts'

/** What an event has besides what it says. */
export interface EventContext {
  /** The stream: also the record key. */
  readonly stream: string
  /** CloudEvents id: unique per event. */
  readonly eventId: string
  /** The version of the stream after the event. */
  readonly version: number
  /** RFC 3339, UTC. */
  readonly time: string
  /** W3C Trace Context: what wrote the event, or the request if nothing is traced. */
  readonly traceparent?: string | undefined
  /** Present if the request had an Idempotency-Key. */
  readonly idempotency?: { readonly key: string; readonly fingerprint: string } | undefined
}

/** What the event of a stream means to the release that reads it. */
export type Decoded<Event> =
  | { readonly outcome: 'event'; readonly event: Event }
  /** An operator's decision to discard the parked event at `offset` of the same stream. */
  | { readonly outcome: 'discard'; readonly offset: Offset }
  /** A known type with data that cannot be read; or a type that a newer release may know, if it has a stream version. */
  | { readonly outcome: 'unreadable' | 'newer_type'; readonly reason: string }
  /** Not an event of a stream: another program's type, or a discard that cannot be read. */
  | { readonly outcome: 'ignored' }

/** Reads and writes the events of a service as CloudEvents. */
export interface EventCodec<Event> {
  encode(event: Event, context: EventContext): NewRecord
  /** The record that discards a parked event. It belongs in the same partition, after that event. */
  encodeDiscard(parked: { readonly stream: string; readonly offset: Offset }, time: Date): NewRecord
  decode(event: Pick<CloudEvent, 'type' | 'data' | 'quick'>): Decoded<Event>
  /** The version that an event gives its stream; undefined if it has no readable one. */
  streamVersion(event: Pick<CloudEvent, 'type' | 'streamversion'>): number | undefined
  /** For `readCloudEvent`, only for speed. */
  quick(type: string, json: string): Event | undefined
}

export function eventCodec<Event extends AnyEvent>(
  service: string,
  { source, events }: Pick<Stream<never, never, Event>, 'source' | 'events'>,
): EventCodec<Event> {
  const types = Object.entries<EventType<Event>>(events).map(([name, type]) => new KnownType(service, name, type))
  const byName = new Map(types.map((type) => [type.name, type]))
  const byType = new Map(types.map((type) => [type.type, type]))
  const earlier = new Map(types.flatMap((type) => type.versions.map((version) => [version.type, version] as const)))
  const unversioned = new Set(types.flatMap(({ firstType, isUnversioned }) => (isUnversioned ? firstType : [])))
  const discarded = typeOf(service, discardedName, 1)
  const checkDiscarded = compileCheck(EventDiscardedData)

  return {
    encode(event, { stream: subject, eventId: id, version: streamversion, ...context }) {
      const known = byName.get(event.type)
      if (known === undefined) throw new Error(`${event.type} is no event of the service`)
      return writeCloudEvent({
        id,
        type: known.type,
        source,
        subject,
        streamversion,
        data: known.write(event),
        ...context,
      })
    },
    encodeDiscard: ({ stream: subject, offset }, time) =>
      writeCloudEvent({
        id: randomUUIDv7(),
        type: discarded,
        source,
        subject,
        time: time.toISOString(),
        data: JSON.stringify({ offset }),
      }),
    decode({ type, data, quick }) {
      if (quick !== undefined) return { outcome: 'event', event: quick as Event }
      const known = byType.get(type)
      if (known !== undefined) return known.read(data)
      const version = earlier.get(type)
      if (version !== undefined) return version.read(data)
      if (type === discarded) {
        if (checkDiscarded(data) !== undefined) return { outcome: 'ignored' }
        return { outcome: 'discard', offset: (data as Static<typeof EventDiscardedData>).offset }
      }
      if (!type.startsWith(`${service}.`)) return { outcome: 'ignored' }
      return { outcome: 'newer_type', reason: `type ${type} is unknown` }
    },
    streamVersion({ type, streamversion }) {
      if (streamversion === undefined) return unversioned.has(type) ? 1 : undefined
      return Number.isSafeInteger(streamversion) ? (streamversion as number) : undefined
    },
    quick: (type, json) => byType.get(type)?.quick(json),
  }
}

/** An event type, in the version that this release writes. */
class KnownType<Event extends AnyEvent> {
  readonly name: string
  readonly type: string
  readonly firstType: string
  readonly isUnversioned: boolean
  /** The earlier versions that can be read. */
  readonly versions: readonly { readonly type: string; read(data: unknown): Decoded<Event> }[]
  readonly #definition: EventType<Event>
  readonly #check: (data: unknown) => string | undefined

  constructor(service: string, name: string, definition: EventType<Event>) {
    const { version, upcasts = {}, isUnversioned = false } = definition
    this.name = name
    this.type = typeOf(service, name, version)
    this.firstType = typeOf(service, name, 1)
    this.isUnversioned = isUnversioned
    this.#definition = definition
    this.#check = compileCheck(definition.data)
    this.versions = Object.keys(upcasts).map((earlier) => ({
      type: typeOf(service, name, Number(earlier)),
      read: (data) => this.#upcast(data, Number(earlier)),
    }))
  }

  write(event: Event): string {
    if (this.#definition.write !== undefined) return this.#definition.write(event)
    const { type: _, ...data } = event
    return exactJson(data)
  }

  read(data: unknown): Decoded<Event> {
    const problem = this.#check(data)
    if (problem !== undefined) return unreadable(problem)
    if (this.#definition.read === undefined)
      return { outcome: 'event', event: { type: this.name, ...(data as object) } as unknown as Event }
    try {
      return { outcome: 'event', event: this.#definition.read(data) }
    } catch (error) {
      return unreadable(error instanceof Error ? error.message : String(error))
    }
  }

  quick(json: string): Event | undefined {
    return this.#definition.quick?.(json)
  }

  #upcast(data: unknown, from: number): Decoded<Event> {
    const { version, upcasts = {} } = this.#definition
    try {
      let upcast = data
      for (let each = from; each < version; each++) upcast = upcasts[each]?.(upcast)
      return this.read(upcast)
    } catch (error) {
      return unreadable(error instanceof Error ? error.message : String(error))
    }
  }
}

function unreadable(problem: string): { readonly outcome: 'unreadable'; readonly reason: string } {
  return { outcome: 'unreadable', reason: `data: ${problem}` }
}
