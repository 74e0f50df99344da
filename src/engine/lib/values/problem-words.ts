import type { ErrorObject } from 'ajv'
import { formats } from './formats.ts'

/** In a schema: what a value must be, in words behind its name, where the keyword that refuses it has no words of its own. */
export const ruleKeyword = 'x-rule'
/** In a schema of an object: why it cannot have some members that one might expect, by their names. */
export const notAllowedKeyword = 'x-not-allowed'

type Schema = Readonly<Record<string, unknown>>

/** What a value must be, behind its name, by the keyword that refused it. */
const rules: Readonly<Record<string, (params: ErrorObject['params']) => string>> = {
  type: ({ type }) => `must be ${[type].flat().map(typeWord).join(' or ')}`,
  int64: () => 'must be an integer from -9223372036854775808 to 9223372036854775807',
  enum: ({ allowedValues }) => `must be one of ${allowedValues.map(valueWord).join(', ')}`,
  const: ({ allowedValue }) => `must be ${valueWord(allowedValue)}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${limit}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${limit}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${multipleOf}`,
  minLength: ({ limit }) => `must have at least ${counted(limit, 'character')}`,
  maxLength: ({ limit }) => `must have at most ${counted(limit, 'character')}`,
  minItems: ({ limit }) => `must have at least ${counted(limit, 'item')}`,
  maxItems: ({ limit }) => `must have at most ${counted(limit, 'item')}`,
  items: ({ limit }) => `must have at most ${counted(limit, 'item')}`,
  additionalItems: ({ limit }) => `must have at most ${counted(limit, 'item')}`,
  uniqueItems: () => 'must not have an item twice',
  minProperties: ({ limit }) => `must have at least ${counted(limit, 'member')}`,
  maxProperties: ({ limit }) => `must have at most ${counted(limit, 'member')}`,
  format: ({ format }) => `${formats[format]?.rule}`,
  pattern: () => 'must have the form that its schema gives',
  contains: () => 'must have an item that its schema asks for',
  not: () => 'must not be what its schema rules out',
  oneOf: () => 'must be of only one of its kinds',
  'false schema': () => 'is not allowed here',
}

/** Keywords that have only poor words of their own: those of the author come first. */
const authored: ReadonlySet<string> = new Set(['pattern', 'format', 'not', 'contains', 'anyOf', 'oneOf'])
/** Keywords of which ajv tells first why their schemas did not accept a value. */
const choosing: ReadonlySet<string> = new Set(['contains', 'anyOf', 'oneOf'])
/** Keywords of which ajv tells that something in them failed, besides what it was. */
const enclosing: ReadonlySet<string> = new Set(['if', 'propertyNames'])

interface FoundProblem {
  readonly schemaPath: string
  readonly text: string
}

/** The problems with a value, each once, in words for whoever made it. */
export function problemsOf(errors: readonly ErrorObject[]): readonly string[] {
  const problems: FoundProblem[] = []
  for (const error of errors) {
    if (enclosing.has(error.keyword)) continue
    const alternatives = takeAlternatives(problems, error)
    problems.push({ schemaPath: error.schemaPath, text: problem(error, alternatives) })
  }
  return [...new Set(problems.map(({ text }) => text))]
}

function takeAlternatives(problems: FoundProblem[], { keyword, schemaPath }: ErrorObject): readonly string[] {
  if (!choosing.has(keyword)) return []
  const before = problems.findLastIndex((each) => !each.schemaPath.startsWith(`${schemaPath}/`))
  return problems.splice(before + 1).map(({ text }) => text)
}

function problem(error: ErrorObject, alternatives: readonly string[]): string {
  const { keyword, params, parentSchema, message } = error
  const name = nameOf(error)
  const rule = authored.has(keyword) ? parentSchema?.[ruleKeyword] : undefined
  if (rule !== undefined) return `${name} ${rule}`
  switch (keyword) {
    case 'required':
      return `${params.missingProperty} is required`
    case 'dependencies':
      return `${params.missingProperty} is required with ${params.property}`
    case 'additionalProperties':
      return notAllowed(params.additionalProperty, parentSchema)
    case 'anyOf':
    case 'oneOf':
      if (!params.passingSchemas) return either(name, alternatives)
  }
  return `${name} ${rules[keyword]?.(params) ?? message}`
}

const alternativesShownMax = 5

/** The subject once, where it is the same. */
function either(name: string, alternatives: readonly string[]): string {
  const [first = '', ...others] = [...new Set(alternatives)].slice(0, alternativesShownMax)
  const subject = first.startsWith(`${name} `) ? `${name} ` : ''
  return [first, ...others.map((text) => (text.startsWith(subject) ? text.slice(subject.length) : text))].join(', or ')
}

function nameOf({ instancePath, propertyName }: ErrorObject): string {
  if (propertyName !== undefined) return `the name ${JSON.stringify(propertyName)}`
  return instancePath.slice(1).replaceAll('/', '.') || 'the value'
}

function notAllowed(member: string, schema: Schema | undefined): string {
  const reasons = schema?.[notAllowedKeyword] as Readonly<Record<string, string>> | undefined
  const reason = reasons !== undefined && Object.hasOwn(reasons, member) ? `: ${reasons[member]}` : ''
  return `${JSON.stringify(member)} is not allowed here${reason}`
}

function typeWord(type: string): string {
  return type === 'boolean' ? 'true or false' : type
}

function valueWord(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
}

function counted(limit: number, noun: string): string {
  return limit === 1 ? `one ${noun}` : `${limit} ${noun}s`
}
