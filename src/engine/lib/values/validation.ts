import { createRequire } from 'node:module'
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { formats } from './formats.ts'
import { isInt64 } from './int64.ts'
import { notAllowedKeyword, problemsOf, ruleKeyword } from './problem-words.ts'

/**
 * Schemas are written as they are published (JSON Schema as in OpenAPI 3.1). Only one thing is stricter when ajv
 * compiles them: `format: int64` is exact, see decision 0004. To check them by the schema of schemas would take longer than
 * all else; ajv itself refuses a keyword that it does not know, or whose value is of another type.
 */
function newAjv(): Ajv {
  const { Ajv } = createRequire(import.meta.url)('ajv') as typeof import('ajv')
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    strict: true,
    allowUnionTypes: true,
    meta: false,
    validateSchema: false,
    code: { optimize: false }, // a check is as fast without, and a start some 15 ms shorter
  })
  ajv.addKeyword({ keyword: 'int64', schemaType: 'boolean', validate: (_: boolean, value: unknown) => isInt64(value) })
  ajv.addKeyword({ keyword: ruleKeyword, schemaType: 'string' })
  ajv.addKeyword({ keyword: notAllowedKeyword, schemaType: 'object' })
  ajv.addVocabulary(['x-stability', 'style', 'explode']) // these are for people and generators
  ajv.addFormat('int64', true) // with a maximum, below 2^53 here, ajv's own integer check is exact
  for (const [name, { check }] of Object.entries(formats)) ajv.addFormat(name, check)
  return ajv
}

let ajv: Ajv | undefined

const problemsShownMax = 5
/** More are only counted: a body of 16 KiB may have some thousand. */
const errorsDescribedMax = 100

/**
 * A check that returns the problem with a value, in words for the caller, or undefined if there is none. It is compiled
 * when it is first used: to compile all would take a fifth of a start. A schema that is none is refused then.
 */
export function compileCheck(schema: TSchema): (value: unknown) => string | undefined {
  let validate: ValidateFunction | undefined
  return (value) => {
    validate ??= compiled(schema)
    return validate(value) ? undefined : describe(validate.errors ?? [])
  }
}

/** Many checks are of one schema: a start needs each three times. */
const known = new WeakMap<TSchema, ValidateFunction>()

function compiled(schema: TSchema): ValidateFunction {
  const validate = known.get(schema) ?? compile(schema)
  known.set(schema, validate)
  return validate
}

function compile(schema: TSchema): ValidateFunction {
  ajv ??= newAjv()
  try {
    return ajv.compile(withExactIntegers(schema) as TSchema)
  } catch (error) {
    throw explained(error as Error)
  }
}

/** What ajv says of a format that it does not know: it means that it would check nothing if it were less strict. */
const formatIgnored = /^unknown format "(.*)" ignored in schema at path "#\/?(.*)"$/s

function explained(error: Error): Error {
  const [, format, path] = formatIgnored.exec(error.message) ?? []
  if (format === undefined) return error
  const known = ['int64', ...Object.keys(formats)].join(', ')
  return new Error(`unknown format "${format}"${path ? ` at ${path}` : ''}: the formats are ${known}`, { cause: error })
}

function withExactIntegers(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withExactIntegers)
  if (typeof schema !== 'object' || schema === null) return schema
  const node = schema as Record<string, unknown>
  if (node.format === 'int64' && node.maximum === undefined) return { int64: true }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withExactIntegers(value)]))
}

function describe(errors: readonly ErrorObject[]): string {
  const problems = problemsOf(errors.slice(0, errorsDescribedMax))
  const more = problems.length - problemsShownMax + Math.max(0, errors.length - errorsDescribedMax)
  return problems.slice(0, problemsShownMax).join('; ') + (more > 0 ? `; and ${more} more` : '')
}
