import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { encodeDiscard } from '../domain/event-codec.ts'
import { auditTo } from '../lib/audit.ts'
import { timeOfDay } from '../lib/clock.ts'
import type { Inspection, ScannedPage } from '../read-models/inspection.ts'
import { decodeParkedEvent, type ParkedEvent, parkedId } from '../read-models/parked-event.ts'
import type { Stores } from '../read-models/shards.ts'
import { asksFirst, confirm } from './confirm.ts'
import { addAction, type Outcome, operator, table } from './output.ts'
import { inActive, withStorage } from './storage.ts'

const lookMs = 50
const pageLimit = 1000
/** How long to wait for a projector to apply the discard. */
const discardWithinMs = 15_000

export function addParkedCommands(program: Command): void {
  const parked = program
    .command('parked')
    .description('Events that could not be applied. Later ones of the same stream wait behind them')
  addAction(parked.command('list'), 'List them, in the order of the log', list)
  addAction(parked.command('show <partition/offset>'), 'Show one: why it could not be applied, and its value', show)
  const discarding = 'Discard the first one of a stream for good, and have those behind it applied. Recorded in the log'
  addAction(asksFirst(parked.command('discard <partition/offset>')), discarding, discard)
}

async function list(): Promise<Outcome> {
  const events = await withStorage(({ stores }) => allParked(stores))
  if (events.length === 0) return { json: events, text: 'No event is parked.' }
  const rows = events.map((event) => [parkedId(event), event.stream, event.reason])
  return { json: events, text: table(['EVENT', 'STREAM', 'REASON'], rows) }
}

async function show(place: string): Promise<Outcome> {
  const event = await withStorage(({ stores }) => expectParked(stores, place))
  const { stream, reason, value } = event
  return { json: event, text: `event    ${parkedId(event)}\nstream   ${stream}\nreason   ${reason}\n${value}` }
}

async function discard(place: string, options: { readonly yes?: boolean }): Promise<Outcome> {
  await withStorage(async ({ stores, log }, logger) => {
    const event = await expectParked(stores, place)
    await expectFirst(stores, event)
    await confirm(`Event ${place} of the stream ${event.stream} will be discarded.`, options)
    await log.append(event.partition, [encodeDiscard(event, timeOfDay())])
    auditTo(logger)('event discarded', { event: place, stream: event.stream, actor: operator() })
    await untilDiscarded(stores, event)
  })
  const text = `Event ${place} is discarded. Those behind it were applied, up to the next one that cannot be.`
  return { json: { discarded: place }, text }
}

/** Only the first event of a stream can be discarded: it takes a version, on which those behind it build. */
async function expectFirst(stores: Stores, event: ParkedEvent): Promise<void> {
  const first = (await allParked(stores)).find(({ stream }) => stream === event.stream)
  if (first === undefined || first.offset === event.offset) return
  throw new Error(
    `Event ${parkedId(event)} waits behind ${parkedId(first)} of the same stream: discard that one first.`,
  )
}

async function untilDiscarded(stores: Stores, event: ParkedEvent): Promise<void> {
  const deadline = performance.now() + discardWithinMs
  while ((await find(stores, parkedId(event))) !== undefined) {
    if (performance.now() > deadline) {
      throw new Error('The decision is in the log, but no projector has come to it yet: is one running?')
    }
    await delay(lookMs)
  }
}

async function expectParked(stores: Stores, place: string): Promise<ParkedEvent> {
  const [, partition, offset] = /^(\d+)\/(\d+)$/.exec(place) ?? []
  const event = offset && (await find(stores, parkedId({ partition: Number(partition), offset: Number(offset) })))
  if (event) return event
  throw new Error(`No event is parked at ${place}; 'npm run petstore -- parked list' shows those that are.`)
}

async function find(stores: Stores, id: string): Promise<ParkedEvent | undefined> {
  const found = await inActive(stores, ({ inspection }, name) => inspection.find(name, 'parked', [id]))
  const text = found.flatMap(({ texts }) => texts).find((each) => each !== undefined)
  return text === undefined ? undefined : decodeParkedEvent(id, text)
}

/** In the order of the log. */
export async function allParked(stores: Stores): Promise<readonly ParkedEvent[]> {
  const texts = await inActive(stores, ({ inspection }, name) => parkedTexts(inspection, name))
  const events = texts.flatMap((each) => [...each]).map(([id, text]) => decodeParkedEvent(id, text))
  return events.sort((a, b) => a.partition - b.partition || a.offset - b.offset)
}

/** Keyed by id, as one may come twice; undefined if the generation was removed. */
async function parkedTexts(inspection: Inspection, generation: string): Promise<Map<string, string> | undefined> {
  const texts = new Map<string, string>()
  let from: string | undefined
  do {
    const page: ScannedPage | undefined = await inspection.scan(generation, 'parked', from, pageLimit)
    if (page === undefined) return undefined
    for (const [id, text] of page.items) texts.set(id, text)
    from = page.next
  } while (from !== undefined)
  return texts
}
