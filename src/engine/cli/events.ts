import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Storage } from '../app/storage/storage.ts'
import { ConfigError } from '../app/variables.ts'
import type { Definition } from '../definition/definition.ts'
import { FairTurns } from '../feed/fair-turns.ts'
import type { Offset, Position } from '../log/event-log.ts'
import type { SettledEvents } from '../rule/settled-events.ts'
import { type Options, print } from './output.ts'
import { eventJson, eventRows, settling, streamOf, withSettledEvents } from './shown-events.ts'
import { withStorage } from './storage.ts'

interface EventsOptions extends Options {
  readonly follow?: boolean
  /** From the option named by the noun of a kind. */
  readonly stream?: string | undefined
  readonly from?: string
  readonly [noun: string]: unknown
}

/** How often the log is looked at for more. */
const lookMs = 200

export function addCommands(program: Command, definition: Definition): void {
  const { kinds } = definition
  const command = program
    .command('events')
    .description('Show the events in the log, and what became of each')
    .option('--follow', 'show what comes from now on, until interrupted')
  for (const { home } of kinds) command.option(`--${home.noun} <id>`, `only the events of one ${home.noun}`)
  command
    .option('--from <partition/offset>', 'begin there, in that partition only')
    .option('--json', 'print JSON, one event a line')
    .action((options: EventsOptions) => showEvents(definition, { ...options, stream: streamIn(kinds, options) }))
}

/** What an option says that is named by the noun of a kind. Throws ConfigError where two do. */
function streamIn(kinds: Definition['kinds'], options: EventsOptions): string | undefined {
  const asked = kinds.filter(({ home }) => options[home.noun] !== undefined)
  const [kind, other] = asked
  if (kind === undefined) return undefined
  if (other !== undefined)
    throw new ConfigError(`--${kind.home.noun} and --${other.home.noun} cannot be used together.`)
  return kind.nameOf(String(options[kind.home.noun]))
}

async function showEvents(definition: Definition, options: EventsOptions): Promise<void> {
  const from = options.from === undefined ? undefined : readPosition(options.from)
  await withStorage(definition, async (storage, logger) => {
    const { log } = storage
    const ends = await log.endOffsets()
    const firstOf = (partition: number) => from?.offset ?? (options.follow ? (ends[partition] ?? 0) : 0)
    const places = partitionsOf(storage, from, options.stream).map((partition) => ({
      partition,
      next: firstOf(partition),
    }))
    const rows = eventRows(definition)
    const isRead = options.json || (await print(rows.titles))
    await withSettledEvents(definition, storage, logger, async ({ settled }) => {
      const showing = { settled, turns: new FairTurns(), options, row: rows.row, isRead }
      const showAll = (until: readonly Offset[]) =>
        Promise.all(places.map((place) => showUpTo(until[place.partition] ?? 0, place, showing)))
      await showAll(ends)
      while (options.follow && showing.isRead) {
        await delay(lookMs)
        await showAll(await log.endOffsets())
      }
    })
  })
}

function readPosition(text: string): Position {
  const [, partition, offset] = /^(\d{1,9})\/(\d{1,15})$/.exec(text) ?? []
  if (partition === undefined) throw new ConfigError(`--from ${text} is not PARTITION/OFFSET, such as 0/12.`)
  return { partition: Number(partition), offset: Number(offset) }
}

function partitionsOf({ log }: Storage, from: Position | undefined, stream: string | undefined): number[] {
  if (from !== undefined && from.partition >= log.partitions) {
    throw new ConfigError(
      `--from ${from.partition}/${from.offset}: the log has ${log.partitions} partitions, from 0 on.`,
    )
  }
  const all = Array.from({ length: log.partitions }, (_, partition) => partition)
  return all.filter(
    (partition) =>
      (from === undefined || from.partition === partition) &&
      (stream === undefined || log.partitionFor(stream) === partition),
  )
}

interface Showing {
  readonly settled: SettledEvents
  readonly turns: FairTurns
  readonly options: EventsOptions
  readonly row: ReturnType<typeof eventRows>['row']
  /** Whether somebody takes what is shown. */
  isRead: boolean
}

/** Reads in turns: however many partitions there are, the read models are asked about one batch after the other. */
async function showUpTo(
  end: Offset,
  place: { readonly partition: number; next: Offset },
  showing: Showing,
): Promise<void> {
  const { settled, turns, options, row } = showing
  const { partition } = place
  const text = options.json ? eventJson : row
  while (place.next < end && showing.isRead) {
    const { records, next } = await turns.take('events', () =>
      settled.read(partition, place.next, settling.recordsMax, settling.wait),
    )
    for (const each of records) {
      const isWanted = options.follow || each.record.offset < end
      const isOfStream = options.stream === undefined || streamOf(each) === options.stream
      if (isWanted && isOfStream && showing.isRead) showing.isRead = await print(text(partition, each))
    }
    if (next === place.next) await delay(lookMs)
    place.next = next
  }
}
