import { DamagedError, quoted } from './damaged.ts'
import type { DocumentId, StoredDocument } from './document.ts'
import type { FoundJson } from './ports/reads.ts'
import { rowsMark } from './row-place.ts'
import { checkRow } from './stored-texts.ts'
import type { StreamNames } from './stream-names.ts'

type DocumentText = Pick<StoredDocument, 'json' | 'behind'>

/** Throws DamagedError unless the text begins as the document of this id, which no JSON of another one does, and ends. */
export function checkText(document: DocumentId, json: string): void {
  const beginning = `{"id":${document.id}`
  const next = json[beginning.length]
  const begins = json.startsWith(beginning) && (next === ',' || next === '}')
  if (!begins || !endsAt(json, json.length)) throw damaged(document)
}

const space = 32

/** Whether a document ends in front of this place: there may be white space behind it. */
function endsAt(text: string, place: number): boolean {
  let at = place - 1
  while (text.charCodeAt(at) <= space) at--
  return text[at] === '}'
}

/**
 * A document that is sent as it is. Throws DamagedError unless it begins with its id and ends as a document does; and, if
 * it shows the stream of its id, unless a row is behind it or said to be in `rows`. To parse it would take three times as
 * long: what is wrong in between is for `verify` to find, which compares it with the log.
 */
export function provenDocument(document: DocumentId, { json, behind }: DocumentText, names: StreamNames): FoundJson {
  checkText(document, json)
  const stream = names.streamOf(document)
  if (stream === undefined) return { json, stream: behind }
  if (behind !== rowsMark) checkRow(stream, behind)
  return { json, stream }
}

const beginning = '{"id":'
const nextBeginning = `,${beginning}`

/**
 * Documents that are sent as they are, separated by commas. Throws DamagedError unless as many as `count` begin and end
 * as documents do. To parse them would take as long as to send them.
 */
export function provenPage(set: string, documents: string, count: number): string {
  let found = documents.startsWith(beginning) && endsAt(documents, documents.length) ? 1 : 0
  for (let at = documents.indexOf(nextBeginning); at >= 0; at = documents.indexOf(nextBeginning, at + 1)) {
    if (endsAt(documents, at)) found++
  }
  if (found !== count) throw new DamagedError(`a page of ${quoted(set)} has a text that is not a document`)
  return documents
}

function damaged({ collection, id }: DocumentId): DamagedError {
  return new DamagedError(`document ${id} of ${collection} is not that document`)
}
