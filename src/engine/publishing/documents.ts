import { type Definition, versionOf } from '../definition/definition.ts'
import { kindOf } from '../definition/kinds.ts'
import { documentsOf } from '../definition/shown-documents.ts'
import type { ToldRecord } from '../log/published-log.ts'
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

/** Tells, after each event, all documents that the stream then shows. */
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
    const state = await this.#states.after(told, version, streams)
    return this.#records.of(
      documentsOf(kindOf(this.#definition, stream), state).map((shown) => ({ ...shown, stream, version })),
    )
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
