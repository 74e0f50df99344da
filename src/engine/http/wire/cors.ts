import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { elementsOf } from '../values/messages.ts'

/** What pages may read of an answer beside its body. */
const exposedHeaders =
  'Consistency-Token, Deprecation, ETag, Idempotency-Replayed, Link, Location, Preference-Applied, RateLimit, ' +
  'RateLimit-Policy, Read-Model-Applied, Retry-After, Sunset, WWW-Authenticate, X-Request-Id'

/** Also what a path does not support: a page then reads the 405 instead of an error of CORS. */
const allowedMethods = 'GET, HEAD, POST, PATCH, PUT, DELETE'
const maxAgeSeconds = 3600

/** What names methods and headers (RFC 9110 section 5.6.2). */
const token = /^[\w!#$%&'*+.^|~`-]+$/

/**
 * Lets a page of one of the origins read a response (Fetch, section 3.3.3). For the answer to any request, refused ones
 * included: a page cannot read the reason otherwise.
 */
export function allowPage(
  origins: ReadonlySet<string>,
  { headers }: IncomingMessage,
  answer: OutgoingHttpHeaders,
): void {
  if (origins.size === 0) return
  answer.vary = answer.vary === undefined ? 'Origin' : `${answer.vary}, Origin`
  const { origin } = headers
  if (origin === undefined || !origins.has(origin)) return
  answer['access-control-allow-origin'] = origin
  answer['access-control-expose-headers'] = exposedHeaders
}

/** The same where the request could not be read, and so its origin is not known. Such an answer says nothing of anybody. */
export const anyPage = { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposedHeaders }

/**
 * The headers that answer a preflight (Fetch, section 3.3.2) of a page of one of the origins. Undefined for any other
 * request, and for the preflight of a page that may do nothing: both are an OPTIONS, which no path supports.
 */
export function preflightAnswer(
  origins: ReadonlySet<string>,
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
): Record<string, string | number> | undefined {
  if (method !== 'OPTIONS') return undefined
  const { origin, 'access-control-request-method': wanted, 'access-control-request-headers': names = '' } = headers
  if (origin === undefined || !origins.has(origin)) return undefined
  if (wanted === undefined || !token.test(wanted)) return undefined
  const areNames = names !== '' && elementsOf(names).every((name) => token.test(name))
  return {
    'access-control-allow-methods': allowedMethods,
    // Any header may come: what is not known here is ignored.
    ...(areNames && { 'access-control-allow-headers': names }),
    'access-control-max-age': maxAgeSeconds,
    vary: 'Access-Control-Request-Headers',
  }
}
