/** `npm run bench:compare`: what a change costs, beside a control that shows how far chance goes. See README.md. */
import { resolve } from 'node:path'
import { Command } from 'commander'
import { newFolder } from '../test/campaign/system/new-folder.ts'
import { metric } from '../test/lib/http-client.ts'
import type { Load } from './load/load.ts'
import { openTabs } from './load/tabs.ts'
import { wrk } from './load/wrk.ts'
import { spreadOf } from './rounds.ts'
import { count, type MeasureOptions, printJson, runToEnd, say, withRounds } from './run.ts'
import { addPet, get, post } from './scenarios.ts'
import { startServer } from './systems/child.ts'
import { asRatio, table } from './table.ts'

const cpuSeconds = 'process_cpu_seconds_total'

interface Options extends MeasureOptions {
  readonly base: string
  readonly import?: string
  readonly write: boolean
  readonly connections: number
  readonly tabs: number
}

const command = new Command('npm run bench:compare --')
  .description('What this checkout costs beside another one, in embedded mode with wrk: see bench/README.md.')
  .option('--base <folder>', 'the other checkout, with its node_modules', '.')
  .option('--import <file>', 'a module that this checkout loads first, as by node --import')
  .option('--write', 'POST in place of GET by id', false)
  .option('--connections <n>', 'connections of the client', count, 64)
  .option('--tabs <n>', 'consoles that are open in browsers on this checkout', count, 0)
const options = withRounds(command, 'base, base again, changed').parse().opts<Options>()

const names = ['base', 'control', 'changed'] as const
type Name = (typeof names)[number]

interface Cost {
  readonly requestsPerSecond: number
  /** Microseconds of the process for each request. */
  readonly cpu: number
}

const settingsOfSdk = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('OTEL_')))

await runToEnd(async () => {
  const cycles: Record<Name, Cost>[] = []
  for (let round = 1; round <= options.rounds; round++) {
    const costs: [Name, Cost][] = []
    for (const name of names) costs.push([name, await measure(name)])
    cycles.push(Object.fromEntries(costs) as Record<Name, Cost>)
    say(`round ${round} of ${options.rounds}: ${JSON.stringify(cycles.at(-1))}`)
  }
  if (options.json) return printJson({ cycles })
  const ratio = (figure: keyof Cost) => (name: Name) =>
    asRatio(spreadOf(cycles.map((cycle) => cycle[name][figure] / cycle.base[figure])))
  const median = (figure: keyof Cost) => (name: Name) =>
    spreadOf(cycles.map((cycle) => cycle[name][figure])).median.toFixed(figure === 'cpu' ? 1 : 0)
  const columns = [
    { title: options.write ? 'POST' : 'GET by id', cell: (name: Name) => name },
    { title: 'requests/s', cell: median('requestsPerSecond') },
    { title: 'to base (min-max)', cell: ratio('requestsPerSecond') },
    { title: 'CPU, µs', cell: median('cpu') },
    { title: 'to base (min-max)', cell: ratio('cpu') },
  ]
  process.stdout.write(table<Name>(columns, names))
})

/** A new process each time: V8 compiles the same code differently from one process to the next. */
async function measure(name: Name): Promise<Cost> {
  await using stack = new AsyncDisposableStack()
  const isChanged = name === 'changed'
  const { url } = await startServer(stack, 'src/main.ts', {
    environment: { DATA_DIR: newFolder(stack), ...(isChanged && settingsOfSdk) },
    root: isChanged ? '.' : options.base,
    node: isChanged && options.import !== undefined ? ['--import', resolve(options.import)] : [],
  })
  if (isChanged) openTabs(stack, url, options.tabs)
  const load: Load = options.write ? post : get([await addPet(url, { name: 'Rex', categoryId: 7 })])
  const run = () => wrk.run({ url, load, ...options })
  await run()
  const before = await metric(url, cpuSeconds)
  const { requestsPerSecond } = await run()
  const cpu = ((await metric(url, cpuSeconds)) - before) / (requestsPerSecond * options.seconds)
  return { requestsPerSecond, cpu: cpu * 1e6 }
}
