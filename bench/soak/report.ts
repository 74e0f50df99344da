import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lineChart } from '../charts.ts'
import { spreadOf } from '../rounds.ts'
import { type Column, table } from '../table.ts'
import type { ProcessState } from './process-state.ts'
import { asMiB, failuresAsText, quantile, type Sample, sum, type Watched } from './watch.ts'

const windows = 12
const yearSeconds = 365 * 24 * 3600

/** Tables and the verdict, as Markdown. */
export function soakReport(watched: Watched, eventBytes: Readonly<Record<string, number>>): string {
  const { form, rate, samples } = watched
  const title = `${form.title}, ${(samples.at(-1)?.minutes ?? 0).toFixed(0)} minutes at ${rate.toFixed(0)} requests/s`
  return [`${title}\n`, windowTable(watched), yearTable(watched, eventBytes), verdict(watched)].join('\n')
}

function windowTable({ form, before, samples }: Watched): string {
  const length = samples.length / windows
  const rows = Array.from({ length: windows }, (_, index) => samples.slice(index * length, (index + 1) * length))
  const columns: Column<readonly Sample[]>[] = [
    { title: 'until minute', cell: (window) => (window.at(-1)?.minutes ?? 0).toFixed(length < 12 ? 1 : 0) },
    { title: 'requests/s', cell: (window) => perSecond(window, 'answered').toFixed(0) },
    { title: 'failed', cell: (window) => String(failedIn(window)) },
    { title: 'late', cell: (window) => String(sum(window.map(({ late }) => late))) },
    { title: 'p50 ms', cell: (window) => latency(window, 0.5) },
    { title: 'p99 ms', cell: (window) => latency(window, 0.99) },
    ...form.processes.flatMap(({ name }, index) => [
      { title: `${name} MiB`, cell: (window: readonly Sample[]) => highest(window, index, 'memoryMiB') },
      { title: `${name} descriptors`, cell: (window: readonly Sample[]) => highest(window, index, 'descriptors') },
    ]),
    ...Object.keys(before).map((name) => ({
      title: `${name} MiB`,
      cell: (window: readonly Sample[]) => asMiB(window.at(-1)?.sizes[name] ?? 0),
    })),
  ]
  return table(columns, rows)
}

function yearTable({ before, samples }: Watched, eventBytes: Readonly<Record<string, number>>): string {
  const events = sum(samples.map((sample) => sample.events))
  const grown = Object.entries(before).map(
    ([name, bytes]) => [name, ((samples.at(-1)?.sizes[name] ?? 0) - bytes) / events] as const,
  )
  const eventsPerYear = perSecond(samples, 'events') * yearSeconds
  const columns: Column<readonly [string, number]>[] = [
    { title: `a year: ${(eventsPerYear / 1e9).toFixed(2)} billion events`, cell: ([name]) => name },
    { title: 'bytes per event', cell: ([, bytes]) => bytes.toFixed(0) },
    { title: 'GiB a year', cell: ([, bytes]) => ((bytes * eventsPerYear) / 2 ** 30).toFixed(0) },
  ]
  return table(columns, [...Object.entries(eventBytes), ...grown])
}

function verdict({ form, samples }: Watched): string {
  const growth = form.processes.map(({ name }, index) => {
    const [middle, last] = [1, 2].map((third) => medianMemory(samples, third, index))
    return `memory of ${name} ${signed((100 * (last ?? 0)) / (middle ?? 1) - 100)} %`
  })
  const kinds = failuresOf(samples)
  const failed = `${failedIn(samples)} requests failed${kinds.size > 0 ? ` (${failuresAsText(kinds)})` : ''}`
  return `${failed}; from the second third to the last one: ${growth.join(', ')}.\n`
}

function medianMemory(samples: readonly Sample[], third: number, process: number): number {
  const length = samples.length / 3
  const within = samples.slice(third * length, (third + 1) * length)
  return spreadOf(within.map(({ processes }) => processes[process]?.memoryMiB ?? 0)).median
}

function signed(percent: number): string {
  return `${percent < 0 ? '' : '+'}${percent.toFixed(1)}`
}

function failuresOf(samples: readonly Sample[]): Map<string, number> {
  const all = new Map<string, number>()
  for (const { failures } of samples) {
    for (const [kind, times] of failures) all.set(kind, (all.get(kind) ?? 0) + times)
  }
  return all
}

export function failedIn(samples: readonly Sample[]): number {
  return sum([...failuresOf(samples).values()])
}

function perSecond(samples: readonly Sample[], what: 'answered' | 'events'): number {
  return sum(samples.map((sample) => sample[what])) / sum(samples.map(({ seconds }) => seconds))
}

function latency(window: readonly Sample[], share: number): string {
  return quantile(
    window.map(({ latencies }) => latencies),
    share,
  ).toFixed(1)
}

function highest(window: readonly Sample[], process: number, what: keyof ProcessState): string {
  return Math.max(...window.map(({ processes }) => processes[process]?.[what] ?? 0)).toFixed(0)
}

/** Memory and descriptors of each process over the run, as SVG. */
export function writeSoakCharts(folder: string, name: string, watched: Watched): void {
  const chartOf = (title: string, unit: string, what: keyof ProcessState) =>
    lineChart({
      title: `${title}: ${watched.form.title}, ${watched.rate.toFixed(0)} requests/s`,
      axes: { x: 'minutes', y: unit },
      x: 'linear',
      series: watched.form.processes.map(({ name }, index) => ({
        name,
        points: watched.samples.map(({ minutes, processes }) => ({ x: minutes, y: processes[index]?.[what] ?? 0 })),
      })),
    })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `soak-${name}-memory.svg`), chartOf('Memory', 'resident memory in MiB', 'memoryMiB'))
  writeFileSync(
    join(folder, `soak-${name}-descriptors.svg`),
    chartOf('Descriptors', 'open file descriptors', 'descriptors'),
  )
}
