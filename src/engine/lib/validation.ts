import { createRequire } from 'node:module'
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { isInt64 } from './int64.ts'

/** RFC 3339. */
const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i

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
  })
  ajv.addKeyword({ keyword: 'int64', schemaType: 'boolean', validate: (_: boolean, value: unknown) => isInt64(value) })
  ajv.addVocabulary([notAllowedKeyword, 'x-stability', 'style', 'explode']) // these are for people and generators
  ajv.addFormat('int64', true) // with a maximum, below 2^53 here, ajv's own integer check is exact
  ajv.addFormat('well-formed', (text: string) => text.isWellFormed())
  ajv.addFormat('date-time', (text: string) => dateTime.test(text) && !Number.isNaN(Date.parse(text)))
  return ajv
}

let ajv: Ajv | undefined

const problemsShownMax = 5

/**
 * A check that returns the problem with a value, in words for the caller, or undefined if there is none. It is compiled
 * when it is first used: to compile all would take a fifth of a start.
 */
export function compileCheck(schema: TSchema): (value: unknown) => string | undefined {
  let validate: ValidateFunction | undefined
  return (value) => {
    validate ??= compile(schema)
    return validate(value) ? undefined : describe(validate.errors ?? [])
  }
}

function compile(schema: TSchema): ValidateFunction {
  ajv ??= newAjv()
  return ajv.compile(withExactIntegers(schema) as TSchema)
}

function withExactIntegers(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withExactIntegers)
  if (typeof schema !== 'object' || schema === null) return schema
  const node = schema as Record<string, unknown>
  if (node.format === 'int64' && node.maximum === undefined) return { int64: true }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withExactIntegers(value)]))
}

function describe(errors: readonly ErrorObject[]): string {
  const problems = [...new Set(errors.map(problem))]
  const more = problems.length - problemsShownMax
  return problems.slice(0, problemsShownMax).join('; ') + (more > 0 ? `; and ${more} more` : '')
}

function problem({ instancePath, keyword, params, message, parentSchema }: ErrorObject): string {
  const name = instancePath.slice(1).replaceAll('/', '.') || 'the value'
  switch (keyword) {
    case 'required':
      return `${params.missingProperty} is required`
    case 'additionalProperties':
      return notAllowed(params.additionalProperty, parentSchema)
    case 'minProperties':
      return `${name} must have at least ${params.limit === 1 ? 'one member' : `${params.limit} members`}`
    case 'enum':
      return `${name} must be one of ${params.allowedValues.join(', ')}`
    case 'type':
      return `${name} must be ${params.type === 'boolean' ? 'true or false' : params.type}`
    case 'int64':
      return `${name} must be an integer from -9223372036854775808 to 9223372036854775807`
    case 'pattern':
    case 'format':
      return `${name} ${parentSchema?.description ? `must be ${parentSchema.description}` : message}`
    default:
      return `${name} ${message}`
  }
}

/** In a schema of an object: why it cannot have some members that one might expect, by their names. */
const notAllowedKeyword = 'x-not-allowed'

function notAllowed(member: string, schema: Readonly<Record<string, unknown>> | undefined): string {
  const reasons = schema?.[notAllowedKeyword] as Readonly<Record<string, string>> | undefined
  const reason = reasons !== undefined && Object.hasOwn(reasons, member) ? `: ${reasons[member]}` : ''
  return `${JSON.stringify(member)} is not allowed here${reason}`
}
