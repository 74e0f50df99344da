import type { AnyEvent, ExamplePlace } from '../door/stream.ts'
import { timeOfDay } from '../lib/clock.ts'
import { messageOf } from '../lib/errors/errors.ts'
import { parseExactJson } from '../lib/values/exact-json.ts'
import { compileCheck } from '../lib/values/validation.ts'
import { beginningOf, type IndexKey } from '../read-models/document.ts'
import type { Definition } from './definition.ts'
import { valuesOf } from './filter-values.ts'
import type { Kind, NamedResource } from './kinds.ts'
import { documentsOf, type Shown, toBeThere } from './shown-documents.ts'
import { changedWhenRead } from './state-codec.ts'

type Problems = Generator<string>

/** An example as it is read, in the newest version of its type. */
export interface ReadExample extends ExamplePlace {
  readonly place: string
  readonly event: AnyEvent
}

interface Examples {
  readonly read: readonly ReadExample[]
  readonly areAllRead: boolean
}

/**
 * Plays the examples of a kind, each behind the one before it in its stream, and adds what they show. Where one of them is
 * refused, it is not told that others have nothing to follow; and what is wrong after several is told once.
 */
export function* examplesIn(definition: Definition, kind: Kind, examples: Examples, shown: Shown[]): Problems {
  const states = new StreamStates(kind.stream.initial)
  const played: Played[] = []
  const told = new Set<string>()
  const broken = new Set<number>()
  for (const example of examples.read.toSorted(inOrder)) {
    const before = states.before(example)
    if (before === undefined) {
      if (examples.areAllRead && !broken.has(example.stream))
        yield `${example.place}: no example of stream ${example.stream} has ${missingBefore(example)}`
      broken.add(example.stream)
      continue
    }
    const one = playOf(kind, example, before.state)
    if ('refusal' in one) {
      broken.add(example.stream)
      yield `${example.place}: ${one.refusal}`
      continue
    }
    states.add(example, one.state)
    played.push(one)
    for (const problem of [...stateIn(definition, kind, example, one, shown)])
      if (!told.has(problem)) yield `${example.place}: ${told.add(problem) && problem}`
  }
  yield* impureIn(kind, played)
}

const indexOf = ({ index = 0 }: ExamplePlace) => index

function inOrder(one: ExamplePlace, other: ExamplePlace): number {
  return one.version - other.version || indexOf(one) - indexOf(other)
}

function missingBefore(example: ExamplePlace): string {
  const index = indexOf(example)
  return index === 0 ? `version ${example.version - 1}` : `version ${example.version} and index ${index - 1}`
}

/** The states of streams. Where several examples have one place, the first of them is what the next ones follow. */
class StreamStates {
  readonly #initial: unknown
  readonly #afterEvents = new Map<string, { readonly state: unknown }>()
  readonly #afterRecords = new Map<string, { readonly state: unknown; readonly index: number | undefined }>()

  constructor(initial: unknown) {
    this.#initial = initial
  }

  /** Undefined if no example is there. */
  before({ stream, version, index = 0 }: ExamplePlace): { readonly state: unknown } | undefined {
    if (index > 0) return this.#afterEvents.get(`${stream} ${version} ${index - 1}`)
    return version === 1 ? { state: this.#initial } : this.#afterRecords.get(`${stream} ${version - 1}`)
  }

  add({ stream, version, index }: ExamplePlace, state: unknown): void {
    const [event, record] = [`${stream} ${version} ${index ?? 'alone'}`, `${stream} ${version}`]
    if (this.#afterEvents.has(event)) return
    this.#afterEvents.set(event, { state })
    const last = this.#afterRecords.get(record)
    const goesOn = index !== undefined && last?.index === index - 1
    if (last === undefined || goesOn) this.#afterRecords.set(record, { state, index })
  }
}

interface Played {
  readonly example: ReadExample
  readonly before: unknown
  readonly state: unknown
  readonly hasChanged: boolean
}

const exampleTime = '2026-11-22T12:00:00.000Z'

function playOf({ stream, codec }: Kind, example: ReadExample, before: unknown): Played | { readonly refusal: string } {
  const { event, version } = example
  try {
    const text = codec.hidden(before, undefined)
    const state = stream.evolve(before, { event, version, time: exampleTime })
    return { example, before, state, hasChanged: codec.hidden(before, undefined) !== text }
  } catch (error) {
    return { refusal: `it cannot be version ${version} of its stream: ${messageOf(error)}` }
  }
}

/** Whether the state after the event can be stored and shown. */
function* stateIn(definition: Definition, kind: Kind, example: ReadExample, played: Played, shown: Shown[]): Problems {
  if (played.hasChanged) yield 'evolve changes the state before it: return another one'
  try {
    const changed = changedWhenRead(kind.codec, played.state)
    if (changed !== undefined) yield `the state after it is another one when it is read: ${changed}`
    for (const document of documentsOf(kind, played.state)) {
      shown.push(document)
      yield* documentIn(definition, kind, example, document)
    }
  } catch (error) {
    yield messageOf(error)
  }
}

function* documentIn({ resources, names }: Definition, kind: Kind, { stream }: ReadExample, document: Shown): Problems {
  const { collection, id, json } = document
  const own = kind.stream.collection
  const resource = resources.find((each) => each.collection === collection)
  if (resource === undefined) yield `it shows a document of ${collection}, which is no resource`
  else if (collection !== own && names.isOwn(collection))
    yield `it shows a document of ${collection}, which only a stream of that kind shows`
  else if (collection === own && id !== stream)
    yield `stream ${stream} shows ${collection} ${id}, which is not its own id`
  else if (json !== null) yield* contentsIn(resource, json, document.indexKeys)
  else if (collection !== own) toBeThere(document)
}

function* contentsIn(
  { collection, schema, filters = {} }: NamedResource,
  json: string,
  indexKeys: readonly IndexKey[],
): Problems {
  const problem = compileCheck(schema)(parseExactJson(json))
  if (problem !== undefined) yield `it shows a document of ${collection} that its schema refuses: ${problem}`
  for (const key of indexKeys) {
    if (beginningOf(key) !== undefined) continue
    const [name = '', value = ''] = key.split(/:(.*)/s)
    const values = filters[name]
    if (values === undefined)
      yield `it shows a document of ${collection} under ${name}: ${collection} has ${filtersOf(filters)}`
    else if (!valuesOf(values).includes(value))
      yield `it shows a document of ${collection} under ${name} ${value}, which is no value of the filter`
  }
}

function filtersOf(filters: object): string {
  const names = Object.keys(filters)
  return names.length === 0 ? 'no filter' : `no such filter, but ${names.join(', ')}`
}

/** What is made of a clock or of chance is another one the next time. */
function* impureIn(kind: Kind, played: readonly Played[]): Problems {
  const first = played.map(({ state }) => textOf(kind, state))
  nextMillisecond()
  for (const [i, { example, before }] of played.entries()) {
    const again = playOf(kind, example, before)
    if ('refusal' in again || textOf(kind, again.state) === first[i]) continue
    yield `${example.place}: it leads to another state each time: evolve and projections may ask no clock, and for no random number`
    return
  }
}

function textOf(kind: Kind, state: unknown): string {
  try {
    return kind.codec.hidden(state, undefined) + JSON.stringify(documentsOf(kind, state))
  } catch {
    return '' // it is told already
  }
}

function nextMillisecond(): void {
  const now = timeOfDay().getTime()
  while (timeOfDay().getTime() === now);
}
