import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Definition } from '../definition/definition.ts'
import { listed } from '../definition/words.ts'
import { notFoundCode } from '../door/errors.ts'
import type { ApiServices } from '../http/app.ts'
import { holderOf, isStillValid, mayOperate, requireApiKey, requireScope } from '../http/guards/auth.ts'
import { limitRequests } from '../http/guards/key-limits.ts'
import { accountOf } from '../http/routes/events.ts'
import { documentId } from '../http/routes/resource.ts'
import { readOnlyJson } from '../http/values/request-values.ts'
import { readTokens, writeToken } from '../http/values/tokens.ts'
import { jsonType } from '../http/wire/error-replies.ts'
import { ServiceError } from '../lib/errors/errors.ts'
import { operatingScope } from '../lib/operating/operating-scope.ts'
import { exactJson } from '../lib/values/exact-json.ts'
import { type Int64, Int64Schema } from '../lib/values/int64.ts'
import type { Position } from '../log/event-log.ts'
import { runbookOf, sectionOf } from '../operations/runbook.ts'
import type { StreamId } from '../read-models/stored-texts.ts'
import type { Answers } from './answers.ts'
import type { Console } from './console.ts'
import { listsOf } from './lists.ts'
import { tellEvent } from './one-event.ts'
import { addPage } from './page.ts'
import { tellStory } from './stream-story.ts'
import { sampledTail } from './tail.ts'

/** What looks at the service. */
const reading = 'read'

const noQuery = Type.Object({}, { additionalProperties: false })
const Heading = Type.Object({ heading: Type.Optional(Type.String()) }, { additionalProperties: false })
const Since = Type.Object({ after: Type.Optional(Type.Integer()) }, { additionalProperties: false })
const Place = Type.Object({
  partition: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
})
const Discard = Type.Object(
  { reason: Type.String({ minLength: 1, maxLength: 200, description: 'Why it is left out' }) },
  { title: 'Discard', additionalProperties: false },
)
const StreamName = Type.String({ maxLength: 128, description: 'The name of a stream' })
const JobKind = Type.Object({ kind: Type.Enum(['rebuild', 'verify']) })

/** The console: its page, and what that asks for. Whoever asks needs an API key of scope `read`, and `operate` to act. */
export function addConsole(app: FastifyInstance, api: ApiServices, console: Console): void {
  const { definition } = api
  addPage(app, definition.service.title)
  void app.register(
    async (routes) => {
      readOnlyJson(routes)
      await requireApiKey(routes, api.findKey)
      limitRequests(routes, api)
      addLooks(routes, api, console)
      addRunbook(routes, api)
      addEvents(routes, api, console)
      addLatest(routes, api, console)
      addActions(routes, console)
    },
    { prefix: '/console/api' },
  )
}

const options = { schema: { hide: true, querystring: noQuery }, onRequest: requireScope(reading) }
const placeOptions = { ...options, schema: { ...options.schema, params: Place } }

function addLooks(app: FastifyInstance, { definition }: ApiServices, console: Console): void {
  app.get('/status', options, (request, reply) => {
    reply.type(jsonType).header('may-operate', String(mayOperate(holderOf(request))))
    return console.status()
  })
  app.get<{ Querystring: { after?: number }; Reply: Answers['figures?'] }>(
    '/figures',
    { ...options, schema: { hide: true, querystring: Since } },
    async ({ query: { after = 0 } }) => console.figuresAfter(after),
  )
  app.get<{ Reply: Answers['generations'] }>('/generations', options, () => console.generations())
  app.get<{ Reply: Answers['projectors'] }>('/projectors', options, () => console.projectors())
  app.get<{ Reply: Answers['published'] }>('/published', options, () => console.published())
  app.get<{ Reply: Answers['parked'] }>('/parked', options, () => console.parked())
  app.get<{ Reply: Answers['lists'] }>('/lists', options, async () => listsOf(definition.resources))
}

/** What operators meet, and what to do about it: all of it, or what is under a heading. */
function addRunbook(app: FastifyInstance, { definition }: ApiServices): void {
  app.get<{ Querystring: { heading?: string }; Reply: Answers['runbook?'] }>(
    '/runbook',
    { ...options, schema: { hide: true, querystring: Heading } },
    async ({ query: { heading } }, reply) => {
      const page = runbookOf(definition)
      const text = heading === undefined ? page : sectionOf(page, heading)
      if (text === undefined) throw new ServiceError('invalid_request', 'query: the runbook has no such heading')
      return reply.type('text/plain; charset=utf-8').send(text)
    },
  )
}

function addEvents(app: FastifyInstance, api: ApiServices, console: Console): void {
  const { definition } = api
  app.get<{ Params: Position; Reply: Answers['events/'] }>('/events/:partition/:offset', placeOptions, ({ params }) =>
    tellEvent({ ...api, ...console }, params),
  )
  app.get<{ Params: { name: string } }>(
    '/streams/:name',
    { ...options, schema: { ...options.schema, params: Type.Object({ name: StreamName }) } },
    async (request, reply) => {
      const reader = { owner: holderOf(request).owner, isGone: () => reply.raw.destroyed }
      reply.type(jsonType)
      const story: Answers['streams/'] = await tellStory(
        { ...api, ...console },
        streamNamed(definition, request.params.name),
        reader,
      )
      return exactJson(story)
    },
  )
  const OneDocument = Type.Object(
    { path: Type.String(), id: Int64Schema({ description: 'Of the document' }) },
    { additionalProperties: false },
  )
  app.get<{ Querystring: { path: string; id: Int64 }; Reply: Answers['stream-of?'] }>(
    '/stream-of',
    { ...options, schema: { hide: true, querystring: OneDocument } },
    async (request) => {
      const { path, id } = request.query
      const resource = definition.resources.find((each) => each.path === path)
      const known = resource && documentId(resource.collection, id)
      const found = known && (await api.readModel.find(known, undefined, holderOf(request).owner)).document
      if (resource === undefined) throw new ServiceError('invalid_request', `query: no resource has the path ${path}`)
      if (found === undefined)
        throw ServiceError.own(notFoundCode(resource.noun), `There is no ${resource.noun} ${id}.`)
      return { stream: found.stream }
    },
  )
}

/** The events of now, and those before them. */
function addLatest(app: FastifyInstance, { definition, log, rate, findKey }: ApiServices, console: Console): void {
  const filters = { type: Type.Optional(Type.String()), stream: Type.Optional(StreamName) }
  const Filter = Type.Object(filters, { additionalProperties: false })
  const Before = Type.Object({ ...Filter.properties, before: Type.String() }, { additionalProperties: false })
  app.get<{ Querystring: Filter }>(
    '/tail',
    { ...options, schema: { hide: true, querystring: Filter }, config: { isEndless: true } },
    async (request, reply) => {
      const left = new AbortController()
      reply.raw.once('close', () => left.abort())
      const steps = await console.follow(filterOf(definition, request.query), accountOf(reply, rate), left.signal)
      const isKeyValid = () => isStillValid(request, findKey)
      const tail = sampledTail(steps, isKeyValid, (positions) => writeToken(log, positions))
      reply.type('text/event-stream').headers({ 'x-accel-buffering': 'no', 'cache-control': 'no-store, no-transform' })
      return reply.send(Readable.from(tail, { objectMode: false, highWaterMark: 1 }))
    },
  )
  app.get<{ Querystring: Filter & { before: string } }>(
    '/events',
    { ...options, schema: { hide: true, querystring: Before } },
    async ({ query }, reply) => {
      const filter = filterOf(definition, query)
      const upTo = readTokens(log, query.before, 'query: before')
      const reader = { ...accountOf(reply, rate), isGone: () => reply.raw.destroyed }
      const found = await console.earlier({ upTo, ...filter }, reader)
      const before = found.upTo.length === 0 ? null : `"${writeToken(log, found.upTo)}"`
      reply.type(jsonType)
      return `{"before":${before},"events":[${found.events.map(({ json }) => json)}]}`
    },
  )
}

interface Filter {
  readonly type?: string
  readonly stream?: string
}

function filterOf(definition: Definition, { type, stream }: Filter) {
  return { type, stream: stream === undefined ? undefined : streamNamed(definition, stream) }
}

/** Throws ServiceError invalid_request of what is no name that a document shows. */
function streamNamed({ names, kinds }: Definition, name: string): StreamId {
  if (names.documentOf(name) !== undefined) return name
  const forms = kinds.map(({ nameOf }) => nameOf('<id>'))
  throw new ServiceError('invalid_request', `a stream is named ${listed(forms, 'or')}`)
}

function addActions(app: FastifyInstance, console: Console): void {
  const acting = { ...options, onRequest: requireScope(operatingScope) }
  app.post<{ Params: { kind: 'rebuild' | 'verify' }; Reply: Answers['jobs/'] }>(
    '/jobs/:kind',
    { ...acting, schema: { ...acting.schema, params: JobKind } },
    ({ params }, reply) => {
      reply.code(202)
      return console.start(params.kind, actorOf(reply))
    },
  )
  app.post<{ Params: Position; Body: { reason: string }; Reply: Answers['parked/'] }>(
    '/parked/:partition/:offset/discard',
    { ...acting, schema: { ...placeOptions.schema, body: Discard } },
    async ({ params, body }, reply) => await console.discard(params, body.reason, actorOf(reply)),
  )
}

/** As the audit names it. */
function actorOf(reply: FastifyReply): string {
  return `key ${holderOf(reply.request).keyId}`
}
