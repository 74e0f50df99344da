import type { Measured } from './pairs.ts'
import { summarize } from './statistics.ts'

const header = [
  '',
  'bytes',
  'bare /s',
  'service /s',
  'ratio (min-max)',
  'target',
  'bare p50/p99 ms',
  'service p50/p99 ms',
]

/** A Markdown table, aligned for reading as it is. */
export function table(measured: readonly Measured[]): string {
  const rows = [header, ...measured.map(row)]
  const widths = header.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)))
  const lines = rows.map((cells) => line(cells.map((cell, column) => pad(cell, widths[column] ?? 0, column))))
  lines.splice(
    1,
    0,
    line(widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))),
  )
  return `${lines.join('\n')}\n`
}

function row(measured: Measured): string[] {
  const { scenario, payloadBytes } = measured
  const { bare, service, ratio } = summarize(measured)
  return [
    scenario.name,
    String(payloadBytes),
    bare.requestsPerSecond.toFixed(0),
    service.requestsPerSecond.toFixed(0),
    `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}-${ratio.max.toFixed(2)})`,
    verdict(ratio.median, scenario.target),
    `${bare.p50.toFixed(2)} / ${bare.p99.toFixed(2)}`,
    `${service.p50.toFixed(2)} / ${service.p99.toFixed(2)}`,
  ]
}

function verdict(ratio: number, target: number | undefined): string {
  if (target === undefined) return ''
  return `${target.toFixed(2)} ${ratio >= target ? 'met' : 'missed'}`
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width)
}
