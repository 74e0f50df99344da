import fc from 'fast-check'
import { anyCharacter } from '../lib/any-character.ts'

type Schema = Readonly<Record<string, unknown>>

/** An OpenAPI document, as far as requests and answers are made of it. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly servers: readonly { readonly url: string }[]
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}
export interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >
}

export interface RandomRequest {
  readonly operation: Operation
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/**
 * Requests for the operations of the document: many that are right, many that are nearly so, and some that are wild. `ids`
 * are of pets and orders that are there.
 */
export function randomRequests(document: OpenApi, ids: readonly number[]): fc.Arbitrary<RandomRequest> {
  const known = fc.constantFrom(...ids.map(String))
  const base = document.servers[0]?.url ?? ''
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  return fc.constantFrom(...operations).chain(({ path, method, operation }) => {
    const { parameters = [], requestBody } = operation
    const of = (place: string, make: (name: string, schema: Schema) => fc.Arbitrary<string | undefined>) =>
      fc.record(
        Object.fromEntries(parameters.filter((p) => p.in === place).map((p) => [p.name, make(p.name, p.schema)])),
      )
    const schema = requestBody?.content['application/json'].schema
    return fc
      .record({
        inPath: of('path', (_name, part) => textOf(resolve(document, part), known)),
        inQuery: of('query', (_name, part) => seldom(textOf(resolve(document, part), known))),
        more: fc.oneof(
          { weight: 30, arbitrary: fc.constant(undefined) },
          { weight: 1, arbitrary: fc.tuple(wildText, wildText) },
        ),
        inHeaders: of('header', (_name, part) => seldom(headerText(part))),
        body: schema === undefined ? fc.constant(undefined) : bodyOf(resolve(document, schema), document, known),
        type: fc.oneof(
          { weight: 30, arbitrary: fc.constant('application/json') },
          { weight: 1, arbitrary: headerWild },
        ),
      })
      .map(({ inPath, inQuery, more, inHeaders, body, type }) => {
        const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name) => encodeURIComponent(inPath[name] ?? ''))
        const asked = Object.entries(inQuery).filter((pair): pair is [string, string] => pair[1] !== undefined)
        const query = new URLSearchParams([...asked, ...(more === undefined ? [] : [more])]).toString()
        const given = Object.fromEntries(Object.entries(inHeaders).filter(([, value]) => value !== undefined))
        return {
          operation,
          method,
          path: `${base}${filled}${query === '' ? '' : `?${query}`}`,
          headers: { ...(body === undefined ? {} : { 'content-type': type }), ...given } as Record<string, string>,
          body,
        }
      })
  })
}

export function resolve(document: OpenApi, schema: Schema): Schema {
  const name = String(schema.$ref ?? '')
    .split('/')
    .at(-1)
  return document.components.schemas[name ?? ''] ?? schema
}

function seldom(text: fc.Arbitrary<string>): fc.Arbitrary<string | undefined> {
  return fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: text })
}

const wildText = fc.string({ unit: anyCharacter, maxLength: 40 })
const headerWild = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 60,
})

const int64 = [
  '9223372036854775807',
  '-9223372036854775808',
  '9223372036854775808',
  '9007199254740993',
  '1e3',
  '1.0',
  '-0',
  '00',
]

function integers({ minimum, maximum, examples = [] }: Schema, known: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const edges = [minimum, maximum]
    .filter((edge) => typeof edge === 'number')
    .flatMap((edge) => [edge - 1, edge, edge + 1])
  const special = [...int64, ...edges.map(String), ...(examples as unknown[]).map(String)]
  return fc.oneof({ weight: 6, arbitrary: known }, { weight: 2, arbitrary: fc.constantFrom(...special) })
}

/** The text of a value in a path or a query. */
function textOf(schema: Schema, known: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const right = schema.type === 'integer' ? integers(schema, known) : fc.constantFrom(...exampleTexts(schema))
  return fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: wildText })
}

function exampleTexts({ enum: values = [], examples = [] }: Schema): string[] {
  return [...(values as unknown[]), ...(examples as unknown[]), 'x'].map(String)
}

function headerText(schema: Schema): fc.Arbitrary<string> {
  const special = ['*', '"a"', 'W/"a", "b"', 'wait=0', 'wait=1', 'wait=99999999999', '""', ',']
  const right = fc.constantFrom(...exampleTexts(schema), ...special)
  return fc.oneof({ weight: 4, arbitrary: right }, { weight: 1, arbitrary: headerWild })
}

function bodyOf({ properties = {} }: Schema, document: OpenApi, known: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const members = Object.entries(properties as Record<string, Schema>).map(([name, schema]) =>
    fc.option(
      jsonOf(resolve(document, schema), known).map((value) => `${JSON.stringify(name)}:${value}`),
      { nil: undefined, freq: 12 },
    ),
  )
  const object = fc.tuple(...members).map((pairs) => `{${pairs.filter((pair) => pair !== undefined).join(',')}}`)
  return fc.oneof(
    { weight: 12, arbitrary: object },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: wildText },
    { weight: 1, arbitrary: fc.tuple(object, fc.nat(40)).map(([text, at]) => text.slice(0, at)) },
  )
}

/** The JSON text of a value of the schema, mostly. */
function jsonOf(schema: Schema, known: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const texts = fc.oneof(fc.constantFrom(...exampleTexts(schema)), wildText).map((text) => JSON.stringify(text))
  const chosen = fc.constantFrom(...exampleTexts(schema)).map((text) => JSON.stringify(text))
  const right = schema.type === 'integer' ? integers(schema, known) : 'enum' in schema ? chosen : texts
  return fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: fc.json() })
}
