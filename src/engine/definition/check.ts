import type { TSchema } from 'typebox'
import type { Texts } from '../door/command.ts'
import { type AnyStream, stateBounds } from '../door/stream.ts'
import { messageOf } from '../lib/errors/errors.ts'
import { commandNames } from '../lib/operating/command-names.ts'
import { operatingScope } from '../lib/operating/operating-scope.ts'
import { parseExactJson } from '../lib/values/exact-json.ts'
import { titleOf } from '../lib/values/named-schemas.ts'
import { compileCheck } from '../lib/values/validation.ts'
import { isTextSet } from '../read-models/document.ts'
import { exampleOf } from './body-example.ts'
import { eventsIn } from './check-events.ts'
import { filtersIn } from './check-filters.ts'
import { type Definition, DefinitionError, type NamedCommand } from './definition.ts'
import { countsTitle, type NamedResource } from './kinds.ts'

type Problems = Generator<string>

/** Throws DefinitionError, which names each place, unless the service can be run as it is defined. */
export function checkDefinition(definition: Definition): void {
  const problems = [
    ...namesIn(definition),
    ...resourcesIn(definition),
    ...eventsIn(definition),
    ...definition.commands.flatMap((route) => [...commandIn(definition, route)]),
    ...repeated('method and path', definition.commands, ({ method, path }) => `${method} ${path}`),
    ...repeated('operationId', operationsIn(definition), ({ operationId }) => operationId),
  ]
  if (problems.length > 0) throw new DefinitionError(problems.join('\n'))
}

function* namesIn({ service: { name, streams, errors, cli = [] } }: Definition): Problems {
  if (!/^[a-z][a-z0-9]*$/.test(name)) yield `name: ${name} must be lower case letters and digits`
  for (const stream of streams) yield* streamIn(stream)
  yield* repeated('collection of a kind of stream', streams, ({ collection }) => collection)
  yield* repeated('stream.source', streams, ({ source }) => source)
  yield* repeated(
    'event',
    streams.flatMap(({ events }) => Object.keys(events)),
    (event) => event,
  )
  yield* repeated(
    'projection',
    streams.flatMap(({ projections }) => projections),
    ({ name }) => name,
  )
  for (const code of Object.keys(errors))
    if (!/^[a-z][a-z0-9_]*$/.test(code)) yield `errors: ${code} must be lower case letters, digits and _`
  const taken: readonly string[] = Object.values(commandNames).flat()
  for (const command of cli) if (taken.includes(command.name)) yield `cli: the engine has the command ${command.name}`
}

function* streamIn({ collection, source, commands, stateMax = stateBounds.usual }: AnyStream): Problems {
  const place = `streams.${collection}`
  if (!/^\/[\w/]+$/.test(source)) yield `${place}.source: ${source} must be a path`
  if (!Number.isInteger(stateMax) || stateMax < 1 || stateMax > stateBounds.most)
    yield `${place}.stateMax: ${stateMax} must be an integer from 1 to ${stateBounds.most}`
  if (commands.length === 0) yield `${place}.commands: there is none`
}

/** The live feed of the engine. */
const followPath = '/v1/events'

function* resourcesIn({ resources, names }: Definition): Problems {
  const paths = resources.flatMap(({ path, count }) => [path, ...(count === undefined ? [] : [count.path])])
  const titles = resources.flatMap((each) => [
    titleOf(each.schema),
    ...(each.count === undefined ? [] : [countsTitle(each)]),
  ])
  yield* repeated('path', [followPath, ...paths], (path) => path)
  yield* repeated('noun', resources, ({ noun }) => noun)
  yield* repeated('title', titles, (title) => title)
  for (const resource of resources) yield* resourceIn(resource, names.isOwn(resource.collection))
}

function* resourceIn(resource: NamedResource, isHome: boolean): Problems {
  const { collection, path, noun, schema, example, filters = {}, history } = resource
  const place = `resources.${collection}`
  if (!/^[a-z][a-z-]*$/.test(collection) || isTextSet(collection))
    yield `${place}: the collection cannot have this name`
  if (!/^\/v1(\/[\w-]+)+$/.test(path)) yield `${place}.path: ${path} must begin with /v1/, without a slash at its end`
  if (!/^[a-z]+$/.test(noun)) yield `${place}.noun: ${noun} must be one word in lower case`
  if (!/^[A-Z]\w*$/.test(titleOf(schema)))
    yield `${place}.schema: it needs a title of one word with a capital, as a type has`
  if (Object.keys(schema.properties)[0] !== 'id') yield `${place}.schema: its first property must be id`
  const problem = yield* schemaIn(`${place}.schema`, schema, example)
  if (problem !== undefined) yield `${place}.example: ${problem}`
  for (const [name, values] of Object.entries(filters)) yield* schemaIn(`${place}.filters.${name}`, values)
  yield* filtersIn(place, resource)
  if (isHome && history === undefined) yield `${place}.history: the collection of a kind of stream needs it`
  if (!isHome && history !== undefined) yield `${place}.history: only the collection of a kind of stream has one`
}

function* commandIn({ resources, errors, names }: Definition, route: NamedCommand): Problems {
  const { method, path, body, on, creates, rejects, key, texts, kind } = route
  const { collection: own } = kind.stream
  const place = `commands: ${texts.operationId}`
  const known = (collection: string) => resources.find((each) => each.collection === collection)
  if (route.scope === operatingScope) yield `${place}.scope: ${operatingScope} is for operators`
  if (creates !== undefined && known(creates) === undefined)
    yield `${place}: it creates one of ${creates}, which is no resource`
  const isOfOther = (collection: string) => collection !== own && names.isOwn(collection)
  if (on === 'new' && creates === undefined) yield `${place}: it begins a stream, and creates nothing`
  if (on === 'new' && creates !== undefined && creates !== own && !isOfOther(creates))
    yield `${place}: it begins a stream of ${own}, and creates one of ${creates}`
  if (creates !== undefined && isOfOther(creates))
    yield `${place}: it creates one of ${creates}, which only a stream of that kind shows`
  if (typeof on === 'object' && 'document' in on) {
    const resource = known(on.document)
    if (resource === undefined) yield `${place}: it is about one of ${on.document}, which is no resource`
    else if (isOfOther(on.document))
      yield `${place}: it is about one of ${on.document}, which is a stream of another kind`
    else if (path !== `${resource.path}/:${resource.idName}`)
      yield `${place}.path: it must be ${resource.path}/:${resource.idName}`
  } else if (!/^\/v1(\/[\w-]+)+$/.test(path)) yield `${place}.path: ${path} must begin with /v1/, and name no document`
  if (method === 'DELETE' ? body !== undefined : body === undefined)
    yield `${place}.body: ${method} ${method === 'DELETE' ? 'has none' : 'needs one'}`
  if (body !== undefined && !/^[A-Z]\w*$/.test(titleOf(body)))
    yield `${place}.body: it needs a title of one word with a capital, as a type has`
  if (body !== undefined) {
    yield* schemaIn(`${place}.body`, body)
    for (const [name, value] of Object.entries(exampleOf(body)))
      if (value === undefined) yield `${place}.body: ${name} needs examples, for the documents and the first start`
  }
  const created = creates === undefined ? undefined : known(creates)
  if (key !== undefined && created !== undefined && body !== undefined)
    yield* againIn(`${place}.key.again`, created, route)
  if (key !== undefined && creates === undefined) yield `${place}.key: it creates nothing that could be told again`
  for (const code of Object.keys(rejects))
    if (!errors.has(code)) yield `${place}.rejects: ${code} is no error of the service`
}

/** Whether the first answer is told again as the document that it was. */
function* againIn(place: string, { schema, noun }: NamedResource, { key, body }: NamedCommand): Problems {
  const example = exampleOf(body ?? {})
  if (key === undefined || Object.values(example).includes(undefined)) return
  try {
    const told = key.again({ id: 7, time: '2026-11-22T12:00:00.000Z' }, example)
    const problem = compileCheck(schema)(parseExactJson(told))
    if (problem !== undefined) yield `${place}: it tells no ${noun}: ${problem}`
  } catch (error) {
    yield `${place}: ${messageOf(error)}`
  }
}

/** Whether values can be checked by the schema. Returns the problem that it has with this one. */
function* schemaIn(place: string, schema: TSchema, value: unknown = {}): Generator<string, string | undefined> {
  try {
    return compileCheck(schema)(value)
  } catch (error) {
    yield `${place}: ${messageOf(error)}`
    return undefined
  }
}

function operationsIn({ commands, resources }: Definition): Pick<Texts, 'operationId'>[] {
  const gets = resources.flatMap(({ list, find, history, count }) =>
    [list, find, history, count].filter((each) => each !== undefined),
  )
  return [{ operationId: 'followEvents' }, ...gets, ...commands.map(({ texts }) => texts)]
}

function* repeated<Each>(what: string, all: readonly Each[], textOf: (each: Each) => string): Problems {
  const values = all.map(textOf)
  for (const value of new Set(values.filter((each, i) => values.indexOf(each) !== i)))
    yield `two have the ${what} ${value}`
}
