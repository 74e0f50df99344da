import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { ServiceError } from '../lib/errors.ts'
import { parseInt64 } from '../lib/int64.ts'
import { compileCheck } from '../lib/validation.ts'

const partNames: Record<string, string> = { body: 'body', querystring: 'query', params: 'path' }

/** Fastify's validator compiler: one check of one part of a request, whose error names the part and the field. */
export const compileRequestCheck: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'body' }) => {
  if (httpPart === 'headers') return (value: unknown) => ({ value }) // each is checked where it is read
  const check = compileCheck(schema)
  const readText = httpPart === 'body' ? undefined : textReader(schema)
  return (value: unknown) => {
    const problem = readText?.(value as TextValues) ?? check(value)
    if (problem === undefined) return { value }
    return { error: new ServiceError('invalid_request', `${partNames[httpPart]}: ${problem}`) }
  }
}

/** Where values come as text, and as an array of texts where a name is repeated. */
type TextValues = Record<string, unknown>
interface PropertySchema {
  readonly type?: string
  readonly format?: string
}

/** Puts numbers in the place of texts that denote them. Returns what is wrong with a value that cannot be read. */
function textReader(schema: TSchema): (values: TextValues) => string | undefined {
  const { properties = {} } = schema as { properties?: Record<string, PropertySchema> }
  const names = Object.keys(properties)
  return (values) => {
    for (const name of names) {
      const value = values[name]
      if (Array.isArray(value)) return `${name} is given more than once`
      if (typeof value === 'string') values[name] = readValue(value, properties[name])
    }
    return undefined
  }
}

/** Text that is not exactly a decimal integer stays text, for the check to refuse. */
function readValue(text: string, property: PropertySchema | undefined): bigint | number | string {
  if (property?.type !== 'integer') return text
  const integer = parseInt64(text)
  if (integer === undefined) return text
  return property.format === 'int64' ? integer : Number(integer)
}
