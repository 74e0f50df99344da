import { breaksForReaders, breaksForWriters, type Schema } from './schemas.ts'

/** An OpenAPI document whose references are resolved. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
interface Operation {
  readonly operationId: string
  readonly 'x-stability'?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content & { readonly required?: boolean }
  readonly responses: Readonly<Record<string, Answer>>
}
interface Parameter {
  readonly in: string
  readonly name: string
  readonly required?: boolean
  readonly schema: Schema
}
interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}
interface Answer extends Content {
  readonly headers?: Readonly<Record<string, unknown>>
}

/** The document in a text, with what is referred to in place of each reference. */
export function readDocument(text: string): Document {
  const document = JSON.parse(text)
  function resolve(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(resolve)
    if (typeof node !== 'object' || node === null) return node
    const { $ref } = node as { $ref?: string }
    if ($ref === undefined)
      return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, resolve(value)]))
    const path = $ref.replace('#/', '').split('/')
    return resolve(path.reduce((found: Record<string, unknown>, name) => found[name] as typeof found, document))
  }
  return resolve(document) as Document
}

/** What clients of the published interface cannot do any more; operations that are not stable may change. */
export function findOpenApiBreaks(published: Document, current: Document): string[] {
  return Object.entries(published.paths).flatMap(([path, operations]) => {
    return Object.entries(operations).flatMap(([method, operation]) => {
      if (operation['x-stability'] !== undefined) return []
      const now = current.paths[path]?.[method]
      const breaks = now === undefined ? ['gone'] : operationBreaks(operation, now)
      return breaks.map((problem) => `${operation.operationId}: ${problem}`)
    })
  })
}

function operationBreaks(published: Operation, current: Operation): string[] {
  return [
    ...parameterBreaks(published.parameters ?? [], current.parameters ?? []),
    ...bodyBreaks(published, current),
    ...Object.entries(published.responses).flatMap(([status, answer]) => {
      return answerBreaks(status, answer, current.responses[status]).map((problem) => `${status}: ${problem}`)
    }),
  ]
}

function parameterBreaks(published: readonly Parameter[], current: readonly Parameter[]): string[] {
  const find = (among: readonly Parameter[], { in: place, name }: Parameter) =>
    among.find((other) => other.in === place && other.name === name)
  const nameOf = ({ in: place, name }: Parameter) => `${place} ${name}`
  const required = current.filter((one) => one.required && !find(published, one)?.required)
  const changed = published.flatMap((one) => {
    const now = find(current, one)
    const problems = now === undefined ? ['gone'] : breaksForWriters(one.schema, now.schema)
    return problems.map((problem) => `${nameOf(one)}: ${problem}`)
  })
  return [...required.map((one) => `${nameOf(one)}: required`), ...changed]
}

function bodyBreaks({ requestBody: published }: Operation, { requestBody: current }: Operation): string[] {
  if (current?.required && !published?.required) return ['body: required']
  return Object.entries(published?.content ?? {}).flatMap(([type, { schema }]) => {
    const now = current?.content?.[type]
    const problems = now === undefined ? [`no ${type}`] : breaksForWriters(schema, now.schema)
    return problems.map((problem) => `body: ${problem}`)
  })
}

/** An error may come under another status or code: clients are told to expect any. */
function answerBreaks(status: string, published: Answer, current: Answer | undefined): string[] {
  const isError = !/^[23]/.test(status)
  if (current === undefined) return isError ? [] : ['gone']
  const headers = Object.keys(published.headers ?? {}).filter((name) => !(name in (current.headers ?? {})))
  const bodies = Object.entries(published.content ?? {}).flatMap(([type, { schema }]) => {
    const now = current.content?.[type]
    const open = (from: Schema) => without(from, isError ? ['additionalProperties', 'enum'] : ['additionalProperties'])
    return now === undefined ? [`no ${type}`] : breaksForReaders(open(schema), open(now.schema))
  })
  return [...headers.map((name) => `header ${name}: gone`), ...bodies]
}

/** Clients of an answer pass over properties that they do not know. */
function without(schema: Schema, words: readonly string[]): Schema {
  return JSON.parse(JSON.stringify(schema, (key, value) => (words.includes(key) ? undefined : value)))
}
