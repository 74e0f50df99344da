import type { AnyEvent, EventType, ExamplePlace } from '../door/stream.ts'
import { messageOf } from '../lib/errors/errors.ts'
import { parseExactJson } from '../lib/values/exact-json.ts'
import { examplesIn, type ReadExample } from './check-examples.ts'
import type { Definition } from './definition.ts'
import { discardedName } from './discarded.ts'
import { type EventVersion, typeOf, type Writing, writingsOf } from './event-versions.ts'
import type { Kind, NamedResource } from './kinds.ts'
import { severalName } from './several.ts'
import type { Shown } from './shown-documents.ts'

type Problems = Generator<string>

/** What is wrong with the events, and with what their examples lead to. */
export function* eventsIn(definition: Definition): Problems {
  const shown: Shown[] = []
  const problems = definition.kinds.flatMap((kind) => [...eventsOf(definition, kind, shown)])
  yield* problems
  if (problems.length > 0) return
  for (const resource of definition.resources)
    if (resource.history === undefined || definition.names.isOwn(resource.collection))
      yield* neverShown(resource, shown)
  for (const kind of definition.kinds) yield* neverRemoved(kind, shown)
}

function* eventsOf(definition: Definition, kind: Kind, shown: Shown[]): Problems {
  const { stream, events } = kind
  for (const [name, type] of Object.entries<EventType<AnyEvent>>(stream.events)) yield* eventTypeIn(name, type)
  yield* keysIn(kind)
  const read: ReadExample[] = []
  const refused = events.versions.flatMap((version) => [...versionIn(definition, kind, version, read)])
  yield* refused
  yield* examplesIn(definition, kind, { read, areAllRead: refused.length === 0 }, shown)
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

/** Documents say which events may stand under a key, by their examples. */
function* keysIn({ stream, events }: Kind): Problems {
  const keyed = stream.commands.find(({ key }) => key !== undefined)
  const example = events.versions.find(({ isKeyed }) => isKeyed)
  if (keyed !== undefined && example === undefined)
    yield `commands: ${keyed.texts.operationId}.key: no example of an event has isKeyed: set it where the command makes the event`
  if (keyed === undefined && example !== undefined)
    yield `events.${example.event}.examples: one has isKeyed, and no command of ${stream.collection} has a key`
}

/** Adds to `read` what its examples say. */
function* versionIn({ service }: Definition, kind: Kind, version: EventVersion, read: ReadExample[]): Problems {
  const place = `events.${version.event}.examples`
  if (version.examples.length === 0) yield `${place}: there is none of version ${version.version}`
  for (const { json, ...example } of version.examples) {
    const at = `${place}: ${example.name}`
    yield* placeIn(at, example)
    const event = yield* recordIn(service.name, kind, at, version, json)
    if (event !== undefined) read.push({ ...example, place: at, event })
  }
}

function* placeIn(at: string, { version, index = 0 }: ExamplePlace): Problems {
  if (!Number.isSafeInteger(version) || version < 1) yield `${at}: version ${version} must be an integer from 1 on`
  if (!Number.isSafeInteger(index) || index < 0) yield `${at}: index ${index} must be an integer from 0 on`
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

/** What the examples never lead to is either a mistake, or an example that is missing. */
function* neverShown({ collection, filters = {} }: NamedResource, shown: readonly Shown[]): Problems {
  const place = `resources.${collection}`
  const own = shown.filter((each) => each.collection === collection && each.json !== null)
  if (own.length === 0) yield `${place}: no example of an event leads to a document of it`
  else
    for (const name of Object.keys(filters))
      if (!own.some(({ indexKeys }) => indexKeys.some((key) => /^[^:=]*/.exec(key)?.[0] === name)))
        yield `${place}.filters.${name}: no document that the examples lead to names its value`
}

/** A DELETE that leaves the document would look as if it had done its work. */
function* neverRemoved({ stream: { collection, commands } }: Kind, shown: readonly Shown[]): Problems {
  const isRemoved = shown.some((each) => each.collection === collection && each.json === null)
  for (const { method, on, texts } of commands)
    if (method === 'DELETE' && !isRemoved && typeof on === 'object' && 'document' in on && on.document === collection)
      yield `commands: ${texts.operationId}: no example of an event leads to ${collection} that are removed: show the document with \`json: null\` then`
}
