import type { ProjectOptions } from './options.ts'
import { latencyVerdicts, memoryVerdicts, replayVerdicts, type Verdict } from './project-targets.ts'
import { type ReplayCycle, type ReplaySummary, summarizeReplays } from './replay.ts'
import type { Cycle } from './rounds.ts'
import { type LatencySummary, type MemorySummary, summarizeLatencies, summarizeMemory } from './store-summary.ts'
import type { Store, StoreReading } from './stores.ts'
import { asLatencies, asRatio, asVerdict, type Column, table } from './table.ts'

export interface Projecting {
  readonly replays: readonly ReplayCycle[]
  readonly stores: readonly Store[]
  readonly latencies: readonly Cycle<StoreReading>[]
}

export interface ProjectingSummary {
  readonly replays: readonly ReplaySummary[]
  readonly memory: readonly MemorySummary[]
  readonly latencies: readonly LatencySummary[]
}

export function summarizeProjecting({ replays, stores, latencies }: Projecting): ProjectingSummary {
  return {
    replays: summarizeReplays(replays),
    memory: summarizeMemory(stores),
    latencies: summarizeLatencies(
      stores.map(({ pets }) => pets),
      latencies,
    ),
  }
}

const replayColumns: readonly Column<ReplaySummary>[] = [
  { title: '', cell: ({ replayer }) => replayer },
  {
    title: 'events/s (min-max)',
    cell: ({ eventsPerSecond: { median, min, max } }) => `${median.toFixed(0)} (${min.toFixed(0)}-${max.toFixed(0)})`,
  },
  { title: 'to raw consumer (min-max)', cell: ({ toRaw }) => (toRaw ? asRatio(toRaw) : '') },
  { title: 'CPU µs/event (min-max)', cell: ({ cpuMicros }) => asRatio(cpuMicros) },
  { title: 'targets', cell: (row) => asVerdicts(replayVerdicts(row)) },
]

const memoryColumns: readonly Column<MemorySummary>[] = [
  { title: 'pets', cell: ({ pets }) => String(pets) },
  { title: 'bytes of Redis a pet', cell: ({ bytesPerPet }) => bytesPerPet.toFixed(0) },
  { title: 'target', cell: (row) => asVerdicts(memoryVerdicts(row)) },
]

function latencyColumns(smallest: number): Column<LatencySummary>[] {
  return [
    { title: '', cell: ({ reading }) => reading },
    { title: 'pets', cell: ({ pets }) => String(pets) },
    { title: 'p50/p99 ms', cell: asLatencies },
    { title: 'to first page (min-max)', cell: ({ toFirstPage }) => (toFirstPage ? asRatio(toFirstPage) : '') },
    { title: `to ${smallest} pets (min-max)`, cell: ({ toSmallest }) => (toSmallest ? asRatio(toSmallest) : '') },
    { title: 'targets', cell: (row) => asVerdicts(latencyVerdicts(row, smallest)) },
  ]
}

export function projectTables(
  { replays, memory, latencies }: ProjectingSummary,
  { events, rounds, seconds }: ProjectOptions,
  client: string,
): string {
  const smallest = memory[0]?.pets ?? 0
  return [
    `Replay of ${events} events, ${rounds} rounds:\n\n${table(replayColumns, replays)}`,
    `Memory of Redis:\n\n${table(memoryColumns, memory)}`,
    `Reads on Kafka + Redis, 1 connection of ${client}, ${rounds} rounds of ${seconds} s:\n\n${table(latencyColumns(smallest), latencies)}`,
  ].join('\n')
}

/** The summary, and every round in the order in which they ran. */
export function projectJson(
  projecting: Projecting,
  summary: ProjectingSummary,
  options: ProjectOptions,
  client: string,
): string {
  const stores = projecting.stores.map(({ pets, bytes }) => ({ pets, bytes }))
  return `${JSON.stringify({ client, ...options, summary, ...projecting, stores }, null, 2)}\n`
}

function asVerdicts(verdicts: readonly Verdict[]): string {
  return verdicts.map(({ target, met }) => asVerdict(target, met)).join(', ')
}
