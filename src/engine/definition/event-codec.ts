// A name that an old Node lacks must not be imported here, or that Node is told this in place of which one is needed
import crypto from 'node:crypto'
import type { Static } from 'typebox'
import type { AnyEvent, EventType, Stream } from '../door/stream.ts'
import { eventTime } from '../lib/clock.ts'
import { messageOf, ServiceError } from '../lib/errors/errors.ts'
import { compileCheck } from '../lib/values/validation.ts'
import type { NewRecord, Offset } from '../log/event-log.ts'
import { type CloudEvent, writeCloudEvent } from '../log/record-codec.ts'
import { discardedName, EventDiscardedData } from './discarded.ts'
import { type EventVersion, typeOf, versionsOf, writingsOf } from './event-versions.ts'
import { type OneOfSeveral, placeInSeveral, readSeveral, severalName, writeSeveral } from './several.ts'

/** What a record has besides what its events say. */
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

/** What the record of a stream means to the release that reads it. */
export type Decoded<Event> =
  /** One event, or several of one command. */
  | { readonly outcome: 'events'; readonly events: readonly Event[] }
  /** An operator's decision to discard the parked event at `offset` of the same stream. */
  | { readonly outcome: 'discard'; readonly offset: Offset }
  /** A known type with data that cannot be read; or a type that a newer release may know, if it has a stream version. */
  | { readonly outcome: 'unreadable' | 'newer_type'; readonly reason: string }
  /** Not an event of a stream: another program's type, or a discard that cannot be read. */
  | { readonly outcome: 'ignored' }

/** Reads and writes the events of a service as CloudEvents. */
export interface EventCodec<Event> {
  /** All that is read. */
  readonly versions: readonly EventVersion<Event>[]
  /**
   * One record of these events, each in the lowest version that says all of it. Throws ServiceError
   * event_version_not_written.
   */
  encode(events: readonly Event[], context: EventContext): NewRecord
  /** Data as JSON text, under a CloudEvents type: as an example has them. */
  encodeData(type: string, data: string, context: EventContext): NewRecord
  /** The record that discards a parked event. It belongs in the same partition, after that event. */
  encodeDiscard(parked: { readonly stream: string; readonly offset: Offset }, time: Date): NewRecord
  decode(event: Pick<CloudEvent, 'type' | 'data' | 'quick'>): Decoded<Event>
  /** The version that an event gives its stream; undefined if it has no readable one. */
  streamVersion(event: Pick<CloudEvent, 'type' | 'streamversion'>): number | undefined
  /** For `readCloudEvent`, only for speed. */
  quick(type: string, json: string): object | undefined
}

export function eventCodec<Event extends AnyEvent>(
  service: string,
  { source, events }: Pick<Stream<never, never, Event>, 'source' | 'events'>,
): EventCodec<Event> {
  const types = Object.entries<EventType<Event>>(events)
  const versions = types.flatMap(([name, known]) => versionsOf(service, name, known))
  const byName = new Map(types)
  const byType = new Map(versions.map((version) => [version.type, version]))
  const discarded = typeOf(service, discardedName, 1)
  const several = typeOf(service, severalName, 1)
  const checkDiscarded = compileCheck(EventDiscardedData)

  function encodeData(type: string, data: string, context: EventContext): NewRecord {
    const { stream: subject, eventId: id, version: streamversion, ...rest } = context
    return writeCloudEvent({ id, type, source, subject, streamversion, data, ...rest })
  }

  function written(event: Event): { readonly type: string; readonly json: string } {
    const known = byName.get(event.type)
    if (known === undefined) throw new Error(`${event.type} is no event of the service`)
    // The lowest version that says all of it: who reads no newer one gets it too.
    const { version = 0, json = '' } = writingsOf(known, event).at(-1) ?? {}
    if (version > (known.writes ?? known.version)) throw notWritten(event.type)
    return { type: typeOf(service, event.type, version), json }
  }

  function decode({ type, data, quick }: Pick<CloudEvent, 'type' | 'data' | 'quick'>): Decoded<Event> {
    const known = byType.get(type)
    if (known !== undefined) return decodeIn(known, data, quick)
    if (type === several) return decodeSeveral(data)
    if (type === discarded) {
      if (checkDiscarded(data) !== undefined) return { outcome: 'ignored' }
      return { outcome: 'discard', offset: (data as Static<typeof EventDiscardedData>).offset }
    }
    if (!type.startsWith(`${service}.`)) return { outcome: 'ignored' }
    return { outcome: 'newer_type', reason: `type ${type} is unknown` }
  }

  function decodeSeveral(data: unknown): Decoded<Event> {
    let all: readonly OneOfSeveral[]
    try {
      all = readSeveral(data)
    } catch (error) {
      return unreadable(error)
    }
    const events: Event[] = []
    for (const [i, one] of all.entries()) {
      const decoded = one.type === several ? undefined : decode(one)
      if (decoded?.outcome === 'events') events.push(...decoded.events)
      else {
        const isRead = decoded !== undefined && 'reason' in decoded
        const { outcome, reason } = isRead ? decoded : unreadable(`it cannot have the type ${one.type}`)
        return { outcome, reason: `${placeInSeveral(i, all.length)}: ${reason}` }
      }
    }
    return { outcome: 'events', events }
  }

  return {
    versions,
    encode(events, context) {
      const all = events.map(written)
      const [first] = all
      if (first !== undefined && all.length === 1) return encodeData(first.type, first.json, context)
      return encodeData(several, writeSeveral(context.eventId, all), context)
    },
    encodeData,
    encodeDiscard: ({ stream: subject, offset }, time) =>
      writeCloudEvent({
        id: crypto.randomUUIDv7(),
        type: discarded,
        source,
        subject,
        time: eventTime(time),
        data: JSON.stringify({ offset }),
      }),
    decode,
    streamVersion({ type, streamversion }) {
      if (streamversion === undefined) return byType.get(type)?.isUnversioned ? 1 : undefined
      return Number.isSafeInteger(streamversion) ? (streamversion as number) : undefined
    },
    quick: (type, json) => byType.get(type)?.quick(json),
  }
}

function decodeIn<Event>(version: EventVersion<Event>, data: unknown, quick: unknown): Decoded<Event> {
  try {
    return { outcome: 'events', events: [quick === undefined ? version.read(data) : version.readChecked(quick)] }
  } catch (error) {
    return unreadable(error)
  }
}

function unreadable(error: unknown): { readonly outcome: 'unreadable'; readonly reason: string } {
  return { outcome: 'unreadable', reason: `data: ${messageOf(error)}` }
}

function notWritten(event: string): ServiceError {
  const message = `${event} needs a newer version to say this, which is not written yet. Nothing was stored.`
  return new ServiceError('event_version_not_written', message)
}
