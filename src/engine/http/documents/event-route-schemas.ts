import type { FastifySchema } from 'fastify'
import { type TSchema, Type } from 'typebox'
import type { Definition } from '../../definition/definition.ts'
import { namedEvents, shownSchemas } from '../../definition/event-schemas.ts'
import type { Kind } from '../../definition/kinds.ts'
import { listed, withArticle } from '../../definition/words.ts'
import { Int64Schema } from '../../lib/values/int64.ts'
import { titledIn, titleOf } from '../../lib/values/named-schemas.ts'
import * as fields from './header-schemas.ts'
import { pageQuery } from './list-schemas.ts'
import * as doc from './schema-parts.ts'

export const eventsTag = { name: 'events', description: 'What happened (beta)' }
const group = { tag: eventsTag, isBeta: true } as const
const unavailable = doc.unavailable('event_log_unavailable', 'The event log does not answer.')

const FeedStart = Type.Enum(['start'], {
  type: 'string',
  title: 'FeedStart',
  description: 'Begin with the first event there is',
})

/** What the document names of requests and answers about events. */
export function namedEventSchemas(definition: Definition): Readonly<Record<string, TSchema>> {
  return {
    ...namedEvents(shownSchemas(definition.schemas)),
    ...titledIn([...definition.kinds.map((kind) => eventList(definition, kind)), FeedStart]),
  }
}

function eventList(definition: Definition, { home, events }: Kind): TSchema {
  const own = new Set(events.versions.map(({ type }) => type))
  const shown = shownSchemas(definition.schemas).filter(({ type }) => own.has(type))
  const mapping = shown.map(({ type, name }) => [type, `#/components/schemas/${name}`])
  const title = `${titleOf(home.schema)}Event`
  const event = Type.Unsafe<unknown>({
    oneOf: shown.map(({ schema }) => schema),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(mapping) },
    title,
    description: `A CloudEvent about ${withArticle(home.noun)}`,
  })
  return Type.Array(event, { title: `${title}s`, description: 'A list of events' })
}

/** The first event of the example. */
function exampleOf({ stream, events, home, nameOf }: Kind) {
  return {
    specversion: '1.0',
    id: '01980f04-8c00-7000-8000-000000000001',
    type: events.versions[0]?.type,
    source: stream.source,
    subject: nameOf(doc.idOf(home.example)),
    time: '2026-11-20T09:30:00.000Z',
    datacontenttype: 'application/json',
    streamversion: 1,
    data: home.example,
  }
}

export function historySchema(definition: Definition, kind: Kind): FastifySchema {
  const { home } = kind
  const all = eventList(definition, kind)
  return {
    ...(home.history && doc.operation(group, home.history)),
    params: doc.idParameter(home),
    querystring: pageQuery('events'),
    headers: fields.headers(fields.requestHeaders.consistency()),
    response: {
      ...doc.anyOperation,
      200: doc.answer(`The events of the ${home.noun}`, all, [exampleOf(kind)], fields.pageHeaders),
      400: doc.invalid('query: limit must be at most 100'),
      404: doc.notFoundAnswer(home.noun, doc.idOf(home.example)),
      503: unavailable,
    },
  } as FastifySchema
}

const onlyOf = (noun: string) => Type.Optional(Int64Schema({ description: `Only events of this ${noun}` }))

export function feedSchema(definition: Definition): FastifySchema {
  const { kinds, resources } = definition
  const created = exampleOf(kinds[0])
  const types = shownSchemas(definition.schemas).map(({ type }) => type)
  // Not named: in Go a value is one constant, and each of these is one already.
  const onlyOfType = Type.Enum(types, {
    type: 'string',
    title: 'FollowedType',
    description: 'Only events of this type',
  })
  const nouns = listed(
    kinds.map(({ home }) => home.noun),
    'and',
  )
  const shownIn = listed(
    resources.map(({ collection }) => collection),
    'and',
  )
  return {
    ...doc.operation(group, {
      operationId: 'followEvents',
      summary: 'Follow the events as they happen (beta)',
      description:
        `The events that take effect, as server-sent events: of each ${nouns} in their order, each once the ${shownIn} show ` +
        'it. The answer has no end. After a break, go on with the last `id` in `Last-Event-ID`; the last events may then come ' +
        'once more, with the same `id` in `data`. No `id` stands between several events of one `streamversion`. While nothing happens, an `id` or a comment comes every ten seconds. ' +
        'Where the rate of the API key is limited, each hundred events that happened before count as a read; the feed then ' +
        'waits rather than ends.',
    }),
    querystring: Type.Object(
      {
        type: Type.Optional(onlyOfType),
        ...Object.fromEntries(kinds.map(({ home }) => [home.idName, onlyOf(home.noun)])),
        from: Type.Optional(FeedStart),
      },
      { additionalProperties: false },
    ),
    headers: fields.headers(fields.requestHeaders.lastEventId),
    response: {
      ...doc.anyOperation,
      200: {
        description: 'The events, for as long as the client stays',
        headers: {},
        content: {
          'text/event-stream': {
            schema: {
              type: 'string',
              description: 'WHATWG HTML section 9.2: `data` is a CloudEvent, `event` its type',
            },
            example: `id: ZTNiMDdi\nevent: ${created.type}\ndata: ${JSON.stringify(created)}\n\n`,
          },
        },
      },
      400: doc.error(
        'Invalid request',
        'invalid_consistency_token',
        'header: Last-Event-ID is beyond the end of the log',
      ),
      503: unavailable,
    },
  } as FastifySchema
}
