import type { Cycle } from './rounds.ts'
import type { Service } from './systems/service.ts'
import { asLatencies, asPerSecond, asRatio, asVerdict, type Column, table } from './table.ts'
import { summarize, type WriteSummary, type WriteSystem } from './write-summary.ts'
import { targetsOf } from './write-targets.ts'

export interface MeasuredWrite {
  readonly service: Service
  readonly connections: number
  readonly cycles: readonly Cycle<WriteSystem>[]
}

interface Row extends WriteSummary {
  readonly targets: readonly { readonly target: string; readonly met: boolean }[]
}

const columns: readonly Column<Row>[] = [
  { title: '', cell: ({ system }) => system },
  { title: 'connections', cell: ({ connections }) => String(connections) },
  { title: 'requests/s', cell: asPerSecond },
  { title: 'to bare (min-max)', cell: ({ ratios: { bare } }) => (bare ? asRatio(bare) : '') },
  { title: 'to naive (min-max)', cell: ({ ratios: { naive } }) => (naive ? asRatio(naive) : '') },
  { title: 'p50/p99 ms', cell: asLatencies },
  { title: 'targets', cell: ({ targets }) => targets.map(({ target, met }) => asVerdict(target, met)).join(', ') },
]

export function writeTable(measured: readonly MeasuredWrite[]): string {
  return table(columns, measured.flatMap(rows))
}

export function writeJson(measured: MeasuredWrite) {
  const { connections, cycles } = measured
  return { connections, systems: rows(measured), cycles }
}

function rows({ service, connections, cycles }: MeasuredWrite): Row[] {
  return summarize(connections, cycles).map((summary) => {
    const targets = targetsOf(service, summary).map(({ target, isMet }) => ({ target, met: isMet(summary) }))
    return { ...summary, targets }
  })
}
