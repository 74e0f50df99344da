import { type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { ruleKeyword } from '../lib/values/problem-words.ts'
import { hiddenAttributes } from '../log/shown-event.ts'
import { discardedName, EventDiscardedData } from './discarded.ts'
import { type EventVersion, typeOf } from './event-versions.ts'
import type { Kind, StreamKinds } from './kinds.ts'
import { SeveralData, severalName } from './several.ts'
import { capitalised, listed } from './words.ts'

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

/** A schema that is published stays, whatever kinds are added. */
const ofAnyKind = Type.String({ minLength: 1, description: 'As of the events of the stream' })

/**
 * The schemas of all versions of all events of a service, by kind of stream, the engine's own last. A discard has the source of
 * the first kind in any stream, as that schema was published.
 */
export function eventSchemas(service: string, kinds: StreamKinds<Kind>['kinds']): readonly EventSchema[] {
  const own = kinds.flatMap((kind) => kind.events.versions.map((version) => ofVersion(kind, version)))
  const several = 'Several events of one command: all of them take effect, or none does'
  const discarded = 'An operator decided to leave out an event that could not be applied'
  const [{ stream }] = kinds
  const ofEngine = (name: string, description: string, source: TSchema, more: TProperties) =>
    eventSchema({ type: typeOf(service, name, 1), name, description }, source, subjectsOf(kinds), more)
  return [
    ...own,
    ofEngine(severalName, several, ofAnyKind, { ...idempotency, streamversion, data: SeveralData }),
    ofEngine(discardedName, discarded, Type.Literal(stream.source), { data: EventDiscardedData }),
  ]
}

function ofVersion(kind: Kind, { type, name, description, data, isKeyed, isUnversioned }: EventVersion): EventSchema {
  return eventSchema(
    { type, name, description: isUnversioned ? `${description}. Without streamversion it is 1` : description },
    Type.Literal(kind.stream.source),
    subjectsOf([kind]),
    {
      ...(isKeyed ? idempotency : {}),
      streamversion: isUnversioned ? Type.Optional(streamversion) : streamversion,
      streamindex: Type.Optional(streamindex),
      data,
    },
  )
}

/** What the subject of an event is, which is the record key too. */
export function subjectsOf(kinds: readonly Kind[]): string {
  const each = kinds.map(({ home: { noun }, nameOf }) => {
    const prefix = nameOf('')
    return prefix === '' ? `the ${noun} id in decimal` : `\`${prefix}\` and the ${noun} id`
  })
  return listed(each, 'or')
}

/** What such a subject matches, as a regular expression. */
export function subjectPattern(kinds: readonly Kind[]): string {
  const prefixes = kinds.map(({ nameOf }) => nameOf('')).filter((prefix) => prefix !== '')
  const before = prefixes.length === 0 ? '' : `(${prefixes.join('|')})${prefixes.length < kinds.length ? '?' : ''}`
  return `^${before}[1-9][0-9]*$`
}

/** `more`, and the attributes that every event has (CloudEvents 1.0 section 3). */
function eventSchema(
  { type, name, description }: Pick<EventVersion, 'type' | 'name' | 'description'>,
  source: TSchema,
  subject: string,
  more: TProperties,
): EventSchema {
  const attributes = {
    specversion: Type.Literal('1.0'),
    id: Type.String({ minLength: 1, description: 'Unique per event: two records with one id are one event' }),
    type: Type.Literal(type),
    source,
    subject: Type.String({ description: `${capitalised(subject)}, as is the record key: it names the stream` }),
    time: Type.String({ description: 'RFC 3339, UTC' }),
    datacontenttype: Type.Literal('application/json'),
    traceparent: Type.Optional(Type.String({ description: 'W3C Trace Context of the request' })),
  }
  return { type, name, schema: Type.Object({ ...attributes, ...more }, { title: type, description }) }
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
  const { specversion, datacontenttype } = schemas[0]?.schema.properties ?? {}
  const sources = [...new Map(schemas.flatMap(({ schema: { properties } }) => sourceIn(properties.source))).entries()]
  const common = {
    EventSpecversion: specversion,
    ...Object.fromEntries(sources.map(([of, source], i) => [i === 0 ? 'EventSource' : `EventSourceOf${of}`, source])),
    EventContentType: datacontenttype,
  }
  return { ...Object.fromEntries(named), ...common }
}

/** A single source, by its last word: `/v1/categories` is of `Categories`. */
function sourceIn(source: (TSchema & { readonly const?: string }) | undefined): [of: string, source: TSchema][] {
  if (source?.const === undefined) return []
  return [[capitalised(source.const.slice(source.const.lastIndexOf('/') + 1)), source]]
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
