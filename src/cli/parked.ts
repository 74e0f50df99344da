import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Storage } from '../app/storage.ts'
import { encodeDiscard } from '../domain/event-codec.ts'
import type { Position } from '../event-log/event-log.ts'
import type { ParkedEvent } from '../read-models/parked-event.ts'
import type { Stores } from '../read-models/shards.ts'
import type { ReadModelStore } from '../read-models/store.ts'
import { print, printJson, printTable } from './output.ts'
import { inActive, withStorage } from './storage.ts'

interface JsonOption {
  readonly json?: boolean
}

const lookMs = 50
const pageLimit = 1000
/** For a projector to come to the operator's decision. */
const discardWithinMs = 15_000

export function addParkedCommands(program: Command): void {
  const parked = program
    .command('parked')
    .description('Events that could not be applied. Later ones of the same stream wait behind them')

  parked.command('list').description('List them, in the order of the log').option('--json', 'print JSON').action(list)

  parked
    .command('show <partition/offset>')
    .description('Show one: why it could not be applied, and its value')
    .option('--json', 'print JSON')
    .action(show)

  parked
    .command('discard <partition/offset>')
    .description('Discard the first one of a stream for good, and have those behind it applied. Recorded in the log')
    .option('--json', 'print JSON')
    .action(discard)
}

async function list({ json }: JsonOption): Promise<void> {
  const events = await withStorage(({ stores }) => parkedIn(stores))
  if (json) return printJson(events)
  if (events.length === 0) return print('No event is parked.')
  printTable(
    ['EVENT', 'STREAM', 'REASON'],
    events.map((event) => [placeOf(event), event.stream, event.reason]),
  )
}

async function show(place: string, { json }: JsonOption): Promise<void> {
  const event = await withStorage(({ stores }) => find(stores, place))
  if (json) return printJson(event)
  print(`event    ${placeOf(event)}`)
  print(`stream   ${event.stream}`)
  print(`reason   ${event.reason}`)
  print(event.value)
}

async function discard(place: string, { json }: JsonOption): Promise<void> {
  await withStorage(async (storage) => {
    const event = await find(storage.stores, place)
    await expectFirst(storage.stores, event)
    await storage.log.append(event.partition, [encodeDiscard(event, new Date())])
    await untilDiscarded(storage, event)
  })
  if (json) return printJson({ discarded: place })
  print(`Event ${place} is discarded. Those behind it were applied, up to the next one that cannot be.`)
}

/** Only the first event of a stream can be discarded: it takes a version, on which those behind it build. */
async function expectFirst(stores: Stores, event: ParkedEvent): Promise<void> {
  const ofStream = (await parkedIn(stores)).filter(({ stream }) => stream === event.stream)
  const [first] = ofStream
  if (first === undefined || first.offset === event.offset) return
  throw new Error(`Event ${placeOf(event)} waits behind ${placeOf(first)} of the same stream: discard that one first.`)
}

async function untilDiscarded({ stores }: Storage, event: ParkedEvent): Promise<void> {
  const deadline = performance.now() + discardWithinMs
  while ((await parkedAt(stores, event)) !== undefined) {
    if (performance.now() > deadline) {
      throw new Error('The decision is in the log, but no projector has come to it yet: is one running?')
    }
    await delay(lookMs)
  }
}

async function find(stores: Stores, place: string): Promise<ParkedEvent> {
  const [partition, offset] = /^(\d+)\/(\d+)$/.exec(place)?.slice(1).map(Number) ?? []
  const isPlace = partition !== undefined && offset !== undefined
  const event = isPlace ? await parkedAt(stores, { partition, offset }) : undefined
  if (event === undefined)
    throw new Error(`No event is parked at ${place}; 'petstore parked list' shows those that are.`)
  return event
}

async function parkedAt(stores: Stores, position: Position): Promise<ParkedEvent | undefined> {
  const found = await inActive(stores, ({ inspection }, name) => inspection.parkedAt(name, position))
  return found.find(({ event }) => event !== undefined)?.event
}

async function parkedIn(stores: Stores): Promise<readonly ParkedEvent[]> {
  const parked = (await inActive(stores, allParked)).flat()
  return parked.sort((a, b) => a.partition - b.partition || a.offset - b.offset)
}

/** Undefined where the generation is there no longer. */
async function allParked({ inspection }: ReadModelStore, generation: string): Promise<ParkedEvent[] | undefined> {
  const all: ParkedEvent[] = []
  for (let from: string | undefined = ''; from !== undefined; ) {
    const page: Awaited<ReturnType<typeof inspection.parked>> = await inspection.parked(generation, from, pageLimit)
    if (page === undefined) return undefined
    all.push(...page.items)
    from = page.next
  }
  return all
}

function placeOf({ partition, offset }: Position): string {
  return `${partition}/${offset}`
}
