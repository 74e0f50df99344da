import type { Texts } from '../door/command.ts'
import { type AnyStream, stateBounds } from '../door/stream.ts'
import { commandNames } from '../lib/operating/command-names.ts'
import { titleOf } from '../lib/values/named-schemas.ts'
import { isTextSet } from '../read-models/document.ts'
import { commandIn } from './check-commands.ts'
import { errorsIn } from './check-errors.ts'
import { eventsIn } from './check-events.ts'
import { filtersIn } from './check-filters.ts'
import { schemaIn } from './check-schemas.ts'
import { type Definition, DefinitionError } from './definition.ts'
import { typeOf } from './indexes.ts'
import { countsTitle, type NamedResource } from './kinds.ts'

type Problems = Generator<string>

/** Throws DefinitionError, which names each place, unless the service can be run as it is defined. */
export function checkDefinition(definition: Definition): void {
  const problems = [
    ...namesIn(definition),
    ...errorsIn(definition.service),
    ...resourcesIn(definition),
    ...eventsIn(definition),
    ...definition.commands.flatMap((route) => [...commandIn(definition, route)]),
    ...repeated('method and path', definition.commands, ({ method, path }) => `${method} ${path}`),
    ...repeated('operationId', operationsIn(definition), ({ operationId }) => operationId),
  ]
  if (problems.length > 0) throw new DefinitionError(problems.join('\n'))
}

function* namesIn({ service: { name, streams, cli = [] } }: Definition): Problems {
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
  const [[first, ofFirst] = []] = Object.entries(schema.properties ?? {})
  if (first !== 'id') yield `${place}.schema: its first property must be id`
  else if (ofFirst !== undefined && typeOf(ofFirst) !== 'integer') yield `${place}.schema: id must be an integer`
  const problem = yield* schemaIn(`${place}.schema`, schema, example)
  if (problem !== undefined) yield `${place}.example: ${problem}`
  for (const [name, values] of Object.entries(filters)) yield* schemaIn(`${place}.filters.${name}`, values)
  yield* filtersIn(place, resource)
  if (isHome && history === undefined) yield `${place}.history: the collection of a kind of stream needs it`
  if (!isHome && history !== undefined)
    yield `${place}.history: only the collection of a kind of stream has one, and \`streams\` has no kind ${collection}`
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
