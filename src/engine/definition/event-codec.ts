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
  const types = Object.entries<EventType<Event>>(events)
  const byName = new Map(types)
  const byType = new Map(types.map(([name, known]) => [typeOf(service, name, known.version), known]))
  const readers = new Map(types.flatMap(([name, known]) => readersOf(service, name, known)))
  const unversioned = new Set(types.flatMap(([name, known]) => (known.isUnversioned ? typeOf(service, name, 1) : [])))
  const discarded = typeOf(service, discardedName, 1)
  const checkDiscarded = compileCheck(EventDiscardedData)

  return {
    encode(event, { stream: subject, eventId: id, version: streamversion, ...context }) {
      const known = byName.get(event.type)
      if (known === undefined) throw new Error(`${event.type} is no event of the service`)
      return writeCloudEvent({
        id,
        type: typeOf(service, event.type, known.version),
        source,
        subject,
        streamversion,
        data: known.write?.(event) ?? dataOf(event),
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
      const read = readers.get(type)
      if (read !== undefined) return read(data)
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
    quick: (type, json) => byType.get(type)?.quick?.(json),
  }
}

function dataOf({ type: _, ...data }: AnyEvent): string {
  return exactJson(data)
}

/** What reads the data of an event type, by the CloudEvents type of each version that can be read. */
function readersOf<Event extends AnyEvent>(service: string, name: string, known: EventType<Event>) {
  const { version, upcasts = {} } = known
  const check = compileCheck(known.data)
  function read(written: unknown, from: number): Decoded<Event> {
    try {
      let data = written
      for (let each = from; each < version; each++) data = upcasts[each]?.(data)
      const problem = check(data)
      if (problem !== undefined) return unreadable(problem)
      const event = known.read?.(data) ?? ({ type: name, ...(data as object) } as AnyEvent as Event)
      return { outcome: 'event', event }
    } catch (error) {
      return unreadable(error instanceof Error ? error.message : String(error))
    }
  }
  const versions = [...Object.keys(upcasts).map(Number), version]
  return versions.map((from) => [typeOf(service, name, from), (data: unknown) => read(data, from)] as const)
}

function unreadable<Event>(problem: string): Decoded<Event> {
  return { outcome: 'unreadable', reason: `data: ${problem}` }
}
