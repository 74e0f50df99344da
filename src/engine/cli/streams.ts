import type { Command } from 'commander'
import type { Definition } from '../definition/definition.ts'
import { kindOrFirst } from '../definition/kinds.ts'
import { listed } from '../definition/words.ts'
import type { EventLog } from '../log/event-log.ts'
import type { FoundStream } from '../read-models/read-model.ts'
import type { StreamId } from '../read-models/stored-texts.ts'
import type { SettledEvents, SettledRecord } from '../rule/settled-events.ts'
import { exitCodes, inOneLine, type Options, print } from './output.ts'
import { eventJson, eventRows, settling, streamOf, withSettledEvents } from './shown-events.ts'
import { withStorage } from './storage.ts'

export function addCommands(program: Command, definition: Definition): void {
  program
    .command('streams <id>')
    .description(`Show the stream of ${which(definition)}: its state, and its events with what became of each`)
    .option('--json', 'print JSON')
    .action((name: StreamId, options: Options) => showStream(definition, name, options))
}

/** One of each kind, and how it is named. */
function which({ kinds }: Definition): string {
  const each = kinds.map(({ home, nameOf }, i) => `one ${home.noun}${i === 0 ? '' : ` by ${nameOf('<id>')}`}`)
  return listed(each, 'or')
}

async function showStream(definition: Definition, stream: StreamId, { json = false }: Options): Promise<void> {
  await withStorage(definition, async (storage, logger) => {
    const { log } = storage
    await withSettledEvents(definition, storage, logger, async ({ settled, readModel }) => {
      const found = await readModel.load({ stream })
      const partition = log.partitionFor(stream)
      const [head, tail] = json
        ? [`${stateJson(stream, found)},"events":[`, ']}']
        : [stateText(definition, stream, found), '']
      const rows = eventRows(definition)
      await print(json ? head : `${head}\n\n${rows.titles}`)
      let count = 0
      for await (const each of eventsOf(stream, log, settled)) {
        const text = json ? `${count > 0 ? ',' : ''}${eventJson(partition, each)}` : rows.row(partition, each)
        if (!(await print(text))) return
        count++
      }
      if (json) await print(tail)
      if (count === 0) process.exitCode = exitCodes.notAsItShouldBe
    })
  })
}

/** Those that are in the log now, in its order. */
async function* eventsOf(
  stream: StreamId,
  log: Pick<EventLog, 'partitionFor' | 'endOffsets'>,
  settled: SettledEvents,
): AsyncGenerator<SettledRecord> {
  const partition = log.partitionFor(stream)
  const { [partition]: end = 0 } = await log.endOffsets()
  for (let from = 0; from < end; ) {
    const { records, next } = await settled.read(partition, from, settling.recordsMax, settling.wait)
    for (const each of records) if (each.record.offset < end && streamOf(each) === stream) yield each
    if (next === from) return // the log has lost its end
    from = next
  }
}

function stateText(definition: Definition, stream: StreamId, { row, parked }: FoundStream): string {
  const id = definition.names.documentOf(stream)?.id ?? inOneLine(stream)
  const name = `${kindOrFirst(definition, stream).home.noun} ${id}`
  const state =
    row === undefined ? 'nothing took effect yet' : `version ${row.version}${row.isRemoved ? ', removed' : ''}`
  if (parked === undefined) return `${name}: ${state}`
  const { partition, first, waiting, reason } = parked
  return `${name}: ${state}; parked at ${partition}/${first}, with ${waiting} behind it: ${inOneLine(reason)}`
}

function stateJson(stream: StreamId, { row, parked }: FoundStream): string {
  const place = parked && {
    partition: parked.partition,
    offset: parked.first,
    waiting: parked.waiting,
    reason: parked.reason,
  }
  const state = { stream, version: row?.version ?? 0, isRemoved: row?.isRemoved ?? false, parked: place ?? null }
  return JSON.stringify(state).slice(0, -1)
}
