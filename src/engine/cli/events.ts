import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { ConfigError } from '../app/environment.ts'
import { openReadSide, type ReadSide, trackShards } from '../app/shards.ts'
import type { Storage } from '../app/storage.ts'
import type { Definition } from '../definition/definition.ts'
import { discardedName } from '../definition/event-schemas.ts'
import { typeOf } from '../definition/event-versions.ts'
import { FairTurns } from '../feed/fair-turns.ts'
import type { Offset, Position } from '../log/event-log.ts'
import { eventText } from '../log/record-codec.ts'
import { SettledEvents, type SettledRecord } from '../rule/settled-events.ts'
import { eventColumns } from './event-columns.ts'
import { type Options, print } from './output.ts'
import { withStorage } from './storage.ts'

interface EventsOptions extends Options {
  readonly follow?: boolean
  /** From the option named by the noun of the service. */
  readonly stream?: string | undefined
  readonly from?: string
  readonly [noun: string]: unknown
}

const recordsMax = 500
/** How often the log is looked at for more. */
const lookMs = 200
/** How long the read models are waited for before an event is shown as waiting. */
const settleMs = 1000
const readModelsMs = 3000

export function addCommands(program: Command, definition: Definition): void {
  const { noun } = definition.home
  program
    .command('events')
    .description('Show the events in the log, and what became of each')
    .option('--follow', 'show what comes from now on, until interrupted')
    .option(`--${noun} <id>`, `only the events of one ${noun}`)
    .option('--from <partition/offset>', 'begin there, in that partition only')
    .option('--json', 'print JSON, one event a line')
    .action((options: EventsOptions) =>
      showEvents(definition, { ...options, stream: options[noun] as string | undefined }),
    )
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
    const line = eventColumns()
    const isRead =
      options.json ||
      (await print(line(['EVENT', 'TIME', 'TYPE', definition.home.noun.toUpperCase(), 'VERSION', 'OUTCOME'])))
    await withSettledEvents(definition, storage, logger, async (settled) => {
      const showing = {
        discardType: typeOf(definition.service.name, discardedName, 1),
        settled,
        turns: new FairTurns(),
        options,
        line,
        isRead,
      }
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

/** Without read models, every event is shown as waiting for them. */
async function withSettledEvents(
  definition: Definition,
  storage: Storage,
  logger: Logger,
  work: (settled: SettledEvents) => Promise<void>,
): Promise<void> {
  const { log } = storage
  const shards = trackShards(storage, logger)
  const readSide = openReadSide(shards, log)
  try {
    await untilReadable(readSide)
    const { readModel } = readSide
    await work(new SettledEvents({ definition, log, readModel }))
  } finally {
    readSide.close()
    await Promise.all(shards.map(({ tracker }) => tracker.close()))
  }
}

async function untilReadable(readSide: ReadSide): Promise<void> {
  const deadline = performance.now() + readModelsMs
  while (readSide.state.status !== 'up' && performance.now() < deadline) await delay(lookMs)
}

interface Showing {
  /** The CloudEvents type of an operator's decision. */
  readonly discardType: string
  readonly settled: SettledEvents
  readonly turns: FairTurns
  readonly options: EventsOptions
  readonly line: (cells: readonly string[]) => string
  /** Whether somebody takes what is shown. */
  isRead: boolean
}

/** Reads in turns: however many partitions there are, the read models are asked about one batch after the other. */
async function showUpTo(
  end: Offset,
  place: { readonly partition: number; next: Offset },
  showing: Showing,
): Promise<void> {
  const { settled, turns } = showing
  const { partition } = place
  while (place.next < end && showing.isRead) {
    const { records, next } = await turns.take('events', () =>
      settled.read(partition, place.next, recordsMax, { timeoutMs: settleMs }),
    )
    for (const each of records) {
      const isWanted = showing.options.follow || each.record.offset < end
      if (isWanted && showing.isRead) showing.isRead = await showRecord(partition, each, showing)
    }
    if (next === place.next) await delay(lookMs)
    place.next = next
  }
}

/** Resolves to whether it can be shown. */
async function showRecord(
  partition: number,
  { record, event, outcome }: SettledRecord,
  { options: { stream: wanted, json }, line, discardType }: Showing,
): Promise<boolean> {
  const { offset, key, value } = record
  const stream = event?.stream ?? String(key ?? '')
  if (wanted !== undefined && stream !== wanted) return true
  if (json) {
    // As it stands in the log, so that no number loses a digit. Line breaks are of no meaning between the parts of JSON.
    const text = event === undefined ? 'null' : eventText(value).replaceAll(/[\r\n]/g, ' ')
    return await print(`{"partition":${partition},"offset":${offset},"outcome":"${outcome}","event":${text}}`)
  }
  const { type, time, version } =
    event?.discards === undefined ? (event ?? nothingRead) : { ...nothingRead, type: discardType }
  return await print(line([`${partition}/${offset}`, time, type, stream, String(version ?? ''), outcome]))
}

const nothingRead = { type: '', time: '', version: undefined }
