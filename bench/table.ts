import type { Round } from './load/load.ts'
import type { Ratio } from './statistics.ts'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
}

/** A Markdown table, aligned for reading as it is. The first column names the row. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ cell }) => cell(row)))]
  const widths = columns.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const lines = cells.map((texts) => line(texts.map((text, column) => pad(text, widths[column] ?? 0, column))))
  lines.splice(
    1,
    0,
    line(widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))),
  )
  return `${lines.join('\n')}\n`
}

export function asPerSecond({ requestsPerSecond }: Round): string {
  return requestsPerSecond.toFixed(0)
}

export function asLatencies({ p50, p99 }: Pick<Round, 'p50' | 'p99'>): string {
  return `${p50.toFixed(2)} / ${p99.toFixed(2)}`
}

export function asRatio({ median, min, max }: Ratio): string {
  return `${median.toFixed(2)} (${min.toFixed(2)}-${max.toFixed(2)})`
}

export function asVerdict(target: string, met: boolean): string {
  return `${target} ${met ? 'met' : 'missed'}`
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width)
}
