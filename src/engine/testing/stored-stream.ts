import { isDeepStrictEqual } from 'node:util'
import { applyFirst } from '../commands/applicable.ts'
import { type StreamDefinition, streamKinds } from '../definition/kinds.ts'
import { documentsOf } from '../definition/shown-documents.ts'
import { plain } from '../definition/state-codec.ts'
import type { AnyEvent } from '../door/stream.ts'
import { messageOf } from '../lib/errors/errors.ts'
import type { NewRecord } from '../log/event-log.ts'
import { readCloudEvent, recordValueMax } from '../log/record-codec.ts'
import type { StoredDocument } from '../read-models/document.ts'
import { decodeRow, type StreamRow } from '../read-models/stored-texts.ts'
import { documentName } from '../rule/apply-event.ts'
import { type StreamEdits, StreamState } from '../rule/stream-state.ts'
import { failed, shown } from './failing.ts'

/** A stream as a log and a store have it. */
export interface StoredStream<State> {
  readonly state: State
  /** Undefined before the first event. */
  readonly row: StreamRow | undefined
  /** What can be found of it, by collection and id, in the order in which it was first shown. */
  readonly documents: ReadonlyMap<string, StoredDocument>
}

/** The time of the event that has this version: each is a second later than the one before. */
const timeOf = (version: number) => new Date(Date.UTC(2026, 0, 1) + version * 1000).toISOString()

/** The name of a stream that shows no document of its own yet. */
const unshown = '1'

/**
 * The stream after one more record of events, which is written and read as in a log and a store, by what the service
 * itself writes, reads and refuses them with. Throws an AssertionError that says what is in the way.
 */
export function storedAfter<State, Event extends AnyEvent>(
  definition: StreamDefinition<State, unknown, Event>,
  before: StoredStream<State>,
  events: readonly Event[],
): StoredStream<State> {
  const { stream } = definition
  const version = (before.row?.version ?? 0) + 1
  let { state } = before
  let own: number | undefined
  for (const event of events) {
    const recorded = { event: readBack(definition, event), version, time: timeOf(version) }
    state = attempt(event, 'evolve refuses it', () => stream.evolve(state, recorded))
    const documents = attempt(event, 'what it leads to cannot be shown', () => documentsOf(definition, state))
    own ??= documents.find(({ collection }) => collection === stream.collection)?.id
  }
  const name = before.row?.document === undefined ? String(own ?? unshown) : before.row.stream
  const document = { collection: stream.collection, id: Number(name) }
  const changed = new StreamState(definition, name, document, before.row && { ...before.row, stream: name })
  const rules = { definition: streamKinds([definition]), log: { partitionFor: () => 0 } }
  attempt(events, 'it cannot be applied', () =>
    applyFirst(rules, { partition: 0, id: 1, leaves: undefined }, changed, encode(definition, events, name, version)),
  )
  const edits = editsOf(changed)
  const shownNow = documentsAfter(before.documents, edits)
  const home = shownNow.get(documentName(document))
  const [[, inRows = undefined] = []] = edits.rows.put
  const row = decodeRow(name, home?.json, inRows ?? home?.behind ?? '')
  return { state: readState(definition, namesOf(events), state, row), row, documents: shownNow }
}

export const namesOf = (events: readonly AnyEvent[]) => events.map(({ type }) => type).join(', ')

/** The event as it is read from the log. */
export function readBack<Event extends AnyEvent>(
  definition: StreamDefinition<unknown, unknown, Event>,
  event: Event,
): Event {
  const record = attempt(event, 'it cannot be written', () => encode(definition, [event], unshown, 1))
  const value = Buffer.from(record.value)
  if (value.length > recordValueMax)
    throw failed(`${event.type} has ${value.length} bytes in the log, and may have ${recordValueMax}`)
  const envelope = readCloudEvent(value, definition.events.quick)
  const decoded = envelope && definition.events.decode(envelope)
  const [read] = decoded?.outcome === 'events' ? decoded.events : []
  if (read === undefined)
    throw failed(
      `${shown(event)} cannot be read: ${decoded && 'reason' in decoded ? decoded.reason : 'it is no event'}`,
    )
  const [actual, expected] = [withoutUndefined(read), withoutUndefined(event)]
  if (!isDeepStrictEqual(actual, expected))
    throw failed(`${event.type} is another event when it is read`, { actual, expected })
  return read
}

function encode<Event extends AnyEvent>(
  { events }: StreamDefinition<unknown, unknown, Event>,
  all: readonly Event[],
  stream: string,
  version: number,
): NewRecord {
  return events.encode(all, { stream, eventId: `event-${version}`, version, time: timeOf(version) })
}

function editsOf<State, Event extends AnyEvent>(changed: StreamState<State, Event>): StreamEdits {
  const texts = () => ({ put: [], removed: [] })
  const edits: StreamEdits = { documents: [], rows: texts(), history: texts() }
  changed.addChanges(edits)
  return edits
}

function documentsAfter(before: StoredStream<unknown>['documents'], { documents }: StreamEdits) {
  const after = new Map(before)
  for (const change of documents) {
    if (change.after !== undefined) after.set(documentName(change.after), change.after)
    else if (change.before !== undefined) after.delete(documentName(change.before))
  }
  return after
}

/** The state as a store has it, which has to be this one. */
function readState<State>(
  { codec }: Pick<StreamDefinition<State>, 'codec'>,
  after: string,
  state: State,
  row: StreamRow,
): State {
  const read = codec.read(row)
  const [actual, expected] = [plain(read), plain(state)]
  if (!isDeepStrictEqual(actual, expected))
    throw failed(`the state after ${after} is another one when it is read`, { actual, expected })
  return read
}

function attempt<Result>(event: AnyEvent | readonly AnyEvent[], problem: string, act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    const reason = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw Object.assign(failed(`${shown(event)}: ${problem}: ${messageOf(reason)}`), { cause: reason })
  }
}

/** JSON has no members that are undefined. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, withoutUndefined(member)]))
}
