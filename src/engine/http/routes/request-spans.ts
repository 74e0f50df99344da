import { type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readSpanContext, type Tracing, traceparentOf } from '../../lib/operating/tracing.ts'
import { readTraceparent } from '../values/headers.ts'
import { cut } from '../values/messages.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined while nothing is traced. */
    span: Span | undefined
  }
}

/** A span for each request to the routes of `app`, which goes on with the trace of its client. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  app.decorateRequest('span', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    const span = startSpan(request, tracing)
    request.span = span
    reply.raw.once('close', () => endSpan(span, reply)) // also if the client leaves first
    done()
  })
}

/** What an event of this request carries as its traceparent: the request's span; if nothing is traced, its header. */
export function traceparentOfRequest({ span, headers }: FastifyRequest): string | undefined {
  return span === undefined ? readTraceparent(headers.traceparent) : traceparentOf(span)
}

/** Attributes follow the semantic conventions for HTTP servers. */
function startSpan(request: FastifyRequest, tracing: Tracing): Span {
  const { method, routeOptions, protocol, headers } = request
  const { url: route = '' } = routeOptions
  const [path = '', query] = request.url.split(/\?(.*)/s, 2)
  const { 'user-agent': userAgent } = headers
  const attributes = {
    'http.request.method': method,
    'http.route': route,
    'url.scheme': protocol,
    'url.path': cut(path),
    'url.query': query && cut(query),
    'user_agent.original': userAgent && cut(userAgent),
  }
  const parent = readSpanContext(readTraceparent(headers.traceparent))
  return tracing.start(`${method} ${route}`, parent, { kind: SpanKind.SERVER, attributes })
}

function endSpan(span: Span, { raw: { headersSent, statusCode } }: FastifyReply): void {
  if (headersSent) span.setAttribute('http.response.status_code', statusCode)
  else span.setAttribute('error.type', 'client_left')
  if (headersSent && statusCode >= 500) {
    span.setAttribute('error.type', String(statusCode)).setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}
