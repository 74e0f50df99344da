import { type Definition, versionOf } from '../definition/definition.ts'
import { kindOrFirst } from '../definition/kinds.ts'
import { documentsOf, type Shown } from '../definition/shown-documents.ts'
import type { ToldRecord } from '../log/published-log.ts'
import { documentName } from '../rule/apply-event.ts'
import { DocumentRecords } from './document-records.ts'
import { type FillingOptions, ReadModelFilling } from './filling.ts'
import type { KnownStreams } from './known-streams.ts'
import { StreamStates } from './stream-states.ts'
import type { Teller, Telling } from './teller.ts'
import type { EventRecord, JournalOptions } from './told-events.ts'

export interface DocumentOptions extends JournalOptions {
  readonly definition: Definition
  readonly readModel: FillingOptions['readModel']
}

/**
 * Tells, after each event, all documents that the stream then shows. Several events of one command are told as one, as they
 * took effect: what several of them show as the last one shows it.
 */
class DocumentTeller implements Teller {
  readonly filling: ReadModelFilling
  readonly #definition: JournalOptions['definition']
  readonly #records: DocumentRecords
  readonly #states: StreamStates

  constructor(options: DocumentOptions, records: DocumentRecords) {
    const { definition, log, readModel } = options
    this.#definition = definition
    this.#records = records
    this.#states = new StreamStates(options)
    this.filling = new ReadModelFilling({
      ...{ log, readModel, records },
      collections: definition.resources.map(({ collection }) => collection),
      names: definition.names,
      projections: versionOf(definition.kinds.flatMap(({ stream }) => stream.projections)),
    })
  }

  async tell(told: EventRecord, streams: KnownStreams): Promise<readonly ToldRecord[]> {
    const { stream, version = 0 } = told.event
    const documents = new Map<string, Shown>()
    for (const state of await this.#states.after(told, version, streams)) {
      for (const shown of documentsOf(kindOrFirst(this.#definition, stream), state))
        documents.set(documentName(shown), shown)
    }
    return this.#records.of([...documents.values()].map((shown) => ({ ...shown, stream, version })))
  }
}

export function documentTelling(options: DocumentOptions): Telling {
  const records = new DocumentRecords(options.definition.names)
  return {
    newTeller: () => new DocumentTeller(options, records),
    get leftOut() {
      return records.leftOut
    },
    get warnings() {
      return records.warnings
    },
  }
}
