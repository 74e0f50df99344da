import { inspect } from 'node:util'
import type { AnyEvent, EventType } from '../door/stream.ts'
import { messageOf } from '../lib/errors/errors.ts'
import { parseExactJson } from '../lib/values/exact-json.ts'
import { compileCheck } from '../lib/values/validation.ts'
import { beginningOf, type IndexKey } from '../read-models/document.ts'
import type { Definition } from './definition.ts'
import { discardedName } from './discarded.ts'
import { type EventVersion, typeOf, type Writing, writingsOf } from './event-versions.ts'
import { valuesOf } from './filter-values.ts'
import type { Kind, NamedResource } from './kinds.ts'
import { severalName } from './several.ts'
import { documentsOf, type Shown } from './shown-documents.ts'
import { comesBack } from './state-codec.ts'

type Problems = Generator<string>

/** What is wrong with the events, and with what their examples lead to. */
export function* eventsIn(definition: Definition): Problems {
  const shown: Shown[] = []
  const problems = definition.kinds.flatMap((kind) => [...eventsOf(definition, kind, shown)])
  yield* problems
  if (problems.length === 0) for (const resource of definition.resources) yield* neverShown(resource, shown)
}

function* eventsOf(definition: Definition, kind: Kind, shown: Shown[]): Problems {
  const { stream, events } = kind
  for (const [name, type] of Object.entries<EventType<AnyEvent>>(stream.events)) yield* eventTypeIn(name, type)
  const read: ReadExample[] = []
  for (const version of events.versions) yield* versionIn(definition, kind, version, read)
  const states = new Map<number, unknown>([[0, stream.initial]])
  for (const example of read.toSorted((a, b) => a.version - b.version)) {
    const { place, version } = example
    if (!states.has(version - 1)) yield `${place}: no example has version ${version - 1}`
    else yield* stateIn(definition, kind, example, states, shown)
  }
  const { collection } = stream
  const own = shown.filter((each) => each.collection === collection)
  const ids = new Set(read.map((example) => example.stream))
  if (own.length > 0 && !own.some(({ id }) => ids.has(id)))
    yield `streams.${collection}.projections: a stream shows ${collection} ${own[0]?.id}, which is not its own id`
}

function* eventTypeIn(
  name: string,
  { version, writes = version, earlier = {}, examples }: EventType<AnyEvent>,
): Problems {
  const place = `events.${name}`
  const isFree = name !== discardedName && name !== severalName
  if (!/^[A-Z][A-Za-z0-9]*$/.test(name) || !isFree) yield `${place}: an event cannot have this name`
  const versions = Object.keys(earlier).map(Number)
  for (const from of versions) {
    if (!(from >= 1 && from < version)) yield `${place}.earlier: ${from} is not before version ${version}`
    else if (from + 1 < version && !versions.includes(from + 1)) yield `${place}.earlier: ${from + 1} is missing`
  }
  if (writes !== version && earlier[writes]?.downcast === undefined)
    yield `${place}.writes: ${writes} is neither ${version} nor an earlier version with a downcast`
  for (const { name: example, event } of examples)
    if (event.type !== name) yield `${place}.examples: ${example}: it is of the type ${event.type}`
}

/** An example as it is read, in the newest version of its type. */
interface ReadExample {
  readonly place: string
  readonly stream: number
  readonly version: number
  readonly event: AnyEvent
}

/** Adds to `read` what its examples say. */
function* versionIn({ service }: Definition, kind: Kind, version: EventVersion, read: ReadExample[]): Problems {
  const place = `events.${version.event}.examples`
  if (version.examples.length === 0) yield `${place}: there is none of version ${version.version}`
  for (const example of version.examples) {
    const at = `${place}: ${example.name}`
    const event = yield* recordIn(service.name, kind, at, version, example.json)
    if (event !== undefined) read.push({ place: at, stream: example.stream, version: example.version, event })
  }
}

/** Whether the event comes back from each version that says all of it. Returns what is read. */
function* recordIn(
  service: string,
  { events, stream }: Kind,
  place: string,
  { type, event: name, version }: EventVersion,
  json: string,
): Generator<string, AnyEvent | undefined> {
  try {
    const decoded = events.decode({ type, data: parseExactJson(json) })
    const [event] = decoded.outcome === 'events' ? decoded.events : []
    if (event === undefined) {
      yield `${place}: ${'reason' in decoded ? decoded.reason : decoded.outcome}`
      return undefined
    }
    const known = stream.events[name] as EventType<AnyEvent>
    const writings = writingsOf(known, event)
    const isRead = (each: Writing) => {
      const again = events.decode({ type: typeOf(service, name, each.version), data: parseExactJson(each.json) })
      const [found] = again.outcome === 'events' ? again.events : []
      return found !== undefined && writingsOf(known, found)[0]?.json === writings[0]?.json
    }
    const isWritten = version === known.version || known.earlier?.[version]?.downcast !== undefined
    const same = isWritten ? writings.some((each) => each.version === version && each.json === json) : true
    if (!same || !writings.every(isRead)) yield `${place}: it is another event when it is read`
    return event
  } catch (error) {
    yield `${place}: ${messageOf(error)}`
    return undefined
  }
}

const exampleTime = '2026-11-22T12:00:00.000Z'

/** Whether the state after the event can be stored and shown. The first example of a version is what the next ones follow. */
function* stateIn(
  { resources, names }: Definition,
  kind: Kind,
  { place, event, version }: ReadExample,
  states: Map<number, unknown>,
  shown: Shown[],
): Problems {
  const { stream, codec } = kind
  let state: unknown
  try {
    const before = states.get(version - 1)
    const text = codec.hidden(before, undefined)
    state = stream.evolve(before, { event, version, time: exampleTime })
    if (codec.hidden(before, undefined) !== text)
      yield `${place}: evolve changes the state before it: return another one`
  } catch (error) {
    yield `${place}: it cannot be version ${version} of its stream: ${messageOf(error)}`
    return
  }
  try {
    if (!states.has(version)) states.set(version, state)
    if (!comesBack(codec, state))
      yield `${place}: the state after it is another one when it is read: ${inspect(state, { breakLength: Infinity })}`
    for (const document of documentsOf(kind, state)) {
      const { collection, json, indexKeys } = document
      shown.push(document)
      const resource = resources.find((each) => each.collection === collection)
      if (resource === undefined) yield `${place}: it shows a document of ${collection}, which is no resource`
      else if (collection !== stream.collection && names.isOwn(collection))
        yield `${place}: it shows a document of ${collection}, which only a stream of that kind shows`
      else yield* documentIn(resource, place, json, indexKeys)
    }
  } catch (error) {
    yield `${place}: ${messageOf(error)}`
  }
}

/** What the examples never lead to is either a mistake, or an example that is missing. */
function* neverShown({ collection, filters = {} }: NamedResource, shown: readonly Shown[]): Problems {
  const place = `resources.${collection}`
  const own = shown.filter((each) => each.collection === collection)
  if (own.length === 0) yield `${place}: no example of an event leads to a document of it`
  else
    for (const name of Object.keys(filters))
      if (!own.some(({ indexKeys }) => indexKeys.some((key) => /^[^:=]*/.exec(key)?.[0] === name)))
        yield `${place}.filters.${name}: no document that the examples lead to names its value`
}

function* documentIn(
  { collection, schema, filters = {} }: NamedResource,
  place: string,
  json: string | null,
  indexKeys: readonly IndexKey[],
): Problems {
  const problem = json === null ? undefined : compileCheck(schema)(parseExactJson(json))
  if (problem !== undefined) yield `${place}: it shows a document of ${collection} that its schema refuses: ${problem}`
  for (const key of indexKeys) {
    if (beginningOf(key) !== undefined) continue
    const [name = '', value = ''] = key.split(/:(.*)/s)
    const values = filters[name]
    if (values === undefined || !valuesOf(values).includes(value))
      yield `${place}: it shows a document of ${collection} under ${name} ${value}, which is no value of a filter`
  }
}
