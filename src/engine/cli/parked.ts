import type { Command } from 'commander'
import type { Definition } from '../definition/definition.ts'
import type { EventLog } from '../log/event-log.ts'
import {
  allParked,
  discard,
  discardableAt,
  type ParkedEvent,
  parkedAt,
  placeOf,
  valuesOf,
} from '../operations/parked.ts'
import { asksFirst, confirm } from './confirm.ts'
import { addAction, type CommandResult, inOneLine, type Options, operator, table } from './output.ts'
import { withStorage } from './storage.ts'

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
    discardOne(definition, place, options),
  )
}

async function list(definition: Definition, { json }: Options): Promise<CommandResult> {
  return await withStorage(definition, async ({ stores, log }) => {
    const events = await allParked(stores)
    if (events.length === 0) return { json: [], text: 'No event is parked.' }
    const rows = events.map((event) => [placeOf(event), event.stream, event.reason])
    const values = json ? await textsOf(log, events) : []
    return {
      json: events.map((event, i) => described(event, values[i])),
      text: table(['EVENT', 'STREAM', 'REASON'], rows),
    }
  })
}

async function show(definition: Definition, place: string): Promise<CommandResult> {
  return await withStorage(definition, async ({ stores, log }) => {
    const event = await parkedAt(stores, place)
    const [value = null] = await textsOf(log, [event])
    const { stream, reason } = event
    const lines = [`event    ${placeOf(event)}`, `stream   ${inOneLine(stream)}`, `reason   ${inOneLine(reason)}`]
    return { json: described(event, value), text: [...lines, ...(value === null ? [] : [value])].join('\n') }
  })
}

function described({ partition, offset, stream, reason }: ParkedEvent, value: string | null = null) {
  return { partition, offset, stream, reason, value }
}

function textsOf(log: EventLog, events: readonly ParkedEvent[]): Promise<(string | null)[]> {
  return valuesOf(log, events, ({ message }) => {
    process.stderr.write(`The values of some events cannot be read: ${message}\n`)
  })
}

async function discardOne(definition: Definition, place: string, options: Options): Promise<CommandResult> {
  await withStorage(definition, async ({ stores, log }, logger) => {
    const event = await discardableAt(stores, place)
    await confirm(`Event ${place} of the stream ${inOneLine(event.stream)} will be discarded.`, options)
    if (await discard(event, { definition, log, stores, logger, actor: operator() })) return
    throw new Error(
      'The decision is in the log, but no projector has applied it yet: is one running, or is much parked behind it?',
    )
  })
  const text = `Event ${place} is discarded. Those behind it were applied, up to the next one that cannot be.`
  return { json: { discarded: place }, text }
}
