import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
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
import { asksFirst, confirm } from './confirm.ts'
import { addAction, type CommandResult, inOneLine, type Options, operator, table } from './output.ts'
import { inActive, withStorage } from './storage.ts'

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

export function addCommands(program: Command, definition: Definition): void {
  const parked = program
    .command('parked')
    .description('Events that could not be applied. Later ones of the same stream wait behind them')
  addAction(parked.command('list'), 'List them, in the order of the log', (options: Options) =>
    list(definition, options),
  )
  addAction(
    parked.command('show <partition/offset>'),
    'Show one: why it could not be applied, and its value',
    (place: string) => show(definition, place),
  )
  const discarding = 'Discard the first one of a stream for good, and have those behind it applied. Recorded in the log'
  addAction(asksFirst(parked.command('discard <partition/offset>')), discarding, (place: string, options: Options) =>
    discard(definition, place, options),
  )
}

async function list(definition: Definition, { json }: Options): Promise<CommandResult> {
  return await withStorage(definition, async ({ stores, log }) => {
    const events = await allParked(stores)
    if (events.length === 0) return { json: [], text: 'No event is parked.' }
    const rows = events.map((event) => [placeOf(event), event.stream, event.reason])
    const values = json ? await valuesOf(log, events) : []
    return {
      json: events.map((event, i) => described(event, values[i])),
      text: table(['EVENT', 'STREAM', 'REASON'], rows),
    }
  })
}

async function show(definition: Definition, place: string): Promise<CommandResult> {
  return await withStorage(definition, async ({ stores, log }) => {
    const event = await expectParked(stores, place)
    const [value = null] = await valuesOf(log, [event])
    const { stream, reason } = event
    const lines = [`event    ${placeOf(event)}`, `stream   ${inOneLine(stream)}`, `reason   ${inOneLine(reason)}`]
    return { json: described(event, value), text: [...lines, ...(value === null ? [] : [value])].join('\n') }
  })
}

function described({ partition, offset, stream, reason }: ParkedEvent, value: string | null = null) {
  return { partition, offset, stream, reason, value }
}

/** The record value of each as text; null, with a line that says why, where the log does not give it. */
async function valuesOf(log: EventLog, events: readonly ParkedEvent[]): Promise<(string | null)[]> {
  const values = new Map<string, string>()
  try {
    for (const [partition, those] of Map.groupBy(events, (event) => event.partition)) {
      for (let at = 0; at < those.length; at += readAtOnce) {
        const offsets = those.slice(at, at + readAtOnce).map(({ offset }) => offset)
        const records = await readAt(log, partition, offsets)
        for (const { offset, value } of records) values.set(placeOf({ partition, offset }), String(value))
      }
    }
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof RecordGoneError)) throw error
    process.stderr.write(`The values of some events cannot be read: ${error.message}\n`)
  }
  return events.map((event) => values.get(placeOf(event)) ?? null)
}

async function discard(definition: Definition, place: string, options: Options): Promise<CommandResult> {
  await withStorage(definition, async ({ stores, log }, logger) => {
    const event = await expectParked(stores, place)
    expectFirst(event)
    await confirm(`Event ${place} of the stream ${inOneLine(event.stream)} will be discarded.`, options)
    await log.append(event.partition, [definition.events.encodeDiscard(event, timeOfDay())])
    auditTo(logger)('event discarded', { event: place, stream: event.stream, actor: operator() })
    await untilDiscarded(stores, event)
  })
  const text = `Event ${place} is discarded. Those behind it were applied, up to the next one that cannot be.`
  return { json: { discarded: place }, text }
}

/** Only the first event of a stream can be discarded: it takes a version, on which those behind it build. */
function expectFirst(event: ParkedEvent): void {
  const { partition, first, offset } = event
  if (first === offset) return
  const before = placeOf({ partition, offset: first })
  throw new Error(`Event ${placeOf(event)} waits behind ${before} of the same stream: discard that one first.`)
}

async function untilDiscarded(stores: Stores, { stream, offset }: ParkedEvent): Promise<void> {
  const deadline = performance.now() + discardWithinMs
  while ((await firstOf(stores, stream)) === offset) {
    if (performance.now() > deadline) {
      throw new Error(
        'The decision is in the log, but no projector has applied it yet: is one running, or is much parked behind it?',
      )
    }
    await delay(lookMs)
  }
}

async function firstOf(stores: Stores, stream: string): Promise<Offset | undefined> {
  const found = await inActive(stores, ({ inspection }, name) => inspection.find(name, 'parked', [stream]))
  const text = found.flatMap(({ texts }) => texts).find((each) => each !== undefined)
  return text === undefined ? undefined : decodeParkedStream(stream, text).first
}

async function expectParked(stores: Stores, place: string): Promise<ParkedEvent> {
  const event = (await allParked(stores)).find((each) => placeOf(each) === place)
  if (event !== undefined) return event
  throw new Error(`No event is parked at ${place}; 'parked list' shows those that are.`)
}

function placeOf({ partition, offset }: Position): string {
  return `${partition}/${offset}`
}

/** In the order of the log. */
export async function allParked(stores: Stores): Promise<readonly ParkedEvent[]> {
  const found = await inActive(stores, async ({ inspection }, name) => {
    const streams = await textsIn(inspection, name, 'parked')
    const waiting = await textsIn(inspection, name, 'waiting')
    return streams && waiting && eventsIn(streams, waiting)
  })
  return found.flat().sort((a, b) => a.partition - b.partition || a.offset - b.offset)
}

function eventsIn(streams: ReadonlyMap<string, string>, waiting: ReadonlyMap<string, string>): ParkedEvent[] {
  const parked = new Map([...streams].map(([stream, text]) => [stream, decodeParkedStream(stream, text)]))
  const behind = [...waiting].flatMap(([id, text]) => {
    const stream = parked.get(id.slice(id.indexOf('/') + 1))
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
