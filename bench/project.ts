/** `npm run bench:project`: replay of the log, memory of Redis, and reads over the size of the store. See README.md. */
import { Command } from 'commander'
import { writeCharts } from './charts.ts'
import { findClient } from './load/wrk.ts'
import { projectTables, summarizeProjecting } from './project-report.ts'
import { measureReplays } from './replay.ts'
import { type MeasureOptions, printJson, runToEnd, wholeNumber, withRounds } from './run.ts'
import { makeStore, measureLatencies, type Store } from './stores.ts'
import { withBrokers } from './systems/service.ts'

interface Options extends MeasureOptions {
  readonly events: number
  /** Whether half of the events are orders, one for each pet. */
  readonly orders: boolean
  /** Numbers of pets in the stores to read from, ascending. */
  readonly pets: readonly number[]
  /** Folder. */
  readonly charts: string
}

const many = (text: string) => wholeNumber(text, 100, 99_999_999)
const sizes = (text: string) =>
  text
    .split(',')
    .map(many)
    .toSorted((a, b) => a - b)
const command = new Command('npm run bench:project --')
  .description(
    'Measures replays of the log, memory of Redis, and read latency over the size of the store: see bench/README.md.',
  )
  .option('--events <n>', 'events to replay', many, 200_000)
  .option('--orders', 'replay a log with one order per pet', false)
  .option('--pets <n,n,…>', 'numbers of pets in the stores to read from, ascending', sizes, [1000, 100_000, 1_000_000])
  .option('--charts <folder>', 'folder for the charts', 'docs/charts')
const options = withRounds(command, 'raw consumer, Kafka → Redis, …').parse().opts<Options>()

await runToEnd(async (stack) => {
  const client = await findClient()
  const environment = await withBrokers(stack)
  const replays = await measureReplays(stack, environment, options)
  const stores: Store[] = []
  for (const pets of options.pets) stores.push(await makeStore(stack, environment, pets))
  const latencies = await measureLatencies(stores, { ...options, client })
  const summary = summarizeProjecting({ replays, stores, latencies })
  writeCharts(options.charts, summary)
  if (options.json) {
    // The summary, and every round in the order in which they ran.
    printJson({ client: client.name, ...options, summary, replays, latencies })
  } else process.stdout.write(projectTables(summary, options, client.name))
})
