import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { NamedResource } from '../../definition/kinds.ts'
import type { Int64 } from '../../lib/values/int64.ts'
import * as fields from '../documents/header-schemas.ts'
import { countSchema, listSchema } from '../documents/list-schemas.ts'
import { findSchema } from '../documents/schema-parts.ts'
import { requireScope } from '../guards/auth.ts'
import { replyWithError } from '../wire/error-replies.ts'
import type { FilterParameters } from './filters.ts'
import { type PageParameters, replyWithCounts, replyWithPage } from './lists.ts'
import { type RouteServices, replyWithDocument } from './resource.ts'

type Ids = Readonly<Record<string, Int64>>

/** The list of each resource, each of its documents by its id, and how many there are. */
export function addResourceRoutes(app: FastifyInstance, services: RouteServices): void {
  const onRequest = requireScope('read')
  for (const resource of services.definition.resources) {
    const url = resource.path.slice('/v1'.length)
    app.get<{ Querystring: PageParameters }>(url, { schema: listSchema(resource), onRequest }, ({ query }, reply) =>
      replyWithPage(services, resource, query, reply),
    )
    addCountRoute(app, services, resource)
    const one = `${url}/:${resource.idName}`
    const deprecation = deprecationOf(resource, app.basePath)
    app.get<{ Params: Ids }>(one, { ...findOptions(resource, deprecation), onRequest }, ({ params }, reply) =>
      replyWithDocument(services, resource, Object.values(params)[0] ?? 0, reply.headers(deprecation)),
    )
  }
}

function addCountRoute(app: FastifyInstance, services: RouteServices, resource: NamedResource): void {
  const { count } = resource
  if (count === undefined) return
  const options = { schema: countSchema(resource, count), onRequest: requireScope('read') }
  app.get<{ Querystring: FilterParameters }>(count.path.slice('/v1'.length), options, ({ query }, reply) =>
    replyWithCounts(services, resource, count.by, query, reply),
  )
}

function findOptions(resource: NamedResource, deprecation: DeprecationHeaders) {
  const schema = findSchema(resource)
  if (deprecation.deprecation === undefined) return { schema }
  const documented = { ...schema, deprecated: true, response: deprecated(schema.response, resource) }
  // Errors of a deprecated operation carry these headers too, including those of authentication.
  const errorHandler = (raised: unknown, request: FastifyRequest, reply: FastifyReply) =>
    replyWithError(raised, request, reply.headers(deprecation))
  return { schema: documented, errorHandler }
}

type DeprecationHeaders = { readonly deprecation?: string; readonly sunset?: string; readonly link?: string }

/** RFC 9745 (Deprecation), RFC 8594 (Sunset), RFC 8288 (Link), on every response. */
function deprecationOf({ path, find: { deprecated, sunset } }: NamedResource, basePath: string): DeprecationHeaders {
  if (deprecated === undefined) return {}
  return {
    deprecation: `@${Date.parse(deprecated) / 1000}`,
    ...(sunset === undefined ? {} : { sunset: new Date(sunset).toUTCString() }),
    link: `<${basePath}${path}>; rel="successor-version", <${basePath}/docs>; rel="deprecation"; type="text/html"`,
  }
}

function deprecated(responses: Record<string, { headers: object }>, resource: NamedResource) {
  const { deprecation: since, sunset, link } = deprecationOf(resource, '')
  const deprecation = {
    Deprecation: fields.header({ pattern: '^@[0-9]+$' }, 'Date since which it is deprecated (RFC 9745)', since),
    Sunset: fields.header(
      { pattern: '^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT$' },
      'Date of its removal (RFC 8594)',
      sunset,
    ),
    Link: fields.header(
      { pattern: '^<[^>]*>; rel=' },
      'Links to the successor, to the deprecation notice and to what an error means',
      link,
    ),
  }
  const also = ({ headers, ...response }: { headers: object }) => ({
    ...response,
    headers: { ...headers, ...deprecation },
  })
  // Not for `default`: ogen takes it for another answer with the same headers and body, and what it makes does not compile.
  const { default: other, ...known } = responses
  return {
    ...Object.fromEntries(Object.entries(known).map(([status, response]) => [status, also(response)])),
    default: other,
  }
}
