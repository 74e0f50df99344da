/*
 * The headers of requests and responses, as the document has them. Requests are checked where a header is read, by the
 * same forms; test/engine/http/header-schemas.unit.test.ts holds the two together.
 */

import { parameters } from '../values/headers.ts'

/** A header of a request or of a response. */
export const header = (form: object, description: string, example?: string) => ({
  type: 'string',
  ...form,
  description,
  ...(example === undefined ? {} : { examples: [example] }),
})

/** A list with one element at least; empty ones do not count (RFC 9110 section 5.6.1). */
function listOf(element: string): string {
  return String.raw`(,[ \t]*)*${element}(,[ \t]*(${element})?)*`
}

/** A text that only the service understands. */
const opaque = '[A-Za-z0-9_-]+'
/** All headers of a request together have 16 KiB. */
const headerLengthMax = 16 * 1024
export const cursorForm = { pattern: `^${opaque}$`, minLength: 1, maxLength: 512 }
const tokenForm = { pattern: `^${opaque}$`, minLength: 1, maxLength: headerLengthMax }
const tokensPattern = String.raw`[ \t]*${listOf(String.raw`${opaque}[ \t]*`)}`
const tokensForm = { ...tokenForm, pattern: `^${tokensPattern}$` }
/** An empty one counts as none: clients send it before they have one. */
const lastIdForm = { pattern: `^(${tokensPattern})?$`, maxLength: headerLengthMax }
const keyForm = {
  pattern: String.raw`^("([ !#-\[\]-~]|\\["\\]){1,255}"${parameters}|[A-Za-z0-9_!#$%&'*+.^${'`'}|~:/-]{1,255})$`,
  minLength: 1,
  maxLength: headerLengthMax,
}
const tagForm = { pattern: String.raw`^(W/)?"[^\s"]+"$`, minLength: 3, maxLength: 128 }
const tagsForm = {
  pattern: String.raw`^(\*|${listOf(String.raw`(W/)?"[!#-~\x80-\xff]*"[ \t]*`)})$`,
  minLength: 1,
  maxLength: headerLengthMax,
}
const pathForm = { pattern: '^/', maxLength: 2048 }

const token = 'ZTNiMDdiZmYtZjdiMS00YmZhLTkyYTctN2VmZmJlOThhNTQxOjA6Mjo3ZjUyNDA0Yg'
const tag = '"bVYjTT3hrGYEnq5v"'
const condition = (what: string) => header(tagsForm, `\`*\` or a list of entity tags: ${what} (RFC 9110)`)
const tokens = 'One or several tokens from earlier answers, separated by commas'

/** Optional headers of requests. They have no examples: viewers would send those, and no token, tag or key of ours fits. */
export const requestHeaders = {
  idempotencyKey: (what: string) => ({
    'Idempotency-Key': header(
      keyForm,
      '1 to 255 printable ASCII characters in double quotes, or a token (RFC 9651) of the same length without them. ' +
        `All requests of one API key with the same one ${what}.`,
    ),
  }),
  ifMatch: { 'If-Match': condition('412 unless one of them is the current tag') },
  ifNoneMatch: { 'If-None-Match': condition('304 if one of them is the current tag') },
  consistency: (awaited = 'the answer includes what the `Consistency-Token` stands for') => ({
    'Consistency-Token': header(tokensForm, `${tokens}: the answer is at least as new as all of them.`),
    Prefer: header(
      { maxLength: headerLengthMax }, // no pattern: what is unknown is ignored (RFC 7240 section 2)
      `\`wait=N\` waits up to N seconds, 0 to 10, until ${awaited} (RFC 7240). The default is one second.`,
    ),
  }),
  lastEventId: {
    'Last-Event-ID': header(
      lastIdForm,
      'The last `id` that came, or a `Consistency-Token`: begins behind what it stands for',
    ),
  },
}
export const headers = (properties: object) => ({ type: 'object', properties })

/** Headers of responses. */
const responseHeaders = {
  token: (what: string) => ({
    'Consistency-Token': header(tokenForm, `Pass it to requests that must see ${what}, on any instance`, token),
  }),
  etag: {
    ETag: header(
      tagForm,
      'Identifies this state: no other has it, and a state that comes back has it again (RFC 9110)',
      tag,
    ),
  },
  replayed: {
    'Idempotency-Replayed': header({ pattern: '^true$' }, '`true` if this repeats the answer to an earlier request'),
  },
  preferenceApplied: {
    'Preference-Applied': header({ pattern: '^wait=([0-9]|10)$' }, '`wait=N`, if the request said how long to wait'),
  },
}
/** For any GET of documents. */
export const readHeaders = {
  ...responseHeaders.token('nothing older than this answer; sent if the request had one'),
  ...responseHeaders.preferenceApplied,
}
/** For a GET of one document. */
export const taggedHeaders = { ...responseHeaders.etag, ...readHeaders }
/** For a GET of a page. */
export const pageHeaders = {
  Link: header({ pattern: '^<[^>]*>; rel="next"$' }, 'The next page, if there is one (RFC 8288): `<…>; rel="next"`'),
  ...readHeaders,
}
export const location = (what: string, path: string) => ({
  Location: header(pathForm, `The path of the ${what}`, path),
})
export const commandHeaders = (what: string, more: object = {}) => ({
  ...responseHeaders.etag,
  ...responseHeaders.token(`this ${what}`),
  ...more,
  ...responseHeaders.preferenceApplied,
})
export const removedHeaders = { ...responseHeaders.token('this change'), ...responseHeaders.preferenceApplied }
export const createdHeaders = (noun: string, path: string, more: object = {}) => ({
  ...location(`new ${noun}`, path),
  ...commandHeaders(noun, { ...responseHeaders.replayed, ...more }),
})

export const retryAfter = {
  'Retry-After': { type: 'integer', minimum: 0, description: 'Seconds to wait before the next attempt' },
}
export const challenge = (more: string) => header({ pattern: '^Bearer ' }, `\`Bearer realm="…"\`, ${more}`)
