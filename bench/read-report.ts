import type { Cycle } from './rounds.ts'
import type { Read } from './scenarios.ts'
import { figuresOf, ratioOf } from './statistics.ts'
import { asLatencies, asPerSecond, asRatio, asVerdict, type Column, table } from './table.ts'

export interface MeasuredRead {
  readonly read: Read
  readonly payloadBytes: number
  readonly pairs: readonly Cycle<'bare' | 'service'>[]
}

type Row = ReturnType<typeof readJson>

const columns: readonly Column<Row>[] = [
  { title: '', cell: ({ name }) => name },
  { title: 'bytes', cell: ({ payloadBytes }) => String(payloadBytes) },
  { title: 'bare /s', cell: ({ bare }) => asPerSecond(bare) },
  { title: 'service /s', cell: ({ service }) => asPerSecond(service) },
  { title: 'ratio (min-max)', cell: ({ ratio }) => asRatio(ratio) },
  { title: 'target', cell: ({ ratio, target }) => asVerdict(target.toFixed(2), ratio.median >= target) },
  { title: 'bare p50/p99 ms', cell: ({ bare }) => asLatencies(bare) },
  { title: 'service p50/p99 ms', cell: ({ service }) => asLatencies(service) },
]

export function readTable(measured: readonly MeasuredRead[]): string {
  return table(columns, measured.map(readJson))
}

export function readJson({ read: { name, target }, payloadBytes, pairs }: MeasuredRead) {
  const bare = figuresOf(pairs, 'bare')
  const service = figuresOf(pairs, 'service')
  return { name, target, payloadBytes, bare, service, ratio: ratioOf(pairs, 'service', 'bare'), pairs }
}
