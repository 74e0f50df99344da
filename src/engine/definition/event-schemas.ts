import { type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { ruleKeyword } from '../lib/values/problem-words.ts'
import { hiddenAttributes } from '../log/shown-event.ts'
import { type EventVersion, typeOf } from './event-versions.ts'
import { SeveralData, severalName } from './several.ts'

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

const streamindex = Type.Integer({
  minimum: 0,
  description:
    'The place among the events of this version, which are what one command came to; absent where it is alone, and means 0',
})

const idempotency = {
  idempotencykey: Type.Optional(
    Type.String({ description: 'Events with the same one are one: the first in the log counts, the others do not' }),
  ),
  requestfingerprint: Type.Optional(
    Type.String({ description: 'Differs where requests under one idempotency key asked for different things' }),
  ),
}

/** The published schema of the values of the records of one type. */
export interface EventSchema {
  /** The CloudEvents type. */
  readonly type: string
  /** What documents call it. */
  readonly name: string
  readonly schema: TObject
}

/**
 * The schemas of all versions of all events of a service, the engine's own last. `noun` is the word for one of what streams
 * are about.
 */
export function eventSchemas(
  service: string,
  noun: string,
  source: string,
  versions: readonly EventVersion[],
): readonly EventSchema[] {
  /** `more`, and the attributes that every event has (CloudEvents 1.0 section 3). */
  function eventSchema(
    { type, name, description }: Pick<EventVersion, 'type' | 'name' | 'description'>,
    more: TProperties,
  ): EventSchema {
    const attributes = {
      specversion: Type.Literal('1.0'),
      id: Type.String({ minLength: 1, description: 'Unique per event: two records with one id are one event' }),
      type: Type.Literal(type),
      source: Type.Literal(source),
      subject: Type.String({ description: `The ${noun} id in decimal, as is the record key: it names the stream` }),
      time: Type.String({ description: 'RFC 3339, UTC' }),
      datacontenttype: Type.Literal('application/json'),
      traceparent: Type.Optional(Type.String({ description: 'W3C Trace Context of the request' })),
    }
    return { type, name, schema: Type.Object({ ...attributes, ...more }, { title: type, description }) }
  }

  const own = versions.map(({ type, name, description, data, isKeyed, isUnversioned }) =>
    eventSchema(
      { type, name, description: isUnversioned ? `${description}. Without streamversion it is 1` : description },
      {
        ...(isKeyed ? idempotency : {}),
        streamversion: isUnversioned ? Type.Optional(streamversion) : streamversion,
        streamindex: Type.Optional(streamindex),
        data,
      },
    ),
  )
  const ofEngine = (name: string, description: string) => ({ type: typeOf(service, name, 1), name, description })
  const several = ofEngine(severalName, 'Several events of one command: all of them take effect, or none does')
  const discarded = ofEngine(discardedName, 'An operator decided to leave out an event that could not be applied')
  return [
    ...own,
    eventSchema(several, { ...idempotency, streamversion, data: SeveralData }),
    eventSchema(discarded, { data: EventDiscardedData }),
  ]
}

/**
 * What a document names of the schemas, by its name there. Single values have names too: generators give inline ones names
 * of their own, or do not check them.
 */
export function namedEvents(schemas: readonly EventSchema[]): Readonly<Record<string, TSchema>> {
  const named = schemas.flatMap(({ name, schema }) => [
    [name, schema],
    [`${name}EventType`, schema.properties.type],
  ])
  const { specversion, source, datacontenttype } = schemas[0]?.schema.properties ?? {}
  const common = { EventSpecversion: specversion, EventSource: source, EventContentType: datacontenttype }
  return { ...Object.fromEntries(named), ...common }
}

/** As documents of events have it. The words of rules are for requests: a strict validator refuses a keyword that it does not know. */
export function withoutRules(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (name, value) => (name === ruleKeyword ? undefined : value))
}

const inJournalAlone: ReadonlySet<string> = new Set([severalName, discardedName])

/** The schemas of the events of streams as they are shown and published. */
export function shownSchemas(schemas: readonly EventSchema[]): readonly EventSchema[] {
  const ofStreams = schemas.filter(({ name }) => !inJournalAlone.has(name))
  return ofStreams.map((each) => ({ ...each, schema: withoutHidden(each.schema) }))
}

function withoutHidden(schema: TObject): TObject {
  const properties = Object.entries(schema.properties).filter(([name]) => !hiddenAttributes.has(name))
  return { ...schema, properties: Object.fromEntries(properties) }
}
