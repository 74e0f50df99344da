import { kindOrFirst } from '../definition/kinds.ts'
import { type AnyEvent, documentMax, stateBounds } from '../door/stream.ts'
import { IdTakenError, ServiceError } from '../lib/errors/errors.ts'
import type { NewRecord } from '../log/event-log.ts'
import { recordValueMax } from '../log/record-codec.ts'
import type { DocumentId } from '../read-models/document.ts'
import { applyEvent, documentName } from '../rule/apply-event.ts'
import { isSame } from '../rule/changed-documents.ts'
import type { Rules } from '../rule/rules.ts'
import { readEvent } from '../rule/stream-event.ts'
import { StateTooLargeError, type StreamState } from '../rule/stream-state.ts'

/** What is answered once the record is appended. */
export interface Leaving {
  /** The document that the command creates, or is about. */
  readonly leaves: DocumentId | undefined
}

/**
 * Applies the record to the stream that the command was decided on, as the projector will, so that no command parks its
 * stream (decision 0060), or has an effect and no answer. Throws ServiceError event_too_large, event_not_applicable or stream_full, and IdTakenError where
 * the id that was drawn is in the way: then the record must not be appended.
 */
export function applyFirst(
  rules: Rules,
  { partition, id, leaves }: Leaving & { readonly partition: number; readonly id: number },
  stream: StreamState<unknown, AnyEvent>,
  { key, value }: NewRecord,
): void {
  const lengthBefore = stream.stateLength
  const { stateMax = stateBounds.usual } = kindOrFirst(rules.definition, key).stream
  const record = { offset: 0, key: Buffer.from(key), value: Buffer.from(value) }
  if (record.value.length > recordValueMax) throw eventTooLarge(record.value.length)
  try {
    const event = readEvent(rules, partition, record)
    if (event === undefined || event.discards !== undefined) throw new Error('its record is no event of the stream')
    applyEvent(rules, { partition, isTaken: () => false }, stream, event)
    if (leaves !== undefined && !stream.documents.some((document) => isSame(document, leaves)))
      throw new Error(`the command leaves no document ${documentName(leaves)}, which is what it is answered with`)
    if (stream.documentLength > documentMax) throw new Error(`a document has more than ${documentMax} characters`)
  } catch (error) {
    if (error instanceof StateTooLargeError) throw streamFull(stateMax)
    throw error instanceof IdTakenError && id > 0 ? error : eventNotApplicable(error)
  }
  if (stream.stateLength > stateMax && stream.stateLength > lengthBefore) throw streamFull(stateMax)
}

function eventTooLarge(bytes: number): ServiceError {
  const message = `The event of this request has ${bytes} bytes, and may have ${recordValueMax}. Nothing was stored.`
  return new ServiceError('event_too_large', message)
}

/** The client learns no details of a bug; `cause` has them for the log. */
function eventNotApplicable(cause: unknown): ServiceError {
  const message = 'What the request leads to could not be applied. Nothing was stored.'
  return new ServiceError('event_not_applicable', message, { cause })
}

function streamFull(stateMax: number): ServiceError {
  const message = `There would be more than ${stateMax} characters of state, which is all that one stream may have. Nothing was stored.`
  return new ServiceError('stream_full', message)
}
