import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Definition } from '../definition/definition.ts'
import { auditTo } from '../lib/audit.ts'
import { timeOfDay } from '../lib/clock.ts'
import { ServiceError } from '../lib/errors.ts'
import type { EventLog, Offset, Position } from '../log/event-log.ts'
import { RecordGoneError, readAt } from '../log/read-at.ts'
import { behindParked } from '../projector/classify.ts'
import type { TextSet } from '../read-models/document.ts'
import type { Stores } from '../read-models/shards.ts'
import type { Inspection, ScannedPage } from '../read-models/store.ts'
import { decodeOffsets, decodeParkedStream, type ParkedStream } from '../read-models/stored-texts.ts'
import { inActive } from './active.ts'

const lookMs = 50
const pageLimit = 1000
/** How long to wait for a projector to apply the discard. */
const discardWithinMs = 15_000
const readAtOnce = 500

export interface ParkedEvent extends Position {
  readonly stream: string
  readonly reason: string
  /** The first parked event of its stream: it can be discarded. */
  readonly first: Offset
}

/** As operators name it. */
export function placeOf({ partition, offset }: Position): string {
  return `${partition}/${offset}`
}

/** In the order of the log. */
export async function allParked(stores: Stores): Promise<readonly ParkedEvent[]> {
  const found = await inActive(stores, async ({ inspection }, name) => {
    const streams = await textsIn(inspection, name, 'parked')
    const waiting = await textsIn(inspection, name, 'waiting')
    return streams && waiting && eventsIn(streams, waiting)
  })
  return found.flat().sort(inLogOrder)
}

/** Each stream with parked events, in the order of the log. */
export async function parkedStreams(stores: Stores): Promise<readonly ParkedStream[]> {
  const found = await inActive(stores, async ({ inspection }, name) => {
    const streams = await textsIn(inspection, name, 'parked')
    return streams && [...streams].map(([stream, text]) => decodeParkedStream(stream, text))
  })
  return found.flat().sort((one, other) => one.partition - other.partition || one.first - other.first)
}

/** The id of a chunk of waiting events names the stream behind its number. */
function streamIn(chunk: string): string {
  return chunk.slice(chunk.indexOf('/') + 1)
}

function inLogOrder(one: Position, other: Position): number {
  return one.partition - other.partition || one.offset - other.offset
}

/** The values of records as text; null, once `unreadable` was told why, where the log does not give one. */
export async function valuesOf(
  log: Pick<EventLog, 'read' | 'endOffsets'>,
  positions: readonly Position[],
  unreadable: (error: Error) => void,
): Promise<(string | null)[]> {
  const values = new Map<string, string>()
  try {
    for (const [partition, those] of Map.groupBy(positions, (each) => each.partition)) {
      for (let at = 0; at < those.length; at += readAtOnce) {
        const offsets = those.slice(at, at + readAtOnce).map(({ offset }) => offset)
        const records = await readAt(log, partition, offsets)
        for (const { offset, value } of records) values.set(placeOf({ partition, offset }), String(value))
      }
    }
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof RecordGoneError)) throw error
    unreadable(error)
  }
  return positions.map((each) => values.get(placeOf(each)) ?? null)
}

/**
 * Only the first event of a stream can be discarded: it takes a version, on which those behind it build. Undefined if the
 * event is the first; else the place of the one that is.
 */
export function parkedBefore({ partition, first, offset }: ParkedEvent): string | undefined {
  return first === offset ? undefined : placeOf({ partition, offset: first })
}

export interface DiscardOptions {
  readonly definition: Pick<Definition, 'events'>
  readonly log: Pick<EventLog, 'append'>
  readonly stores: Stores
  readonly logger: Logger
  /** Who decided it, for the audit. */
  readonly actor: string
  readonly reason?: string | undefined
}

/** Appends the decision to the log. Resolves once a projector has applied it, to false if none has within 15 seconds. */
export async function discard(
  event: ParkedEvent,
  { definition, log, stores, logger, actor, reason }: DiscardOptions,
): Promise<boolean> {
  await log.append(event.partition, [definition.events.encodeDiscard(event, timeOfDay())])
  auditTo(logger)('event discarded', { event: placeOf(event), stream: event.stream, actor, reason })
  const deadline = performance.now() + discardWithinMs
  while ((await firstOf(stores, event.stream)) === event.offset) {
    if (performance.now() > deadline) return false
    await delay(lookMs)
  }
  return true
}

async function firstOf(stores: Stores, stream: string): Promise<Offset | undefined> {
  const found = await inActive(stores, ({ inspection }, name) => inspection.find(name, 'parked', [stream]))
  const text = found.flatMap(({ texts }) => texts).find((each) => each !== undefined)
  return text === undefined ? undefined : decodeParkedStream(stream, text).first
}

function eventsIn(streams: ReadonlyMap<string, string>, waiting: ReadonlyMap<string, string>): ParkedEvent[] {
  const parked = new Map([...streams].map(([stream, text]) => [stream, decodeParkedStream(stream, text)]))
  const behind = [...waiting].flatMap(([id, text]) => {
    const stream = parked.get(streamIn(id))
    if (stream === undefined) return []
    // The two sets were read one after the other: what waited may have become the first meanwhile.
    const offsets = decodeOffsets(text).filter((offset) => offset > stream.first)
    return offsets.map((offset) => eventOf(stream, offset, behindParked))
  })
  return [...[...parked.values()].map((stream) => eventOf(stream, stream.first, stream.reason)), ...behind]
}

function eventOf({ partition, stream, first }: ParkedStream, offset: Offset, reason: string): ParkedEvent {
  return { partition, offset, stream, reason, first }
}

/** Keyed by id, as one may come twice; undefined if the generation was removed. */
async function textsIn(
  inspection: Inspection,
  generation: string,
  set: TextSet,
): Promise<Map<string, string> | undefined> {
  const texts = new Map<string, string>()
  let from: string | undefined
  do {
    const page: ScannedPage | undefined = await inspection.scan(generation, set, from, pageLimit)
    if (page === undefined) return undefined
    for (const [id, text] of page.items) texts.set(id, text)
    from = page.next
  } while (from !== undefined)
  return texts
}
