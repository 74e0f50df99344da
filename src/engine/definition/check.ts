import type { TSchema } from 'typebox'
import { parseExactJson } from '../lib/exact-json.ts'
import { titleOf } from '../lib/named-schemas.ts'
import { operatingScope } from '../lib/operating-scope.ts'
import { compileCheck } from '../lib/validation.ts'
import { isTextSet } from '../read-models/document.ts'
import { type Definition, DefinitionError, type NamedResource } from './definition.ts'
import { discardedName } from './event-schemas.ts'
import type { CommandRoute, Texts } from './service.ts'
import { documentsOf } from './shown-documents.ts'
import { comesBack } from './state-codec.ts'
import type { AnyEvent, EventExample, EventType } from './stream.ts'

type Problems = Generator<string>

/** Throws DefinitionError, which names each place, unless the service can be run as it is defined. */
export function checkDefinition(definition: Definition): void {
  const problems = [
    ...namesIn(definition),
    ...resourcesIn(definition),
    ...eventsIn(definition),
    ...(definition.service.commands.length === 0 ? ['commands: there is none'] : []),
    ...definition.service.commands.flatMap((route) => [...commandIn(definition, route)]),
    ...repeated('operationId', operationsIn(definition), ({ operationId }) => operationId),
  ]
  if (problems.length > 0) throw new DefinitionError(problems.join('\n'))
}

function* namesIn({ service: { name, stream, cli = [] } }: Definition): Problems {
  if (!/^[a-z][a-z0-9]*$/.test(name)) yield `name: ${name} must be lower case letters and digits`
  if (!/^\/[\w/]+$/.test(stream.source)) yield `stream.source: ${stream.source} must be a path`
  const taken = ['keys', 'generations', 'rebuild', 'verify', 'stats', 'parked', 'events', 'backup', 'doctor']
  for (const command of cli) if (taken.includes(command.name)) yield `cli: the engine has the command ${command.name}`
}

function* resourcesIn({ resources, home }: Definition): Problems {
  yield* repeated('path', resources, ({ path }) => path)
  yield* repeated('noun', resources, ({ noun }) => noun)
  yield* repeated('title', resources, ({ schema }) => titleOf(schema))
  for (const resource of resources) yield* resourceIn(resource, resource === home)
}

function* resourceIn(
  { collection, path, noun, schema, example, filters = {}, history }: NamedResource,
  isHome: boolean,
): Problems {
  const place = `resources.${collection}`
  if (!/^[a-z][a-z-]*$/.test(collection) || isTextSet(collection))
    yield `${place}: the collection cannot have this name`
  if (!/^\/v1(\/[\w-]+)+$/.test(path)) yield `${place}.path: ${path} must begin with /v1/, without a slash at its end`
  if (!/^[a-z]+$/.test(noun)) yield `${place}.noun: ${noun} must be one word in lower case`
  if (!/^[A-Z]\w*$/.test(titleOf(schema))) yield `${place}.schema: it needs a title, such as Book`
  if (Object.keys(schema.properties)[0] !== 'id') yield `${place}.schema: its first property must be id`
  const problem = compileCheck(schema)(example)
  if (problem !== undefined) yield `${place}.example: ${problem}`
  for (const [name, values] of Object.entries(filters)) {
    if (['limit', 'cursor', 'id'].includes(name))
      yield `${place}.filters.${name}: the engine has a parameter of this name`
    if (valuesOf(values).length === 0) yield `${place}.filters.${name}: it is not an enumeration of texts`
  }
  if (isHome && history === undefined) yield `${place}.history: the collection of the stream needs it`
  if (!isHome && history !== undefined) yield `${place}.history: only the collection of the stream has one`
}

function* eventsIn(definition: Definition): Problems {
  const types = Object.entries<EventType<AnyEvent>>(definition.stream.events)
  for (const [name, type] of types) yield* eventTypeIn(definition, name, type)
  const examples = types.flatMap(([name, { examples }]) => examples.map((example) => ({ name, example })))
  const states = new Map<number, unknown>([[0, definition.stream.initial]])
  for (const { name, example } of examples.toSorted((a, b) => a.example.version - b.example.version)) {
    const place = `events.${name}.examples: ${example.name}`
    if (!states.has(example.version - 1)) yield `${place}: no example has version ${example.version - 1}`
    else yield* stateIn(definition, place, example, states)
  }
}

function* eventTypeIn(
  { events }: Definition,
  name: string,
  { version, examples, upcasts = {} }: EventType<AnyEvent>,
): Problems {
  const place = `events.${name}`
  if (!/^[A-Z][A-Za-z0-9]*$/.test(name) || name === discardedName) yield `${place}: an event cannot have this name`
  if (examples.length === 0) yield `${place}.examples: there is none`
  const earlier = Object.keys(upcasts).map(Number)
  for (const from of earlier) {
    if (from < 1 || from >= version) yield `${place}.upcasts: ${from} is not before version ${version}`
    else if (from + 1 < version && !earlier.includes(from + 1)) yield `${place}.upcasts: ${from + 1} is missing`
  }
  for (const example of examples) {
    const at = `${place}.examples: ${example.name}`
    if (example.event.type !== name) yield `${at}: it is of the type ${example.event.type}`
    else yield* recordIn(events, at, example)
  }
}

/** Whether the event comes back from its record. */
function* recordIn(
  events: Definition['events'],
  place: string,
  { stream, version, event }: EventExample<AnyEvent>,
): Problems {
  try {
    const context = { stream: String(stream), eventId: 'example', version, time: exampleTime }
    const { value } = events.encode(event, context)
    const { type, data } = parseExactJson(value) as { type: string; data: unknown }
    const decoded = events.decode({ type, data })
    if (decoded.outcome !== 'event') yield `${place}: ${'reason' in decoded ? decoded.reason : decoded.outcome}`
    else if (events.encode(decoded.event, context).value !== value)
      yield `${place}: it is another event when it is read`
  } catch (error) {
    yield `${place}: ${messageOf(error)}`
  }
}

const exampleTime = '2026-11-22T12:00:00.000Z'

/** Whether the state after the event can be stored and shown. The first example of a version is what the next ones follow. */
function* stateIn(
  definition: Definition,
  place: string,
  { event, version }: EventExample<AnyEvent>,
  states: Map<number, unknown>,
): Problems {
  const { stream, codec, resources } = definition
  try {
    const state = stream.evolve(states.get(version - 1), { event, version, time: exampleTime })
    if (!states.has(version)) states.set(version, state)
    if (!comesBack(codec, state)) yield `${place}: the state after it is another one when it is read`
    for (const { collection, json, indexes } of documentsOf(definition, state)) {
      const resource = resources.find((each) => each.collection === collection)
      if (resource === undefined) yield `${place}: it shows a document of ${collection}, which is no resource`
      else yield* documentIn(resource, place, json, indexes)
    }
  } catch (error) {
    yield `${place}: ${messageOf(error)}`
  }
}

function* documentIn(
  { collection, schema, filters = {} }: NamedResource,
  place: string,
  json: string | null,
  indexes: readonly string[],
): Problems {
  const problem = json === null ? undefined : compileCheck(schema)(parseExactJson(json))
  if (problem !== undefined) yield `${place}: it shows a document of ${collection} that its schema refuses: ${problem}`
  for (const index of indexes) {
    const [name = '', value = ''] = index.split(/:(.*)/s)
    const values = filters[name]
    if (values === undefined || !valuesOf(values).includes(value))
      yield `${place}: it shows a document of ${collection} under ${name} ${value}, which is no value of a filter`
  }
}

function* commandIn({ resources, errors }: Definition, route: CommandRoute<unknown>): Problems {
  const { method, path, body, on, creates, rejects, key, texts } = route
  const place = `commands: ${texts.operationId}`
  const known = (collection: string) => resources.find((each) => each.collection === collection)
  if (route.scope === operatingScope) yield `${place}.scope: ${operatingScope} is for operators`
  if (creates !== undefined && known(creates) === undefined)
    yield `${place}: it creates one of ${creates}, which is no resource`
  if (on === 'new' && creates === undefined) yield `${place}: it begins a stream, and creates nothing`
  if (typeof on === 'object' && 'document' in on) {
    const resource = known(on.document)
    if (resource === undefined) yield `${place}: it is about one of ${on.document}, which is no resource`
    else if (path !== `${resource.path}/:${resource.idName}`)
      yield `${place}.path: it must be ${resource.path}/:${resource.idName}`
  } else if (!/^\/v1(\/[\w-]+)+$/.test(path)) yield `${place}.path: ${path} must begin with /v1/, and name no document`
  if (method === 'DELETE' ? body !== undefined : body === undefined)
    yield `${place}.body: ${method} ${method === 'DELETE' ? 'has none' : 'needs one'}`
  if (body !== undefined && !/^[A-Z]\w*$/.test(titleOf(body)))
    yield `${place}.body: it needs a title, such as BookInput`
  if (body !== undefined) yield* schemaIn(`${place}.body`, body)
  if (key !== undefined && creates === undefined) yield `${place}.key: it creates nothing that could be told again`
  for (const code of Object.keys(rejects))
    if (!errors.has(code)) yield `${place}.rejects: ${code} is no error of the service`
}

/** Whether requests can be checked by it. */
function* schemaIn(place: string, schema: TSchema): Problems {
  try {
    compileCheck(schema)({})
  } catch (error) {
    yield `${place}: ${messageOf(error)}`
  }
}

function operationsIn({ service: { commands }, resources }: Definition): Pick<Texts, 'operationId'>[] {
  const gets = resources.flatMap(({ list, find, history }) => [list, find, ...(history ? [history] : [])])
  return [{ operationId: 'followEvents' }, ...gets, ...commands.map(({ texts }) => texts)]
}

function* repeated<Each>(what: string, all: readonly Each[], textOf: (each: Each) => string): Problems {
  const values = all.map(textOf)
  for (const value of new Set(values.filter((each, i) => values.indexOf(each) !== i)))
    yield `two have the ${what} ${value}`
}

/** The values of a filter; none where it is no enumeration of texts. */
export function valuesOf(filter: TSchema): readonly string[] {
  const { enum: values = [] } = filter as { enum?: readonly unknown[] }
  return values.every((value) => typeof value === 'string' && /^[\w-]+$/.test(value))
    ? (values as readonly string[])
    : []
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
