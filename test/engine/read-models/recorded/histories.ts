import type { Definition } from '../../../../src/engine/definition/definition.ts'
import type { EventVersion } from '../../../../src/engine/definition/event-versions.ts'
import type { Kind } from '../../../../src/engine/definition/kinds.ts'
import type { ExamplePlace } from '../../../../src/engine/door/stream.ts'
import { parseExactJson } from '../../../../src/engine/lib/values/exact-json.ts'
import { waitingPerChunk } from '../../../../src/engine/read-models/stored-texts.ts'
import { versionsPerChunk } from '../../../../src/engine/read-models/stream-history.ts'
import { type AnyRecord, altered, discard, record } from '../../projector/records.ts'

/** The records of a log, at the offsets 0, 1, 2 … of one partition. */
export type History = readonly AnyRecord[]

/** Sequences of examples, each by its name: their events give a stream the versions 1, 2, 3 … */
export type Sequences = Readonly<Record<string, readonly string[]>>

type Example = ExamplePlace &
  Pick<EventVersion, 'type' | 'read' | 'quick'> & { readonly json: string; readonly kind: Kind }

const timeAt = (offset: number) => new Date(Date.UTC(2026, 10, 22, 12, 0, offset)).toISOString()

/** What brings out every kind of thing that is stored: each example where it stands, `more`, and what befalls any stream. */
export function historiesOf(definition: Definition, more: Sequences = {}): ReadonlyMap<string, History> {
  const examples = definition.kinds.flatMap((kind) =>
    kind.events.versions.flatMap(({ type, read, quick, examples }) =>
      examples.map((example) => ({ ...example, type, read, quick, kind })),
    ),
  )
  const named = (name: string) => {
    const found = examples.find((example) => example.name === name)
    if (found === undefined) throw new Error(`there is no example ${name}`)
    return found
  }
  const inTurn = (events: readonly Example[]) => events.map((event, i) => recordOf(event, i, i + 1))
  const before = (example: Example) => leadingTo(examples, example).slice(0, -1)
  const quick = examples.filter((example) => example.quick(example.json) !== undefined)
  return new Map<string, History>([
    ...examples.map((example) => [example.name, inTurn([...before(example), example])] as const),
    ...quick.map(
      (example) => [`${example.name}, not read quickly`, inTurn([...before(example), spaced(example)])] as const,
    ),
    ...Object.entries(more).map(([name, names]) => [name, inTurn(names.map(named))] as const),
    ...ofAnyStream(definition, examples[0]),
  ])
}

/** Another form of the same data, of which `quick` knows none. */
function spaced(example: Example): Example {
  return { ...example, json: example.json.replace('{', '{ ') }
}

/** Examples that each can follow the one before, as their versions say. */
function leadingTo(examples: readonly Example[], last: Example): readonly Example[] {
  const { stream } = last.kind
  const search = (state: unknown, version: number): readonly Example[] | undefined => {
    const isBefore = ({ kind, stream: of }: Example) =>
      version < last.version && kind === last.kind && of === last.stream
    const isNext = (each: Example) => each === last || isBefore(each)
    for (const each of examples.filter((each) => each.version === version && isNext(each))) {
      const event = each.read(parseExactJson(each.json))
      const next = orNothing(() => ({ state: stream.evolve(state, { event, version, time: timeAt(version) }) }))
      const rest = each === last ? [] : next && search(next.state, version + 1)
      if (next && rest) return [each, ...rest]
    }
    return undefined
  }
  const found = search(stream.initial, 1)
  if (found === undefined) throw new Error(`no other examples lead to ${last.name}: add some, with the versions before`)
  return found
}

function orNothing<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

/** `key`: the number of an Idempotency-Key. */
function recordOf(example: Example, offset: number, version: number, key = offset): AnyRecord {
  const { stream, type, json, isKeyed, kind } = example
  const eventId = `019e0000-0000-7000-8000-${String(offset).padStart(12, '0')}`
  const idempotency = { key: `fA9kMvEKy4cPhm28OpKW${key}`, fingerprint: `QqOmAROuUhSt5iffvUIi${key}` }
  const place = { stream: kind.nameOf(stream), eventId, version, time: timeAt(offset) }
  const context = { ...place, ...(isKeyed ? { idempotency } : {}) }
  const { key: recordKey, value } = kind.events.encodeData(type, json, context)
  return record(value, recordKey)
}

/** `first` may begin a stream. Events of a type that only a newer release knows are parked, whatever the service. */
function ofAnyStream({ service }: Definition, first: Example | undefined): [string, History][] {
  if (first === undefined) return []
  const { events, nameOf } = first.kind
  const stream = nameOf(first.stream)
  const added = (offset: number, version: number) => recordOf(first, offset, version)
  const keyed = (offset: number, version: number, key = offset) =>
    recordOf({ ...first, isKeyed: true }, offset, version, key)
  const type = `${service.name}.Unknown.v1`
  const newer = (offset: number, version: number) => altered(added(offset, version), { type })
  const newerKeyed = (offset: number, version: number) => altered(keyed(offset, version), { type })
  const discards = (offset: number) => discard(stream, offset, events)

  const parked = [newerKeyed(0, 1), keyed(1, 2), newerKeyed(2, 3)]
  // Each count is another number, so that none can be taken for another.
  const counted = [
    ...[keyed(0, 1), ...[1, 2, 3].map((offset) => added(offset, 1)), ...[4, 5].map((offset) => keyed(offset, 2, 0))],
    ...[6, 7, 8, 9, 10, 11, 12, 13, 14].map((offset) => newer(offset, offset - 4)),
    ...[...[6, 7, 8, 9, 10].map(discards), record('not an event')],
  ]
  const versions = each(2 * versionsPerChunk, (at) => [newer(2 * at - 1, at + 1), discards(2 * at - 1)])
  const inStream = (subject: string) => altered(newer(0, 1), { subject }, subject)
  const long = (offset: number, characters: number, ofTime: number) => {
    const [idempotencykey, requestfingerprint] = ['k', 'f'].map((letter) => letter.padEnd(characters, `${offset}`))
    const attributes = { idempotencykey, requestfingerprint, time: '2026'.padEnd(ofTime) }
    return altered(newer(offset, offset + 1), {
      ...attributes,
      type: `${service.name}.${'a'.repeat(200)}.v1`,
    })
  }
  return [
    ['(parked, and two wait)', parked],
    ['(parked, discarded, and the next is parked)', [...parked, discards(0)]],
    [
      '(parked, and more wait than a chunk holds)',
      [newer(0, 1), ...each(waitingPerChunk + 1, (at) => added(at, at + 1))],
    ],
    ['(every outcome, in another number)', counted],
    ['(more versions than a row holds)', [added(0, 1), ...versions.flat()]],
    ['(no document can show the stream)', [inStream('elsewhere'), discard('elsewhere', 0, events)]],
    ['(texts as long as are stored, and longer ones)', [long(0, 64, 40), long(1, 65, 41), discards(0)]],
    ['(a name as long as a stream may have, and a longer one)', [inStream('n'.repeat(128)), inStream('n'.repeat(129))]],
  ]
}

/** What is made of each of 1, 2, 3 … */
function each<T>(count: number, make: (number: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i + 1))
}
