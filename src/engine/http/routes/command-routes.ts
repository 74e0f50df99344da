import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Handled, type MakeCommand, UnknownOutcome } from '../../commands/command-handler.ts'
import { idempotency } from '../../commands/idempotency.ts'
import { decisionOf } from '../../definition/decision.ts'
import type { Definition, NamedCommand } from '../../definition/definition.ts'
import type { Kind, NamedResource } from '../../definition/kinds.ts'
import { documentsOf } from '../../definition/shown-documents.ts'
import { Rejected } from '../../door/rejected.ts'
import { eventTime, timeOfDay } from '../../lib/clock.ts'
import { ServiceError } from '../../lib/errors/errors.ts'
import type { Int64 } from '../../lib/values/int64.ts'
import type { DocumentId } from '../../read-models/document.ts'
import { commandSchema } from '../documents/command-schemas.ts'
import { checkScope, holderOf, requireScope } from '../guards/auth.ts'
import { checkConditions, hasCondition, readConditions, tagOf } from '../values/conditions.ts'
import { readIdempotencyKey } from '../values/headers.ts'
import { admitBody } from '../values/messages.ts'
import { traceparentOfRequest } from './request-spans.ts'
import {
  addReached,
  addressOf,
  documentId,
  type Exchange,
  notFound,
  type RouteServices,
  readExchange,
  replyToCommand,
} from './resource.ts'

type Route = NamedCommand

/** A command as it was asked for. */
interface Asked {
  readonly route: Route
  readonly body: unknown
  /** The id in the path; undefined if no document can have it, or the path has none. */
  readonly document: DocumentId | undefined
  readonly key: string | undefined
}

/** The commands of the service. */
export function addCommandRoutes(app: FastifyInstance, services: RouteServices): void {
  const { definition } = services
  for (const route of definition.commands) {
    const resource = resourceOf(definition, route)
    app.route<{ Params: Readonly<Record<string, Int64>>; Body: unknown }>({
      method: route.method,
      url: route.path.slice('/v1'.length),
      schema: commandSchema(definition, route, resource),
      onRequest: [requireScope(route.scope), admitBody],
      handler: ({ params, body }, reply) => {
        const [pathId] = Object.values(params)
        return replyToRequest(services, resource, { route, pathId, body }, reply)
      },
    })
  }
}

/** The resource that a command creates one of, or changes one of. */
function resourceOf({ resources }: Definition, { creates, on, kind: { home } }: Route): NamedResource {
  const collection = creates ?? (typeof on === 'object' && 'document' in on ? on.document : home.collection)
  return resources.find((each) => each.collection === collection) ?? home
}

async function replyToRequest(
  services: RouteServices,
  resource: NamedResource,
  { route, pathId, body }: { readonly route: Route; readonly pathId: Int64 | undefined; readonly body: unknown },
  reply: FastifyReply,
): Promise<string | FastifyReply> {
  const { headers } = reply.request
  const key = route.key && readIdempotencyKey(headers['idempotency-key'])
  const conditions = readConditions(headers)
  if (pathId === undefined) checkConditions(conditions)
  // With a key, Prefer has no effect: only once the key is decided is it known what the request gets.
  const waitsAsPreferred = route.on === 'new' && key === undefined
  const exchange = readExchange(services, resource, reply, { waitsAsPreferred })
  const document = pathId === undefined ? undefined : documentId(resource.collection, pathId)
  if (pathId !== undefined && document === undefined) {
    addReached(exchange, [])
    throw notFound(exchange, pathId)
  }
  const asked: Asked = { route, body, document, key }
  const isConditional = document !== undefined && hasCondition(conditions)
  const precondition = isConditional ? (json: string) => checkConditions(conditions, tagOf(json)) : undefined
  const handled = await handle(exchange, asked, precondition)
  if (handled.outcome === 'not_found') {
    addReached(exchange, handled.reached)
    throw notFound(exchange, pathId ?? 0)
  }
  return answer(exchange, asked, handled)
}

async function handle(
  { services, resource, reply, atLeast, wait }: Exchange,
  { route, body, document, key }: Asked,
  precondition: ((json: string) => void) | undefined,
): Promise<Handled<unknown>> {
  const stream = document ?? streamOf(route, body)
  const command: MakeCommand<unknown> = ({ id, time }) => route.command({ id: document?.id ?? id, time, body })
  const { owner } = holderOf(reply.request)
  const options = {
    stream,
    owner,
    creates: route.creates,
    idempotency: route.key && key ? idempotencyOf(route, owner, key, body, stream) : undefined,
    precondition,
    traceparent: traceparentOfRequest(reply.request),
    atLeast,
    wait,
  }
  return await services
    .commands(route.kind)
    .handle(command, options)
    .catch((error: unknown) => {
      // It may exist: a client that does not retry with an Idempotency-Key can look for it.
      if (error instanceof UnknownOutcome && route.creates !== undefined && stream !== 'new')
        reply.header('location', addressOf(reply, `${resource.path}/${error.id}`))
      throw error
    })
}

/** Throws what the command is rejected with where no stream can be meant. */
function streamOf({ on, command, kind }: Route, body: unknown): string {
  const { stream, home, nameOf } = kind
  if (on === 'new') return 'new'
  if ('document' in on) throw new Error('the command is about a document, and its path names none')
  const id = on.stream(body)
  if (documentId(home.collection, id) !== undefined) return nameOf(id)
  const decision = decisionOf(stream, command({ id: 0, time: eventTime(timeOfDay()), body }), stream.initial)
  if (decision instanceof Rejected) throw ServiceError.own(decision.code, decision.message)
  throw new Error(`no stream can have the id ${id}`)
}

/** The log keeps these hashes for ever: if one changed, a request repeated after an upgrade would count as a new one. */
function idempotencyOf(
  { key, texts }: Route,
  owner: string,
  value: string,
  body: unknown,
  stream: string | DocumentId,
) {
  const scope = key?.scope?.(body) ?? [texts.operationId, ...(typeof stream === 'string' ? [stream] : [])]
  return idempotency([owner, value, ...scope], key?.content(body) ?? [])
}

function answer(
  exchange: Exchange,
  { route, body, document, key }: Asked,
  handled: Exclude<Handled<unknown>, { outcome: 'not_found' }>,
): string | FastifyReply {
  const { resource, reply } = exchange
  const { collection, path } = resource
  if (handled.outcome === 'unchanged') {
    const { document: shown, reached } = handled
    if (shown !== undefined)
      checkScope('read', reply) // all that the answer can do is show the document
    else if (document === undefined) throw new Error('nothing was done, and there is nothing to show')
    return replyToCommand(exchange, shown ?? null, reached) // null: it is removed already
  }
  const id = document?.id ?? (handled.outcome === 'replayed' ? handled.record.id : handled.id)
  if (handled.outcome === 'replayed') reply.header('idempotency-replayed', 'true')
  else if (route.on === 'new' && key === undefined) reply.header('read-model-applied', handled.isReadable ? '?1' : '?0')
  if (route.creates !== undefined) reply.code(201).header('location', addressOf(reply, `${path}/${id}`))
  const json =
    handled.outcome === 'replayed'
      ? route.key?.again({ id, time: handled.record.time }, body)
      : shownAfter(route.kind, handled, { collection, id })
  if (json === undefined) throw new Error(`the command left no document ${collection} ${id}`)
  return replyToCommand(exchange, json, handled.position)
}

/** The JSON of a document that the state shows, or that an earlier event of the same command left; null if it is removed. */
function shownAfter(
  kind: Kind,
  { state, documents }: Extract<Handled<unknown>, { outcome: 'applied' }>,
  { collection, id }: DocumentId,
): string | null | undefined {
  const isMeant = (each: DocumentId) => each.id === id && each.collection === collection
  return (documentsOf(kind, state).find(isMeant) ?? documents.find(isMeant))?.json
}
