import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { barChart } from './chart/bar-chart.ts'
import { grouped } from './chart/frame.ts'
import { lineChart } from './chart/line-chart.ts'
import type { ProjectingSummary } from './project-report.ts'
import { bytesPerPetMax } from './project-targets.ts'
import { readings } from './stores.ts'

/** Writes a chart of each table, as SVG. */
export function writeCharts(folder: string, summary: ProjectingSummary): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'replay.svg'), replayChart(summary))
  writeFileSync(join(folder, 'memory.svg'), memoryChart(summary))
  writeFileSync(join(folder, 'latency.svg'), latencyChart(summary))
}

function replayChart({ replays }: ProjectingSummary): string {
  return barChart({
    title: 'Replay of the event log',
    axis: 'events a second: median, and from the slowest to the fastest round',
    bars: replays.map(({ replayer, eventsPerSecond: { median, min, max } }) => ({
      label: replayer,
      value: median,
      range: [min, max],
    })),
  })
}

function memoryChart({ memory }: ProjectingSummary): string {
  return barChart({
    title: 'Memory of Redis for a pet',
    axis: 'bytes a pet: used_memory of the store, divided by its pets',
    bars: memory.map(({ pets, bytesPerPet }) => ({ label: `${grouped(pets)} pets`, value: bytesPerPet })),
    target: { label: `at most ${bytesPerPetMax}`, value: bytesPerPetMax },
  })
}

function latencyChart({ latencies }: ProjectingSummary): string {
  return lineChart({
    title: 'Reads over the size of the store',
    axes: { x: 'pets in the store (logarithmic)', y: 'median latency in ms, 1 connection' },
    series: readings.map((reading) => ({
      name: reading,
      points: latencies.filter((row) => row.reading === reading).map(({ pets, p50 }) => ({ x: pets, y: p50 })),
    })),
  })
}
