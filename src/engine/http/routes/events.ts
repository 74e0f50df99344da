import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Definition } from '../../definition/definition.ts'
import type { Kind } from '../../definition/kinds.ts'
import type { FeedStep } from '../../feed/event-feed.ts'
import type { Account, FeedEvent } from '../../feed/feed-batch.ts'
import type { Int64 } from '../../lib/values/int64.ts'
import type { StreamId } from '../../read-models/stored-texts.ts'
import { feedSchema, historySchema } from '../documents/event-route-schemas.ts'
import { pageLimit } from '../documents/list-schemas.ts'
import { holderOf, isStillValid, requireScope } from '../guards/auth.ts'
import { checkIfMatch, readConditions } from '../values/conditions.ts'
import { readHistoryCursor, readTokens, type TokenScope, writeHistoryCursor, writeToken } from '../values/tokens.ts'
import { jsonType } from '../wire/error-replies.ts'
import { togetherError } from './filters.ts'
import { addNext } from './lists.ts'
import { addReached, notFound, type RouteServices, readExchange } from './resource.ts'

/** The history of each stream, and the live feed of all events (both beta). */
export function addEventRoutes(app: FastifyInstance, services: RouteServices): void {
  const onRequest = requireScope('read')
  const { definition } = services
  for (const kind of definition.kinds) {
    const { path, idName } = kind.home
    app.get<{ Params: Readonly<Record<string, Int64>>; Querystring: HistoryPage }>(
      `${path.slice('/v1'.length)}/:${idName}/events`,
      { schema: historySchema(definition, kind), onRequest },
      ({ params, query }, reply) => replyWithHistory(services, kind, Object.values(params)[0] ?? 0, query, reply),
    )
  }
  // A HEAD would wait for the end of what has none.
  app.get<{ Querystring: FeedFilter }>(
    '/events',
    { schema: feedSchema(definition), onRequest, exposeHeadRoute: false, config: { isEndless: true } },
    (request, reply) => replyWithFeed(services, request.query, reply),
  )
}

interface HistoryPage {
  readonly limit?: number
  readonly cursor?: string
}

async function replyWithHistory(
  services: RouteServices,
  { home, nameOf }: Kind,
  id: Int64,
  { limit = pageLimit.default, cursor }: HistoryPage,
  reply: FastifyReply,
): Promise<string> {
  const list = `versions:${nameOf(id)}`
  const after = cursor === undefined ? undefined : readHistoryCursor(cursor, list)
  const conditions = readConditions(reply.request.headers)
  const exchange = readExchange(services, home, reply)
  const { owner } = holderOf(reply.request)
  const reader = { owner, isGone: () => reply.raw.destroyed }
  const history = await services.events.history(nameOf(id), { after, limit }, reader, exchange.atLeast)
  const { events, last, isKnown, reached } = history
  addReached(exchange, reached)
  if (!isKnown) throw notFound(exchange, id)
  checkIfMatch(conditions)
  if (last !== undefined) {
    addNext(reply, `${home.path}/${id}/events`, [
      ['limit', String(limit)],
      ['cursor', writeHistoryCursor(last, list)],
    ])
  }
  reply.type(jsonType)
  return `[${events}]`
}

interface FeedFilter {
  readonly type?: string
  readonly from?: 'start'
  /** The id of a stream, under the name that it has in paths. */
  readonly [idName: string]: unknown
}

async function replyWithFeed(
  { definition, log, events, findKey, rate }: RouteServices,
  { type, from, ...query }: FeedFilter,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const last = reply.request.headers['last-event-id']
  const beginning = from === 'start' ? [] : 'now'
  const after = last === undefined || last === '' ? beginning : readTokens(log, String(last), 'header: Last-Event-ID')
  const clientLeft = new AbortController()
  reply.raw.once('close', () => clientLeft.abort())
  const stream = streamIn(definition, query)
  const steps = await events.follow({ after, stream, type }, accountOf(reply, rate), clientLeft.signal)
  reply.type('text/event-stream')
  // Else nginx gathers before it sends, and so do proxies that compress.
  reply.headers({ 'x-accel-buffering': 'no', 'cache-control': 'no-store, no-transform' })
  const isKeyValid = () => isStillValid(reply.request, findKey)
  return reply.send(Readable.from(serverSentEvents(log, steps, isKeyValid), { objectMode: false, highWaterMark: 1 }))
}

/** Throws ServiceError invalid_request where two are asked for. */
function streamIn({ kinds }: Definition, query: Readonly<Record<string, unknown>>): StreamId | undefined {
  const [asked, other] = kinds.filter(({ home }) => query[home.idName] !== undefined)
  if (asked === undefined) return undefined
  if (other !== undefined) throw togetherError([asked.home.idName, other.home.idName])
  return asked.nameOf(String(query[asked.home.idName]))
}

/** On which the batches are read that a request causes. */
export function accountOf({ request }: FastifyReply, rate: RouteServices['rate']): Account {
  const { owner } = holderOf(request)
  return { owner, count: () => rate?.countMore('reads', owner) ?? 0 }
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
  event.sent ??= `event: ${event.type}\ndata: ${event.json.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n\n`
  return event.sent
}
