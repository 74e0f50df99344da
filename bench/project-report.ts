import { type Growth, growthOf, growthTable } from './growth.ts'
import { type ReplayCycle, type ReplaySummary, replayVerdicts, summarizeReplays } from './replay.ts'
import type { Cycle } from './rounds.ts'
import { type LatencySummary, latencyVerdicts, type Store, type StoreReading, summarizeLatencies } from './stores.ts'
import { asLatencies, asRatio, asVerdicts, type Column, table } from './table.ts'

export interface Projecting {
  readonly replays: readonly ReplayCycle[]
  readonly stores: readonly Store[]
  readonly latencies: readonly Cycle<StoreReading>[]
}

export interface ProjectingSummary {
  readonly replays: readonly ReplaySummary[]
  readonly growth: readonly Growth[]
  readonly latencies: readonly LatencySummary[]
}

export function summarizeProjecting({ replays, stores, latencies }: Projecting): ProjectingSummary {
  const sizes = stores.map(({ pets }) => pets)
  const summary = summarizeLatencies(sizes, latencies)
  return { replays: summarizeReplays(replays), growth: growthOf(stores, summary), latencies: summary }
}

const replayColumns: readonly Column<ReplaySummary>[] = [
  { title: '', cell: ({ replayer }) => replayer },
  { title: 'events/s (min-max)', cell: ({ eventsPerSecond }) => asRatio(eventsPerSecond, 0) },
  { title: 'to raw consumer (min-max)', cell: ({ toRaw }) => asRatio(toRaw) },
  { title: 'CPU µs/event (min-max)', cell: ({ cpuMicros }) => asRatio(cpuMicros) },
  { title: 'targets', cell: (row) => asVerdicts(replayVerdicts(row)) },
]

function latencyColumns(smallest: number): Column<LatencySummary>[] {
  return [
    { title: '', cell: ({ reading }) => reading },
    { title: 'pets', cell: ({ pets }) => String(pets) },
    { title: 'p50/p99 ms', cell: asLatencies },
    { title: 'beside another (min-max)', cell: ({ beside }) => asRatio(beside?.ratio) },
    { title: `to ${smallest} pets (min-max)`, cell: ({ toSmallest }) => asRatio(toSmallest) },
    { title: 'targets', cell: (row) => asVerdicts(latencyVerdicts(row, smallest)) },
  ]
}

export function projectTables(
  { replays, growth, latencies }: ProjectingSummary,
  { events, rounds, seconds }: { events: number; rounds: number; seconds: number },
  client: string,
): string {
  const smallest = growth[0]?.pets ?? 0
  const reads = `Reads on Kafka + Redis, 1 connection of ${client}, ${rounds} rounds of ${seconds} s`
  return [
    `Replay of ${events} events, ${rounds} rounds:\n\n${table(replayColumns, replays)}`,
    `Growth of a store, built by one replay:\n\n${growthTable(growth)}`,
    `${reads}:\n\n${table(latencyColumns(smallest), latencies)}`,
  ].join('\n')
}
