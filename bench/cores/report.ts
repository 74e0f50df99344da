import type { Round } from '../load/load.ts'
import { spreadOf } from '../rounds.ts'
import { asLatencies, asPerSecond, asRatio, type Column, table } from '../table.ts'
import { type CoreRow, type Costs, coreRows, highestRate, limits, type Processes } from './calculated.ts'

export const formNames = ['one process', 'api + projector', '2 apis + projector'] as const
export type FormName = (typeof formNames)[number]

/** POST, durable: answered once the event is in the log. mixed: nine GETs by id to a POST. */
export const loadNames = ['POST, durable', 'POST', 'GET by id', 'mixed'] as const
export type LoadName = (typeof loadNames)[number]

/** One round of one form under one load. */
export interface Measured extends Round {
  /** Microseconds of CPU for each request, until what it left behind was done. */
  readonly costs: Costs & { readonly client: number }
  /** How many cores worked on average, on all that is in `costs`. */
  readonly busy: number
}

/** One round of each form under each load. */
export type CoreCycle = Readonly<Record<FormName, Readonly<Record<LoadName, Measured>>>>

interface Row {
  readonly form: FormName
  readonly load: LoadName
}

/** What the rows of other cores are calculated from: roles have costs of their own in it. */
const source: FormName = 'api + projector'
const coreCounts = [2, 4, 8, 16]

/** `cores` are those that it was measured on. */
export function report(cycles: readonly CoreCycle[], cores: number): string {
  return [measuredTable(cycles, cores), calculatedTable(cycles), checkOf(cycles, cores)].join('\n')
}

function median(cycles: readonly CoreCycle[], { form, load }: Row, figure: (measured: Measured) => number): number {
  return spreadOf(cycles.map((cycle) => figure(cycle[form][load]))).median
}

function measuredTable(cycles: readonly CoreCycle[], cores: number): string {
  const rows = loadNames.flatMap((load) => formNames.map((form) => ({ form, load })))
  const round = (row: Row): Round => ({
    requestsPerSecond: median(cycles, row, ({ requestsPerSecond }) => requestsPerSecond),
    p50: median(cycles, row, ({ p50 }) => p50),
    p99: median(cycles, row, ({ p99 }) => p99),
  })
  const toOne = ({ form, load }: Row) =>
    spreadOf(cycles.map((cycle) => cycle[form][load].requestsPerSecond / cycle['one process'][load].requestsPerSecond))
  const cpu = ['api', 'projector', 'kafka', 'redis', 'client'] as const
  const columns: Column<Row>[] = [
    { title: `${cores} cores, measured`, cell: ({ load, form }) => `${load}: ${form}` },
    { title: 'requests/s', cell: (row) => asPerSecond(round(row)) },
    { title: 'to one process', cell: (row) => (row.form === 'one process' ? '' : asRatio(toOne(row))) },
    { title: 'p50 / p99 ms', cell: (row) => asLatencies(round(row)) },
    ...cpu.map((part) => ({
      title: part === 'api' ? 'CPU µs: api' : part,
      cell: (row: Row) => median(cycles, row, ({ costs }) => costs[part]).toFixed(1),
    })),
    { title: 'cores busy', cell: (row) => median(cycles, row, ({ busy }) => busy).toFixed(2) },
  ]
  return table(columns, rows)
}

function costsOf(cycles: readonly CoreCycle[], load: LoadName): Costs {
  const of = (part: keyof Costs) => median(cycles, { form: source, load }, ({ costs }) => costs[part])
  return { api: of('api'), projector: of('projector'), kafka: of('kafka'), redis: of('redis') }
}

function calculatedTable(cycles: readonly CoreCycle[]): string {
  const rows = coreRows(coreCounts, costsOf(cycles, 'mixed'))
  const columns: Column<CoreRow>[] = [
    { title: 'cores, calculated', cell: ({ processes }) => String(processes.cores) },
    { title: 'processes', cell: ({ processes }) => inWords(processes) },
    ...loadNames.map((load) => ({
      title: `${load}/s`,
      cell: ({ processes }: CoreRow) => highestRate(processes, costsOf(cycles, load)).toFixed(0),
    })),
    { title: 'mixed: limited by', cell: ({ processes }) => limits(processes, costsOf(cycles, 'mixed')) },
  ]
  return table(columns, rows)
}

function inWords({ apis, projectors }: Processes): string {
  return `${apis} ${apis === 1 ? 'api' : 'apis'}, ${projectors} ${projectors === 1 ? 'projector' : 'projectors'}`
}

/** How far the formula is right where both are known: on these cores, which the client shares. */
function checkOf(cycles: readonly CoreCycle[], cores: number): string {
  const here: Processes = { cores, apis: 1, projectors: 1 }
  const shares = loadNames.map((load) => {
    const client = median(cycles, { form: source, load }, ({ costs }) => costs.client)
    const measured = median(cycles, { form: source, load }, ({ requestsPerSecond }) => requestsPerSecond)
    return `${load} ${(measured / highestRate(here, costsOf(cycles, load), client)).toFixed(2)}`
  })
  return `measured, in parts of what the formula gives for ${source} on ${cores} cores with the client: ${shares.join(', ')}\n`
}
