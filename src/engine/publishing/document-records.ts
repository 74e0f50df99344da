import { documentMax } from '../door/stream.ts'
import type { Warning } from '../lib/operating/warning.ts'
import { documentsTarget, type ToldRecord } from '../log/published-log.ts'
import type { DocumentId } from '../read-models/document.ts'
import type { StreamId } from '../read-models/stored-texts.ts'
import type { StreamNames } from '../read-models/stream-names.ts'
import { documentName } from '../rule/apply-event.ts'

/** A document as a version of its stream shows it; `json` is null where it is removed. */
export interface VersionedDocument extends DocumentId {
  readonly json: string | null
  readonly stream: StreamId
  readonly version: number
}

/** Makes records of documents, and counts those that are too large for one. */
export class DocumentRecords {
  readonly #names: StreamNames
  #leftOut = 0
  #last = ''

  constructor(names: StreamNames) {
    this.#names = names
  }

  get leftOut(): number {
    return this.#leftOut
  }

  get warnings(): readonly Warning[] {
    if (this.#leftOut === 0) return []
    const message =
      `This process left out ${this.#leftOut} documents of more than ${documentMax} characters where documents are told, ` +
      `the last one ${this.#last}. Consumers have an earlier one, or none.`
    return [{ code: 'document_left_out', message }]
  }

  of(documents: readonly VersionedDocument[]): readonly ToldRecord[] {
    return documents.filter((each) => this.#fits(each)).map((each) => this.#recordOf(each))
  }

  #fits(document: VersionedDocument): boolean {
    if ((document.json?.length ?? 0) <= documentMax) return true
    this.#leftOut++
    this.#last = documentName(document)
    return false
  }

  #recordOf({ collection, id, json, stream, version }: VersionedDocument): ToldRecord {
    return {
      target: documentsTarget(collection),
      key: this.#names.keyOf({ collection, id }),
      value: json,
      headers: { 'content-type': 'application/json', stream, streamversion: String(version) },
    }
  }
}
