import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { notFoundCode } from '../definition/errors.ts'
import type { ApiServices } from '../http/app.ts'
import { holderOf, isStillValid, mayOperate, requireApiKey, requireScope } from '../http/auth.ts'
import { jsonType } from '../http/error-replies.ts'
import { limitInFlight } from '../http/key-limits.ts'
import { readOnlyJson } from '../http/request-values.ts'
import { documentId } from '../http/resource.ts'
import { ServiceError } from '../lib/errors.ts'
import { exactJson } from '../lib/exact-json.ts'
import { type Int64, Int64Schema } from '../lib/int64.ts'
import { operatingScope } from '../lib/operating-scope.ts'
import type { Position } from '../log/event-log.ts'
import type { Console } from './console.ts'
import { tellEvent } from './one-event.ts'
import { addPage } from './page.ts'
import { tellStory } from './stream-story.ts'
import { sampledTail } from './tail.ts'

/** What looks at the service. */
const reading = 'read'

const noQuery = Type.Object({}, { additionalProperties: false })
const Since = Type.Object({ after: Type.Optional(Type.Integer()) }, { additionalProperties: false })
const Place = Type.Object({
  partition: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
})
const Discard = Type.Object(
  { reason: Type.String({ minLength: 1, maxLength: 200, description: 'Why it is left out' }) },
  { title: 'Discard', additionalProperties: false },
)
const JobKind = Type.Object({ kind: Type.Enum(['rebuild', 'verify']) })

/** The console: its page, and what that asks for. Whoever asks needs an API key of scope `read`, and `operate` to act. */
export function addConsole(app: FastifyInstance, api: ApiServices, console: Console): void {
  const { definition } = api
  addPage(app, definition.service.title)
  void app.register(
    async (routes) => {
      readOnlyJson(routes)
      await requireApiKey(routes, api.findKey)
      limitInFlight(routes, api.maxInFlightPerKey)
      addLooks(routes, console)
      addEvents(routes, api, console)
      addTail(routes, api)
      addActions(routes, console)
    },
    { prefix: '/console/api' },
  )
}

const options = { schema: { hide: true, querystring: noQuery }, onRequest: requireScope(reading) }
const placeOptions = { ...options, schema: { ...options.schema, params: Place } }

function addLooks(app: FastifyInstance, console: Console): void {
  app.get('/status', options, (request, reply) => {
    reply.type(jsonType).header('may-operate', String(mayOperate(holderOf(request))))
    return console.status()
  })
  app.get<{ Querystring: { after?: number } }>(
    '/figures',
    { ...options, schema: { hide: true, querystring: Since } },
    async ({ query: { after = 0 } }) => console.figuresAfter(after),
  )
  app.get('/generations', options, () => console.generations())
  app.get('/projectors', options, () => console.projectors())
  app.get('/parked', options, () => console.parked())
  let runbook: string | undefined
  app.get('/runbook', options, (_request, reply) => {
    runbook ??= readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
    return reply.type('text/plain; charset=utf-8').send(runbook)
  })
}

function addEvents(app: FastifyInstance, api: ApiServices, console: Console): void {
  const { definition } = api
  const { idName } = definition.home
  app.get<{ Params: Position }>('/events/:partition/:offset', placeOptions, ({ params }) =>
    tellEvent({ ...api, ...console }, params),
  )
  app.get<{ Params: { id: Int64 } }>(
    '/streams/:id',
    { ...options, schema: { ...options.schema, params: Type.Object({ id: Int64Schema({ description: idName }) }) } },
    async (request, reply) => {
      const reader = { owner: holderOf(request).owner, isGone: () => reply.raw.destroyed }
      reply.type(jsonType)
      return exactJson(await tellStory({ ...api, ...console }, String(request.params.id), reader))
    },
  )
  const OneDocument = Type.Object(
    { path: Type.String(), id: Int64Schema({ description: 'Of the document' }) },
    { additionalProperties: false },
  )
  app.get<{ Querystring: { path: string; id: Int64 } }>(
    '/stream-of',
    { ...options, schema: { hide: true, querystring: OneDocument } },
    async ({ query: { path, id } }) => {
      const resource = definition.resources.find((each) => each.path === path)
      const known = resource && documentId(resource.collection, id)
      const found = known && (await api.readModel.find(known)).document
      if (resource === undefined) throw new ServiceError('invalid_request', `query: no resource has the path ${path}`)
      if (found === undefined)
        throw ServiceError.own(notFoundCode(resource.noun), `There is no ${resource.noun} ${id}.`)
      return { stream: found.stream }
    },
  )
}

function addTail(app: FastifyInstance, { definition, events, findKey }: ApiServices): void {
  const { idName } = definition.home
  const Filter = Type.Object(
    { type: Type.Optional(Type.String()), stream: Type.Optional(Int64Schema({ description: idName })) },
    { additionalProperties: false },
  )
  app.get<{ Querystring: { type?: string; stream?: Int64 } }>(
    '/tail',
    { ...options, schema: { hide: true, querystring: Filter }, config: { isEndless: true } },
    async (request, reply) => {
      const { type, stream } = request.query
      const left = new AbortController()
      reply.raw.once('close', () => left.abort())
      const account = { owner: holderOf(request).owner, count: () => 0 }
      const query = { after: 'now', type, stream: stream === undefined ? undefined : String(stream) } as const
      const steps = await events.follow(query, account, left.signal)
      const tail = sampledTail(steps, () => isStillValid(request, findKey))
      reply.type('text/event-stream').headers({ 'x-accel-buffering': 'no', 'cache-control': 'no-store, no-transform' })
      return reply.send(Readable.from(tail, { objectMode: false, highWaterMark: 1 }))
    },
  )
}

function addActions(app: FastifyInstance, console: Console): void {
  const acting = { ...options, onRequest: requireScope(operatingScope) }
  app.post<{ Params: { kind: 'rebuild' | 'verify' } }>(
    '/jobs/:kind',
    { ...acting, schema: { ...acting.schema, params: JobKind } },
    ({ params }, reply) => reply.code(202).send(console.start(params.kind, actorOf(reply))),
  )
  app.post<{ Params: Position; Body: { reason: string } }>(
    '/parked/:partition/:offset/discard',
    { ...acting, schema: { ...placeOptions.schema, body: Discard } },
    async ({ params, body }, reply) => await console.discard(params, body.reason, actorOf(reply)),
  )
}

/** As the audit names it. */
function actorOf(reply: FastifyReply): string {
  return `key ${holderOf(reply.request).keyId}`
}
