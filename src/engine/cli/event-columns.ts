import { inOneLine } from './output.ts'

const timeWidth = 24
const timeColumn = 1

/** To the millisecond and in UTC, as this service writes it: other programs may write any digits, zone, or text. */
export function shownTime(time: string): string {
  const ms = /^\d{4}-\d\d-\d\dT/i.test(time) ? Date.parse(time) : Number.NaN
  const shown = Number.isNaN(ms) ? inOneLine(time) : new Date(ms).toISOString()
  return shown.length > timeWidth ? `${shown.slice(0, timeWidth - 1)}…` : shown
}

/** Beyond this a cell moves the rest of its own row only. */
const growsTo = 40

/** Rows are streamed, so the widest cell is not known: a column is as wide as the widest so far. */
export function eventColumns() {
  const widths = [10, timeWidth, 26, 10, 7, 0]
  return (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (column === timeColumn ? shownTime(cell) : inOneLine(cell)))
      .map((cell, column) => {
        const width = Math.max(widths[column] ?? 0, Math.min(cell.length, growsTo))
        widths[column] = width
        return cell.padEnd(width)
      })
      .join('  ')
      .trimEnd()
}
