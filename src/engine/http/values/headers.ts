import { ServiceError } from '../../lib/errors/errors.ts'

/** A String of RFC 9651 section 3.3.3: printable ASCII in quotes, with a backslash before each quote and backslash. */
const string = String.raw`"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"`
/** The pattern of parameters (section 3.1.2), which may follow it and mean nothing here. */
export const parameters = String.raw`(?:; *[a-z*][\w.*-]*(?:=(?:${string}|[\w!#$%&'*+.^|~:/=?@\x60-]+))?)*`
const quotedKey = new RegExp(`^(${string})${parameters}$`)
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
  const key = bareKey.test(text) ? text : quotedKey.exec(text)?.[1]?.slice(1, -1).replaceAll(/\\(.)/g, '$1')
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
const waitForm = /(?:^|,)\s*wait\s*=\s*(\d+)\s*(?:[;,]|$)/i
/** One without an end takes all that follows. */
const quotedString = /"((?:[^"\\]|\\.)*)("?)/g

/** The seconds in `wait` of a Prefer header (RFC 7240 section 4.3), at most 10. A malformed preference is ignored. */
export function readPrefer(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined
  // What is in quotes may look like a preference.
  const text = String(header).replaceAll(quotedString, (_, quoted, end) =>
    end === '"' && /^\d+$/.test(quoted) ? quoted : '""',
  )
  const [, wanted] = waitForm.exec(text) ?? []
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
