import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Storage } from '../app/storage.ts'
import { eventDiscardedRecord } from '../domain/event-discarded.ts'
import type { ParkedEvents, Place } from '../read-models/inspection.ts'
import type { ParkedAt, ReadModels } from '../read-models/read-models.ts'
import type { Shards } from '../read-models/shards.ts'
import { print, printJson, printTable } from './output.ts'
import { inActive, withStorage } from './storage.ts'

interface JsonOption {
  readonly json?: boolean
}

const lookMs = 50
const partLimit = 1000
/** For a projector to come to the decision of the operator. */
const discardWithinMs = 15_000

export function addParkedCommands(program: Command): void {
  const parked = program
    .command('parked')
    .description('Events that could not be applied. Later ones of the same subject wait behind them')

  parked.command('list').description('List them, in the order of the log').option('--json', 'print JSON').action(list)

  parked
    .command('show <partition/offset>')
    .description('Show one: why it could not be applied, and its value')
    .option('--json', 'print JSON')
    .action(show)

  parked
    .command('discard <partition/offset>')
    .description('Leave one out for good, and have what waits behind it applied. Recorded in the log')
    .option('--json', 'print JSON')
    .action(discard)
}

async function list({ json }: JsonOption): Promise<void> {
  const events = await withStorage(({ stores }) => parkedIn(stores))
  if (json) return printJson(events)
  if (events.length === 0) return print('No event is parked.')
  printTable(
    ['EVENT', 'SUBJECT', 'REASON'],
    events.map((event) => [placeOf(event), event.subject, event.reason]),
  )
}

async function show(place: string, { json }: JsonOption): Promise<void> {
  const event = await withStorage(({ stores }) => find(stores, place))
  if (json) return printJson(event)
  print(`event    ${placeOf(event)}`)
  print(`subject  ${event.subject}`)
  print(`reason   ${event.reason}`)
  print(event.value)
}

async function discard(place: string, { json }: JsonOption): Promise<void> {
  await withStorage(async (storage) => {
    const event = await find(storage.stores, place)
    await storage.log.append(event.partition, [eventDiscardedRecord(event, new Date())])
    await untilDiscarded(storage, event)
  })
  if (json) return printJson({ discarded: place })
  print(`Event ${place} is discarded; what waited behind it has been taken up.`)
}

async function untilDiscarded({ stores }: Storage, event: ParkedAt): Promise<void> {
  const deadline = performance.now() + discardWithinMs
  while ((await parkedAt(stores, event)) !== undefined) {
    if (performance.now() > deadline) {
      throw new Error('The decision is in the log, but no projector has come to it yet: is one running?')
    }
    await delay(lookMs)
  }
}

async function find(stores: Shards, place: string): Promise<ParkedAt> {
  const [partition, offset] = /^(\d+)\/(\d+)$/.exec(place)?.slice(1).map(Number) ?? []
  const isPlace = partition !== undefined && offset !== undefined
  const event = isPlace ? await parkedAt(stores, { partition, offset }) : undefined
  if (event === undefined)
    throw new Error(`No event is parked at ${place}; 'petstore parked list' shows those that are.`)
  return event
}

async function parkedAt(stores: Shards, place: Place): Promise<ParkedAt | undefined> {
  const found = await inActive(stores, (store, name) => store.parkedAt(name, place))
  return found.find(({ event }) => event !== undefined)?.event
}

async function parkedIn(stores: Shards): Promise<readonly ParkedAt[]> {
  const parked = (await inActive(stores, allParked)).flat()
  return parked.sort((a, b) => a.partition - b.partition || a.offset - b.offset)
}

/** Undefined where the generation is there no longer. */
async function allParked(store: ReadModels, generation: string): Promise<ParkedAt[] | undefined> {
  const all: ParkedAt[] = []
  for (let from: string | undefined = ''; from !== undefined; ) {
    const part: ParkedEvents | undefined = await store.parked(generation, from, partLimit)
    if (part === undefined) return undefined
    all.push(...part.events)
    from = part.next
  }
  return all
}

function placeOf({ partition, offset }: ParkedAt): string {
  return `${partition}/${offset}`
}
