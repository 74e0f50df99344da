import { Readable } from 'node:stream'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { eventName, eventSchemas, eventType, namedEventSchemas } from '../../store/event-schemas.ts'
import { Int64Schema } from '../../store/pet.ts'
import type { EventFeed, FeedStep } from '../feed/event-feed.ts'
import type { FeedEvent } from '../feed/feed-batch.ts'
import type { Int64 } from '../lib/int64.ts'
import { type FindKey, holderOf, isStillValid, requireScope } from './auth.ts'
import { checkIfMatch, readConditions } from './conditions.ts'
import { jsonType } from './error-replies.ts'
import * as fields from './header-schemas.ts'
import type { RateLimit } from './key-limits.ts'
import { pets } from '../../store/pets.ts'
import { addNext, addReached, notFound, type RouteServices, readExchange } from './resource.ts'
import * as doc from './schema-parts.ts'
import { shownEvent, shownSchema } from './shown-event.ts'
import { readCursor, readTokens, type TokenScope, writeCursor, writeToken } from './tokens.ts'

export interface EventServices extends RouteServices {
  readonly events: Pick<EventFeed, 'history' | 'follow'>
  readonly findKey: FindKey
  /** Undefined: no limit. */
  readonly rate: RateLimit | undefined
}

/** The history of a pet, and the live feed of all events (both beta). */
export function addEventRoutes(instance: FastifyInstance, services: EventServices): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>()
  const onRequest = requireScope('read')

  app.get('/pets/:petId/events', { schema: historySchema, onRequest }, (request, reply) =>
    replyWithHistory(services, request.params.petId, request.query, reply),
  )
  // A HEAD would wait for the end of what has none.
  app.get(
    '/events',
    { schema: feedSchema, onRequest, exposeHeadRoute: false, config: { isEndless: true } },
    (request, reply) => replyWithFeed(services, request.query, reply),
  )
}

async function replyWithHistory(
  services: EventServices,
  petId: Int64,
  { limit = doc.pageLimit.default, cursor }: { readonly limit?: number; readonly cursor?: string },
  reply: FastifyReply,
): Promise<string> {
  const list = `versions:${petId}`
  const after = cursor === undefined ? undefined : readCursor(cursor, list)
  const conditions = readConditions(reply.request.headers)
  const exchange = readExchange(services, pets, reply)
  const { owner } = holderOf(reply.request)
  const reader = { owner, isGone: () => reply.raw.destroyed }
  const history = await services.events.history(String(petId), { after, limit }, reader, exchange.atLeast)
  const { events, last, isKnown, reached } = history
  addReached(exchange, reached)
  if (!isKnown) throw notFound(exchange, petId)
  checkIfMatch(conditions)
  if (last !== undefined) {
    addNext(reply, `${pets.path}/${petId}/events?limit=${limit}&cursor=${writeCursor(last, list)}`)
  }
  reply.type(jsonType)
  return `[${events.map(shownEvent)}]`
}

interface FeedFilter {
  readonly type?: string
  readonly petId?: Int64
  readonly from?: 'start'
}

async function replyWithFeed(
  { log, events, findKey, rate }: EventServices,
  { type, petId, from }: FeedFilter,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const last = reply.request.headers['last-event-id']
  const beginning = from === 'start' ? [] : 'now'
  const after = last === undefined || last === '' ? beginning : readTokens(log, String(last), 'Last-Event-ID')
  const clientLeft = new AbortController()
  reply.raw.once('close', () => clientLeft.abort())
  const stream = petId === undefined ? undefined : String(petId)
  const { owner } = holderOf(reply.request)
  const account = { owner, count: () => rate?.countMore('reads', owner) ?? 0 }
  const steps = await events.follow({ after, stream, type }, account, clientLeft.signal)
  reply.type('text/event-stream')
  // Else nginx gathers before it sends, and so do proxies that compress.
  reply.headers({ 'x-accel-buffering': 'no', 'cache-control': 'no-store, no-transform' })
  const isKeyValid = () => isStillValid(reply.request, findKey)
  return reply.send(Readable.from(serverSentEvents(log, steps, isKeyValid), { objectMode: false, highWaterMark: 1 }))
}

const reconnectMs = 2000

/**
 * WHATWG HTML section 9.2. The last event of a step has the id from which to go on, if that is another one; without
 * events the id comes alone, or a comment. A key that is revoked, or expires, ends the feed with the next step, which
 * comes within some ten seconds.
 */
async function* serverSentEvents(
  log: TokenScope,
  steps: AsyncIterable<FeedStep>,
  isKeyValid: () => Promise<boolean>,
): AsyncGenerator<string> {
  yield `retry: ${reconnectMs}\n`
  let lastId = ''
  for await (const { events, after } of steps) {
    if (!(await isKeyValid())) return
    const blocks = events.map(blockOf)
    const id = writeToken(log, after)
    const idLine = id === lastId ? '' : `id: ${id}\n`
    const last = blocks.pop() ?? (idLine === '' ? ':\n\n' : '\n')
    lastId = id
    yield `${blocks.join('')}${idLine}${last}`
  }
}

function blockOf(event: FeedEvent): string {
  event.sent ??= `event: ${event.type}\ndata: ${shownEvent(event.json).replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n\n`
  return event.sent
}

export const eventsTag = { name: 'events', description: 'What happened (beta)' }
const beta = { tags: [eventsTag.name], 'x-stability': 'beta' }

const { [eventType('EventDiscarded')]: _, ...ofPets } = eventSchemas
const shownSchemas = Object.fromEntries(Object.entries(ofPets).map(([type, schema]) => [type, shownSchema(schema)]))
const shownTypes = Object.keys(shownSchemas)
const ofPet = Int64Schema({ description: 'Identifier of the pet', examples: [1] })

const PetEvent = Type.Unsafe<unknown>({
  oneOf: Object.values(shownSchemas),
  discriminator: {
    propertyName: 'type',
    mapping: Object.fromEntries(shownTypes.map((type) => [type, `#/components/schemas/${eventName(type)}`])),
  },
  description: 'A CloudEvent about a pet',
})
/** Not named: in Go a value is one constant, and each of these is one already. */
const onlyOfType = Type.Enum(shownTypes, {
  type: 'string',
  title: 'FollowedType',
  description: 'Only events of this type',
})
const FeedStart = Type.Enum(['start'], { type: 'string', description: 'Begin with the first event there is' })
export const eventAnswerSchemas = {
  ...namedEventSchemas(shownSchemas),
  PetEvent,
  PetEvents: Type.Array(PetEvent, { description: 'A list of events' }),
  FeedStart,
}

const created = {
  specversion: '1.0',
  id: '01980f04-8c00-7000-8000-000000000001',
  type: eventType('PetCreated'),
  source: '/v1/pets',
  subject: '1',
  time: '2026-11-20T09:30:00.000Z',
  datacontenttype: 'application/json',
  streamversion: 1,
  data: { id: 1, name: 'Rex', categoryId: 7, status: 'available' },
}
const unavailable = doc.unavailable('event_log_unavailable', 'The event log does not answer.')

const historySchema = {
  ...doc.anySchema,
  ...beta,
  operationId: 'listPetEvents',
  summary: 'List the events of a pet (beta)',
  description:
    'The events of a pet that took effect, oldest first, page by page: as long as there is a next page, its address is ' +
    'in `Link`.',
  params: Type.Object({ petId: ofPet }),
  querystring: doc.pageQuery('events'),
  headers: fields.headers(fields.requestHeaders.consistency()),
  response: {
    ...doc.anyOperation,
    200: doc.answer('The events of the pet', eventAnswerSchemas.PetEvents, [created], fields.pageHeaders),
    400: doc.invalid('query: limit must be <= 100'),
    404: doc.notFound('pet', 1),
    503: unavailable,
  },
}

const feedSchema = {
  ...doc.anySchema,
  ...beta,
  operationId: 'followEvents',
  summary: 'Follow the events as they happen (beta)',
  description:
    'The events that take effect, as server-sent events: of each pet in their order, each once the pets and orders show ' +
    'it. The answer has no end. After a break, go on with the last `id` in `Last-Event-ID`; the last events may then come ' +
    'once more, with the same `id` in `data`. While nothing happens, an `id` or a comment comes every ten seconds. ' +
    'Where the rate of the API key is limited, each hundred events that happened before count as a read; the feed then ' +
    'waits rather than ends.',
  querystring: Type.Object(
    {
      type: Type.Optional(onlyOfType),
      petId: Type.Optional(Int64Schema({ description: 'Only events of this pet' })),
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
          schema: { type: 'string', description: 'WHATWG HTML section 9.2: `data` is a CloudEvent, `event` its type' },
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
}
