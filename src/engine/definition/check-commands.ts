import { operatingScope } from '../lib/operating/operating-scope.ts'
import { parseExactJson } from '../lib/values/exact-json.ts'
import { isInt64 } from '../lib/values/int64.ts'
import { titleOf } from '../lib/values/named-schemas.ts'
import { compileCheck } from '../lib/values/validation.ts'
import { exampleOf } from './body-example.ts'
import { madeIn, schemaIn } from './check-schemas.ts'
import type { Definition, NamedCommand } from './definition.ts'
import type { NamedResource } from './kinds.ts'

type Problems = Generator<string>

export function* commandIn(definition: Definition, route: NamedCommand): Problems {
  const place = `commands: ${route.texts.operationId}`
  if (route.scope === operatingScope) yield `${place}.scope: ${operatingScope} is for operators`
  yield* answerIn(definition, place, route)
  yield* pathIn(definition, place, route)
  const bodyProblems = [...bodyIn(`${place}.body`, route)]
  yield* bodyProblems
  if (bodyProblems.length === 0) yield* ofBodyIn(definition, place, route)
  for (const code of Object.keys(route.rejects))
    if (!definition.errors.has(code)) yield `${place}.rejects: ${code} is no error of the service`
}

/** Whether there is a document that the command is answered with. */
function* answerIn(
  { resources, names }: Definition,
  place: string,
  { method, on, creates, kind }: NamedCommand,
): Problems {
  const { collection: own } = kind.stream
  const isAboutDocument = typeof on === 'object' && 'document' in on
  if (creates === undefined) {
    if (on === 'new') yield `${place}: it begins a stream, and creates nothing`
    else if (!isAboutDocument)
      yield `${place}: it names its stream in the body, and creates nothing that it could be answered with: say what it \`creates\`, or be \`on\` a document`
    else if (method === 'DELETE' && on.document !== own)
      yield `${place}: only the stream's own document can be removed: a DELETE is about one of ${own}`
    return
  }
  const isOfOther = creates !== own && names.isOwn(creates)
  if (!resources.some(({ collection }) => collection === creates))
    yield `${place}: it creates one of ${creates}, which is no resource`
  else if (isOfOther) yield `${place}: it creates one of ${creates}, which only a stream of that kind shows`
  else if (on === 'new' && creates !== own)
    yield `${place}: it begins a stream of ${own}, and creates one of ${creates}`
  else if (on !== 'new' && creates === own) yield `${place}: it creates one of ${own}, which only a new stream shows`
  else if (isAboutDocument)
    yield `${place}: it creates one of ${creates}: name its stream in the body, \`on: { stream: (body) => … }\`, and no document in the path`
}

function* pathIn({ resources, names }: Definition, place: string, { path, on, kind }: NamedCommand): Problems {
  if (typeof on !== 'object' || !('document' in on)) {
    if (!/^\/v1(\/[\w-]+)+$/.test(path)) yield `${place}.path: ${path} must begin with /v1/, and name no document`
    return
  }
  const { document } = on
  const resource = resources.find(({ collection }) => collection === document)
  if (resource === undefined) yield `${place}: it is about one of ${document}, which is no resource`
  else if (document !== kind.stream.collection && names.isOwn(document))
    yield `${place}: it is about one of ${document}, which is a stream of another kind`
  else if (path !== `${resource.path}/:${resource.idName}`)
    yield `${place}.path: it must be ${resource.path}/:${resource.idName}, with nothing behind the id`
}

function* bodyIn(place: string, { method, body }: NamedCommand): Problems {
  const mayHaveBody = method !== 'DELETE'
  if (mayHaveBody === (body === undefined)) yield `${place}: ${method} ${mayHaveBody ? 'needs one' : 'has none'}`
  if (body === undefined) return
  if ((body as { readonly type?: unknown }).type !== 'object') {
    yield `${place}: it must be an object`
    return
  }
  if (!/^[A-Z]\w*$/.test(titleOf(body))) yield `${place}: it needs a title of one word with a capital, as a type has`
  yield* schemaIn(place, body)
  for (const [name, value] of Object.entries(exampleOf(body)))
    if (value === undefined) yield `${place}: ${name} needs examples, for the documents and the first start`
}

/** What is made of the body, for an example of it. */
function* ofBodyIn({ resources }: Definition, place: string, { on, creates, key, body }: NamedCommand): Problems {
  const example = exampleOf(body ?? {})
  const problems = typeof on === 'object' && 'stream' in on ? [...streamIn(`${place}.on.stream`, on, example)] : []
  yield* problems
  if (key === undefined || problems.length > 0) return
  const created = resources.find(({ collection }) => collection === creates)
  if (creates === undefined) yield `${place}.key: it creates nothing that could be told again`
  else if (created !== undefined) yield* againIn(`${place}.key.again`, created, key, example)
  for (const name of ['content', 'scope'] as const) {
    const texts = yield* madeIn(`${place}.key.${name}`, () => key[name]?.(example))
    if (!(texts ?? []).every((text) => typeof text === 'string')) yield `${place}.key.${name}: it must be texts`
  }
}

function* streamIn(place: string, on: { stream(body: never): unknown }, example: Example): Problems {
  const id = yield* madeIn(place, () => on.stream(example as never) ?? null)
  if (id !== undefined && !isInt64(id))
    yield `${place}: ${JSON.stringify(id)} is no id: it must be an integer of the body`
}

type Example = ReturnType<typeof exampleOf>

/** Whether the first answer is told again as the document that it was. */
function* againIn(
  place: string,
  { schema, noun }: NamedResource,
  key: NonNullable<NamedCommand['key']>,
  example: Example,
): Problems {
  if ([...schemaIn(place, schema)].length > 0) return // that of the resource is told
  const told = yield* madeIn(place, () =>
    parseExactJson(key.again({ id: 7, time: '2026-11-22T12:00:00.000Z' }, example)),
  )
  const problem = told === undefined ? undefined : compileCheck(schema)(told)
  if (problem !== undefined) yield `${place}: it tells no ${noun}: ${problem}`
}
