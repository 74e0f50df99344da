import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { StreamKinds } from '../definition/kinds.ts'
import { timeOfDay } from '../lib/clock.ts'
import { ServiceError } from '../lib/errors/errors.ts'
import { auditTo } from '../lib/operating/audit.ts'
import type { EventLog, Offset, Position } from '../log/event-log.ts'
import { RecordGoneError, readAt } from '../log/read-at.ts'
import type { TextSet } from '../read-models/document.ts'
import type { Checkpoints } from '../read-models/ports/generations.ts'
import type { Inspection, ScannedPage } from '../read-models/ports/inspection.ts'
import type { ReadModelStore } from '../read-models/ports/store.ts'
import type { Stores } from '../read-models/shards.ts'
import { decodeOffsets, decodeParkedStream, type ParkedStream } from '../read-models/stored-texts.ts'
import { behindParked } from '../rule/classify.ts'
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

export interface ParkedStreams {
  /** Those whose first parked events come first in the log. */
  readonly streams: readonly ParkedStream[]
  /** How many there are besides. */
  readonly more: number
}

/**
 * What tells up to `max` streams with parked events. It reads those of a store again only once something was parked or
 * discarded there: other programs decide how many there are, and each look would pay for all of them.
 */
export function parkedStreamsIn(stores: Stores, max: number): () => Promise<ParkedStreams> {
  const known = new Map<ReadModelStore, ParkedStreams & { readonly as: string }>()
  return async () => {
    const found = await inActive(stores, async (store, name) => {
      const checkpoints = await store.generations.checkpoints(name)
      const as = checkpoints && asOf(name, checkpoints)
      const last = known.get(store)
      if (as === undefined) return undefined // removed meanwhile
      if (last?.as === as) return last
      const texts = await textsIn(store.inspection, name, 'parked')
      if (texts === undefined) return undefined
      const streams = [...texts].map(([stream, text]) => decodeParkedStream(stream, text))
      const read = { as, ...firstOf(streams, max) }
      known.set(store, read)
      return read
    })
    const { streams, more } = firstOf(
      found.flatMap((each) => each.streams),
      max,
    )
    return { streams, more: found.reduce((sum, each) => sum + each.more, more) }
  }
}

function firstOf(streams: readonly ParkedStream[], max: number): ParkedStreams {
  const sorted = streams.toSorted((one, other) => one.partition - other.partition || one.first - other.first)
  return { streams: sorted.slice(0, max), more: Math.max(0, sorted.length - max) }
}

/** Another text whenever something was parked or discarded. The log decides when, so the counts never come back. */
function asOf(generation: string, checkpoints: Checkpoints): string {
  const counts = [...checkpoints].map(([partition, { counts }]) => [partition, counts.parked, counts.discarded])
  return JSON.stringify([generation, counts])
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

/** Throws ServiceError no_such_record if no event is parked there. */
export async function parkedAt(stores: Stores, place: string): Promise<ParkedEvent> {
  const event = (await allParked(stores)).find((each) => placeOf(each) === place)
  if (event !== undefined) return event
  throw new ServiceError('no_such_record', `No event is parked at ${place}. The list of parked events says which are.`)
}

/**
 * The first parked event of a stream, at this place: it takes a version, on which those behind it build, so only it can be
 * discarded. Throws ServiceError no_such_record, and invalid_request if the event waits behind another one.
 */
export async function discardableAt(stores: Stores, place: string): Promise<ParkedEvent> {
  const event = await parkedAt(stores, place)
  const { partition, first, offset } = event
  if (offset === first) return event
  const before = placeOf({ partition, offset: first })
  throw new ServiceError('invalid_request', `Event ${place} waits behind ${before}: discard that one first.`)
}

export interface DiscardOptions {
  readonly definition: StreamKinds
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
  await log.append(event.partition, [definition.kinds[0].events.encodeDiscard(event, timeOfDay())])
  auditTo(logger)('event discarded', { event: placeOf(event), stream: event.stream, actor, reason })
  const deadline = performance.now() + discardWithinMs
  while ((await firstParked(stores, event.stream)) === event.offset) {
    if (performance.now() > deadline) return false
    await delay(lookMs)
  }
  return true
}

async function firstParked(stores: Stores, stream: string): Promise<Offset | undefined> {
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
