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

/**
 * Applies the next event of a stream to its state. Returns the documents that it shows anew, but for the stream's own.
 * Throws, having changed nothing: IdTakenError if one of them is there already, and an Error with the reason if the event
 * cannot be applied, which parks it.
 */
export function applyEvent<State, Event extends AnyEvent>(
  rules: Rules,
  place: EventPlace,
  stream: StreamState<State, Event>,
  { id, decoded, time, offset, stream: name }: StreamEvent<Event>,
): readonly ShownDocument[] {
  if (decoded.outcome !== 'event') throw new Error(decoded.reason)
  let shown: readonly ShownDocument[] = []
  stream.apply({ event: decoded.event, version: stream.version + 1, time }, encodeEntry(offset, id), (added) => {
    for (const document of added) checkNew(rules, place, document, stream, name)
    shown = added
  })
  return shown
}

/** Throws if the document belongs to another stream, or may come to belong to one; IdTakenError if it is there. */
function checkNew<State, Event extends AnyEvent>(
  { definition: { names }, log }: Rules,
  { partition, isTaken }: EventPlace,
  document: ShownDocument,
  stream: StreamState<State, Event>,
  streamName: string,
): void {
  const { collection, id } = document
  const name = documentName(document)
  if (names.isOwn(collection)) throw new Error(`${name} belongs to the stream ${names.streamOf(document)}`)
  if (log.partitionFor(String(id)) !== partition) throw new Error(`${name} belongs to another partition`)
  if (streamName.includes('\0')) throw new Error(`${name} belongs to a stream whose name no document can hold`)
  if (isTaken(name) || stream.hasShown(document)) throw new IdTakenError(`${name} exists already`)
}
