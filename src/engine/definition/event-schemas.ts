import { type TProperties, type TSchema, Type } from 'typebox'
import type { AnyEvent, EventType } from './stream.ts'

/** The engine's own event: an operator's decision to leave out an event that could not be applied. */
export const discardedName = 'EventDiscarded'

export const EventDiscardedData = Type.Object(
  {
    offset: Type.Integer({
      format: 'int64',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Of the event left out, which stands in the same partition',
    }),
  },
  { title: 'EventDiscardedData' },
)

const streamversion = Type.Integer({
  format: 'int64',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The version that the stream has after this event: it took effect only if that is one above the last',
})

const idempotency = {
  idempotencykey: Type.Optional(
    Type.String({ description: 'Events with the same one are one: the first in the log counts, the others do not' }),
  ),
  requestfingerprint: Type.Optional(
    Type.String({ description: 'Differs where requests under one idempotency key asked for different things' }),
  ),
}

/** What the schemas of the events of a service need to know of it. */
export interface EventsOf {
  readonly name: string
  /** The word for one of what streams are about. */
  readonly noun: string
  readonly source: string
  readonly events: Readonly<Record<string, EventType<AnyEvent>>>
}

/** The published schemas of record values, and the names that documents give them. */
export interface EventSchemas {
  /** Each by its CloudEvents type, the engine's own last. */
  readonly byType: Readonly<Record<string, TSchema>>
  /** What a document of these names, or of schemas made from them, by the name that it has there. */
  named(schemas: Readonly<Record<string, TSchema>>): Readonly<Record<string, TSchema>>
}

/** The CloudEvents type. */
export function typeOf(service: string, event: string, version: number): string {
  return `${service}.${event}.v${version}`
}

export function eventSchemas({ name: service, noun, source, events }: EventsOf): EventSchemas {
  // Single values have names too: generators give inline ones names of their own, or do not check them.
  const common = {
    EventSpecversion: Type.Literal('1.0'),
    EventSource: Type.Literal(source),
    EventContentType: Type.Literal('application/json'),
  }

  /** An event's type and schema: `more`, and the attributes that every one has (CloudEvents 1.0 section 3). */
  function eventSchema(type: string, description: string, more: TProperties) {
    const attributes = {
      specversion: common.EventSpecversion,
      id: Type.String({ minLength: 1, description: 'Unique per event: two records with one id are one event' }),
      type: Type.Literal(type),
      source: common.EventSource,
      subject: Type.String({ description: `The ${noun} id in decimal, as is the record key: it names the stream` }),
      time: Type.String({ description: 'RFC 3339, UTC' }),
      datacontenttype: common.EventContentType,
      traceparent: Type.Optional(Type.String({ description: 'W3C Trace Context of the request' })),
    }
    return [type, Type.Object({ ...attributes, ...more }, { title: type, description })] as const
  }

  const own = Object.entries(events).map(([name, { version, description, data, isUnversioned, examples }]) =>
    eventSchema(typeOf(service, name, version), description, {
      ...(examples.some(({ isKeyed }) => isKeyed) ? idempotency : {}),
      streamversion: isUnversioned ? Type.Optional(streamversion) : streamversion,
      data,
    }),
  )
  const discarded = 'An operator decided to leave out an event that could not be applied'
  const type = typeOf(service, discardedName, 1)
  const names = new Map([
    ...Object.entries(events).map(([name, { version }]) => [typeOf(service, name, version), name] as const),
    [type, discardedName] as const,
  ])
  return {
    byType: Object.fromEntries<TSchema>([...own, eventSchema(type, discarded, { data: EventDiscardedData })]),
    named(schemas) {
      const named = Object.entries<TSchema & { properties?: TProperties }>(schemas).flatMap(([each, schema]) => [
        [names.get(each), schema],
        [`${names.get(each)}EventType`, schema.properties?.type],
      ])
      return { ...Object.fromEntries(named), ...common }
    },
  }
}
