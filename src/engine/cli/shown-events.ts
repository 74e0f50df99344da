import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { openReadSide, type ReadSide, trackShards } from '../app/shards.ts'
import type { Storage } from '../app/storage/storage.ts'
import type { Definition } from '../definition/definition.ts'
import { discardedName } from '../definition/discarded.ts'
import { typeOf } from '../definition/event-versions.ts'
import { eventText } from '../log/record-codec.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import { SettledEvents, type SettledRecord } from '../rule/settled-events.ts'
import { eventColumns } from './event-columns.ts'

const lookMs = 200
const readModelsMs = 3000
/** How many records are settled at a time, and how long the read models are waited for before one is shown as waiting. */
export const settling = { recordsMax: 500, wait: { timeoutMs: 1000 } } as const

export interface ReadSides {
  readonly settled: SettledEvents
  readonly readModel: ReadModel
}

/** Without read models, every event is shown as waiting for them. */
export async function withSettledEvents<T>(
  definition: Definition,
  storage: Storage,
  logger: Logger,
  work: (sides: ReadSides) => Promise<T>,
): Promise<T> {
  const { log } = storage
  const shards = trackShards(storage, logger)
  const readSide = openReadSide(shards, log, definition.names)
  try {
    await untilReadable(readSide)
    const { readModel } = readSide
    return await work({ settled: new SettledEvents({ definition, log, readModel }), readModel })
  } finally {
    readSide.close()
    await Promise.all(shards.map(({ tracker }) => tracker.close()))
  }
}

async function untilReadable(readSide: ReadSide): Promise<void> {
  const deadline = performance.now() + readModelsMs
  while (readSide.state.status !== 'up' && performance.now() < deadline) await delay(lookMs)
}

/** The rows of a table of events, beginning with the titles. */
export function eventRows({ service, kinds }: Definition) {
  const line = eventColumns()
  const discardType = typeOf(service.name, discardedName, 1)
  const row = (partition: number, settled: SettledRecord): string => {
    const { event, record, outcome } = settled
    const { type, time, version } =
      event?.discards === undefined ? (event ?? nothingRead) : { ...nothingRead, type: discardType }
    const what = [type, ...namesIn(settled)].join(' ')
    return line([`${partition}/${record.offset}`, time, what, streamOf(settled), String(version ?? ''), outcome])
  }
  return {
    titles: line([
      'EVENT',
      'TIME',
      'TYPE',
      kinds.length > 1 ? 'STREAM' : kinds[0].home.noun.toUpperCase(),
      'VERSION',
      'OUTCOME',
    ]),
    row,
  }
}

/** Which events a record has, where they are several. */
function namesIn({ event }: SettledRecord): readonly string[] {
  if (event?.discards !== undefined || event?.decoded.outcome !== 'events' || event.decoded.events.length === 1)
    return []
  return [`(${event.decoded.events.map(({ type }) => type).join(', ')})`]
}

/** The stream of the event; of what is none, its key. */
export function streamOf({ event, record }: SettledRecord): string {
  return event?.stream ?? String(record.key ?? '')
}

/** The event stands in it as in the log, so that no number loses a digit. */
export function eventJson(partition: number, { record, event, outcome }: SettledRecord): string {
  // Line breaks are of no meaning between the parts of JSON.
  const text = event === undefined ? 'null' : eventText(record.value).replaceAll(/[\r\n]/g, ' ')
  return `{"partition":${partition},"offset":${record.offset},"outcome":"${outcome}","event":${text}}`
}

const nothingRead = { type: '', time: '', version: undefined }
