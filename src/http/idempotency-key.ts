import { ServiceError } from '../lib/errors.ts'

/** A String of RFC 9651 section 3.3.3: printable ASCII in quotes, in which a backslash stands before quote and backslash. */
const stringForm = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
/** The characters of a Token (section 3.3.4), which many clients send without quotes; a digit may come first, as in a UUID. */
const bareForm = /^[\w!#$%&'*+.^`|~:/-]+$/
const lengthMax = 255

/**
 * The Idempotency-Key of a request, without its quotes (draft-ietf-httpapi-idempotency-key-header-07); undefined where it
 * has none. Throws ServiceError invalid_idempotency_key; so do two headers, which Node joins to something that is no String.
 */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const text = String(header)
  const key = bareForm.test(text) ? text : stringForm.exec(text)?.[1]?.replaceAll(/\\(.)/g, '$1')
  if (key === undefined || key.length === 0 || key.length > lengthMax) {
    throw new ServiceError(
      'invalid_idempotency_key',
      `header: Idempotency-Key must be one string of 1 to ${lengthMax} printable ASCII characters in double quotes, or a token`,
    )
  }
  return key
}
