import type { ShownDocument } from '../definition/shown-documents.ts'
import type { AnyEvent } from '../door/stream.ts'
import { IdTakenError } from '../lib/errors/errors.ts'
import type { DocumentId } from '../read-models/document.ts'
import { encodeEntry } from '../read-models/stored-texts.ts'
import type { Rules } from './rules.ts'
import type { StreamEvent } from './stream-event.ts'
import type { StreamState } from './stream-state.ts'

export function documentName({ collection, id }: DocumentId): string {
  return `${collection} ${id}`
}

/** Where an event is applied. */
export interface EventPlace {
  readonly partition: number
  /** Whether there is a document of this name that no other stream may show. */
  isTaken(name: string): boolean
}

/** What an event came to. Several events of one command are one event here. */
export interface AppliedEvent {
  /** The documents that it shows anew, but for the stream's own. */
  readonly added: readonly ShownDocument[]
  /** The id of the first document that it shows anew, undefined if there is none. */
  readonly created: number | undefined
}

/**
 * Applies the next event of a stream to its state. Throws, having changed nothing: IdTakenError if a document that it shows
 * anew is there already, and an Error with the reason if it cannot be applied, which parks it.
 */
export function applyEvent<State, Event extends AnyEvent>(
  rules: Rules,
  place: EventPlace,
  stream: StreamState<State, Event>,
  { id, decoded, time, offset, stream: name }: StreamEvent<Event>,
): AppliedEvent {
  if (decoded.outcome !== 'events') throw new Error(decoded.reason)
  const recorded = { events: decoded.events, version: stream.version + 1, time }
  const added: ShownDocument[] = []
  const created = stream.apply(recorded, encodeEntry(offset, id), (shown, isLast) => {
    for (const document of shown) checkPlace(rules, place, document, name)
    added.push(...shown)
    // Last: of what a store has, only that is known which nothing else kept from being shown.
    if (isLast) checkFree(place, stream, added)
  })
  return { added, created }
}

/** Throws if the document belongs to another stream, or may come to belong to one. */
function checkPlace(
  { definition: { names }, log }: Rules,
  { partition }: EventPlace,
  document: ShownDocument,
  streamName: string,
): void {
  const { collection, id } = document
  const name = documentName(document)
  if (names.isOwn(collection)) throw new Error(`${name} belongs to the stream ${names.streamOf(document)}`)
  if (log.partitionFor(String(id)) !== partition) throw new Error(`${name} belongs to another partition`)
  if (streamName.includes('\0')) throw new Error(`${name} belongs to a stream whose name no document can hold`)
}

/** Throws IdTakenError if one of the documents is there already, or comes twice. */
function checkFree<State, Event extends AnyEvent>(
  { isTaken }: EventPlace,
  stream: StreamState<State, Event>,
  added: readonly ShownDocument[],
): void {
  const names = added.map(documentName)
  for (const [i, document] of added.entries()) {
    const name = documentName(document)
    const isAgain = names.indexOf(name) < i
    if (isTaken(name) || stream.hasShown(document) || isAgain) throw new IdTakenError(`${name} exists already`)
  }
}
