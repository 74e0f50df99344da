import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../lib/errors.ts'
import { parseExactJson } from '../lib/exact-json.ts'

/** Bytes. Checked by Content-Length before, and by count while the body arrives. */
export const bodyBytesMax = 16 * 1024

// Fastify matches the header in a normalised form. RFC 8259 section 8.1: JSON between systems is UTF-8.
const utf8Json = /^application\/json(?:; charset="utf-8")?$/i

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** JSON in UTF-8 is the only kind of body that the routes of `app` read. */
export function readOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(utf8Json, { parseAs: 'buffer', bodyLimit: bodyBytesMax }, (_request, body, done) => {
    try {
      done(null, parseBody(body as Buffer))
    } catch (error) {
      done(error as ServiceError)
    }
  })
}

function parseBody(body: Buffer): unknown {
  if (body.length === 0) throw new ServiceError('invalid_json', 'The body is empty.')
  const text = decode(body)
  try {
    return parseExactJson(text)
  } catch (cause) {
    // A SyntaxError, or a RangeError where nesting is deeper than the stack.
    throw new ServiceError('invalid_json', 'The body is not JSON.', { cause })
  }
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch (cause) {
    throw new ServiceError('invalid_json', 'The body is not UTF-8.', { cause })
  }
}
