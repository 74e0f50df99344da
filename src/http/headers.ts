import { hash } from 'node:crypto'
import { ServiceError } from '../lib/errors.ts'

/** The tags that a condition names, without their quotes. Undefined without a condition. */
type NamedTags = readonly string[] | 'any' | undefined

const tagLength = 16 // 96 bits

/**
 * The strong entity tag of a document (RFC 9110 section 8.8.3). It is made of the text alone: one tag is one state, and a
 * state that comes back has its tag again.
 */
export function tagOf(json: string): string {
  return hash('sha256', json, 'base64url').slice(0, tagLength)
}

const tag = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*`
/** `#entity-tag`: a list may have empty elements (RFC 9110 section 5.6.1). */
const tagList = new RegExp(String.raw`^(?:${tag})?(?:,[ \t]*(?:${tag})?)*$`)

/**
 * Parses a header of RFC 9110 section 13.1. If-Match compares tags strongly, so weak ones match nothing; If-None-Match
 * compares weakly. Throws ServiceError invalid_request unless it is `*` or a list of tags.
 */
export function readCondition(name: 'If-Match' | 'If-None-Match', header: string | undefined): NamedTags {
  if (header === undefined) return undefined
  if (header === '*') return 'any'
  if (!tagList.test(header) || !header.includes('"')) {
    throw new ServiceError('invalid_request', `header: ${name} must be * or a list of entity tags in double quotes`)
  }
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)].flatMap(([, weak, text = '']) => {
    return weak && name === 'If-Match' ? [] : [text]
  })
}

export function isNamed(tag: string, named: NamedTags): boolean {
  return named === 'any' || (named?.includes(tag) ?? false)
}

/** A String of RFC 9651 section 3.3.3: printable ASCII in quotes, with a backslash before each quote and backslash. */
const quotedKey = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
/** The characters of a Token (section 3.3.4), which many clients send without quotes; a digit may come first, as in a UUID. */
const bareKey = /^[\w!#$%&'*+.^`|~:/-]+$/
const keyLengthMax = 255

/**
 * The Idempotency-Key of a request, without its quotes (draft-ietf-httpapi-idempotency-key-header-07); undefined if it
 * has none. Throws ServiceError invalid_idempotency_key, also for two headers, which Node joins to something that is
 * not a String.
 */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const text = String(header)
  const key = bareKey.test(text) ? text : quotedKey.exec(text)?.[1]?.replaceAll(/\\(.)/g, '$1')
  if (key === undefined || key.length === 0 || key.length > keyLengthMax) {
    throw new ServiceError(
      'invalid_idempotency_key',
      `header: Idempotency-Key must be one string of 1 to ${keyLengthMax} printable ASCII characters in double quotes, or a token`,
    )
  }
  return key
}

const waitSecondsMax = 10
/** RFC 7240 section 2: preferences are a list; a value is a token or a quoted string, and parameters may follow it. */
const waitForm = /(?:^|,)\s*wait\s*=\s*(?:(\d+)|"(\d+)")\s*(?:[;,]|$)/i

/** The seconds in `wait` of a Prefer header (RFC 7240 section 4.3), at most 10. A malformed preference is ignored. */
export function readPrefer(header: string | string[] | undefined): number | undefined {
  const [, token, quoted] = waitForm.exec(String(header ?? '')) ?? []
  const wanted = token ?? quoted
  return wanted === undefined ? undefined : Math.min(Number(wanted), waitSecondsMax)
}

// W3C Trace Context section 3.2: version, trace-id, parent-id, flags. Version ff and ids of zeros alone are invalid.
const traceparentForm = /^(?!ff)([\da-f]{2})-((?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16})-([\da-f]{2})(-.*)?$/
const sampledFlag = 1

/**
 * A traceparent where it is valid, in version 00; an invalid one counts as none. A later version may have more parts, and
 * flags that mean nothing here: of those only `sampled` is passed on (section 4.1).
 */
export function readTraceparent(header: string | string[] | undefined): string | undefined {
  const [text, version, ids, flags = '', more] = traceparentForm.exec(String(header)) ?? []
  if (version === '00') return more === undefined ? text : undefined
  return ids === undefined ? undefined : `00-${ids}-0${Number.parseInt(flags, 16) & sampledFlag}`
}
