import type { Round } from './load/load.ts'
import type { Ratio } from './rounds.ts'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
}

/** A target, and whether it was reached. */
export interface Verdict {
  readonly target: string
  readonly met: boolean
}

/** A Markdown table, aligned for reading as it is. The first column names the row. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ cell }) => cell(row)))]
  const widths = columns.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const [first = 0, ...others] = widths
  const rule = ['-'.repeat(first), ...others.map((width) => `${'-'.repeat(width - 1)}:`)]
  const padded = cells.map((texts) => texts.map((text, column) => pad(text, widths[column] ?? 0, column)))
  return [padded[0] ?? [], rule, ...padded.slice(1)].map((texts) => `| ${texts.join(' | ')} |\n`).join('')
}

function pad(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width)
}

export function asPerSecond({ requestsPerSecond }: Round): string {
  return requestsPerSecond.toFixed(0)
}

export function asLatencies({ p50, p99 }: Pick<Round, 'p50' | 'p99'>): string {
  return `${p50.toFixed(2)} / ${p99.toFixed(2)}`
}

/** Nothing where there is nothing to compare with. */
export function asRatio(ratio: Ratio | undefined, digits = 2): string {
  if (ratio === undefined) return ''
  const [median, min, max] = [ratio.median, ratio.min, ratio.max].map((figure) => figure.toFixed(digits))
  return `${median} (${min}-${max})`
}

export function asVerdicts(verdicts: readonly Verdict[]): string {
  return verdicts.map(({ target, met }) => `${target} ${met ? 'met' : 'missed'}`).join(', ')
}
