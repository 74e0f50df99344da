import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { ServiceError } from '../../lib/errors/errors.ts'
import { parseExactJson } from '../../lib/values/exact-json.ts'
import { parseInt64 } from '../../lib/values/int64.ts'
import { compileCheck } from '../../lib/values/validation.ts'

/** Bytes. Checked by Content-Length first, then counted while the body arrives. */
export const bodyLimit = 16 * 1024

// Fastify matches a normalised form of the header, in which values are in quotes. RFC 8259 section 8.1: JSON between
// systems is UTF-8. Other parameters are ignored, as RFC 2045 section 5.1 demands.
const utf8Json = /^application\/(?:merge-patch\+)?json(?:; (?:charset="utf-8"|(?!charset=)[^=;]+="[^"]*"))*$/i
/** What a PATCH may be sent as (RFC 5789 section 3.1): a body that changes members is a merge patch (RFC 7396). */
export const patchTypes = ['application/json', 'application/merge-patch+json'] as const

/** The body is of another type, of none, or in another charset. */
export function unsupportedType(method: string): string {
  const types = method === 'PATCH' ? patchTypes.join(' or ') : 'application/json'
  return `The body must be ${types}, in UTF-8.`
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The routes of `app` read only bodies of JSON in UTF-8. */
export function readOnlyJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(utf8Json, { parseAs: 'buffer', bodyLimit }, readBody)
}

async function readBody(request: FastifyRequest, body: Buffer): Promise<unknown> {
  const { method, headers } = request
  if (method !== 'PATCH' && /^application\/merge-patch/i.test(headers['content-type'] ?? ''))
    throw new ServiceError('unsupported_media_type', unsupportedType(method))
  if (body.length === 0 && request.routeOptions.schema?.body === undefined) return undefined // the header alone says nothing
  if (body.length === 0) throw new ServiceError('invalid_json', 'The body is empty.')
  const text = orInvalidJson('The body is not UTF-8.', () => utf8.decode(body))
  return orInvalidJson('The body is not JSON.', () => parseExactJson(text))
}

function orInvalidJson<Value>(message: string, read: () => Value): Value {
  try {
    return read()
  } catch (cause) {
    const isTooDeep = cause instanceof RangeError // deeper than the stack
    throw new ServiceError('invalid_json', isTooDeep ? 'The body is nested too deeply.' : message, { cause })
  }
}

const partNames: Record<string, string> = { body: 'body', querystring: 'query', params: 'path' }

/**
 * Fastify's validator compiler: checks one part of a request; its error names the part and the field. Values are changed in
 * their place: if a check of headers answered with a value, Fastify would copy all headers each time that one is read.
 */
export const compileRequestCheck: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'body' }) => {
  if (httpPart === 'headers') return () => true // headers are checked where they are read
  const check = compileCheck(schema)
  const readText = httpPart === 'body' ? undefined : textReader(schema)
  return (value: unknown) => {
    const problem = readText?.(value as TextValues) ?? check(value)
    if (problem === undefined) return true
    return { error: new ServiceError('invalid_request', `${partNames[httpPart]}: ${problem}`) }
  }
}

/** Parts whose values arrive as text, or as an array of texts if a name is repeated. */
type TextValues = Record<string, unknown>

/** Replaces texts by the numbers they denote. Returns the problem with a value that cannot be read. */
function textReader({ properties = {} }: TSchema & { properties?: Record<string, TSchema> }) {
  const entries = Object.entries(properties)
  return (values: TextValues): string | undefined => {
    for (const [name, property] of entries) {
      const value = values[name]
      if (Array.isArray(value)) return `${name} is given more than once`
      if (typeof value === 'string') values[name] = readValue(value, property)
    }
    return undefined
  }
}

type Value = bigint | number | string | readonly Value[]

interface ValueSchema {
  readonly type?: string
  readonly format?: string
  readonly items?: object
  readonly maxItems?: number
}

/**
 * Text that is not exactly a decimal integer stays text; the check then refuses it. A list that is too long is read up to the
 * item that shows it, since the check tells what is wrong with each.
 */
function readValue(text: string, { type, format, items, maxItems }: ValueSchema): Value {
  if (items !== undefined) {
    const itemTexts = text.split(',', maxItems === undefined ? maxItems : maxItems + 1)
    return itemTexts.map((item) => readValue(item, items))
  }
  const integer = type === 'integer' ? parseInt64(text) : undefined
  if (integer === undefined) return text
  return format === 'int64' ? integer : Number(integer)
}
