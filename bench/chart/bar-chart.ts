import { colours, grouped, line, short, svg, text, ticksTo, width } from './frame.ts'

export interface Bar {
  readonly label: string
  readonly value: number
  /** From least to greatest, drawn across the end of the bar. */
  readonly range?: readonly [least: number, greatest: number]
}

export interface BarChart {
  readonly title: string
  /** What the axis shows, with its unit. */
  readonly axis: string
  readonly bars: readonly Bar[]
  /** A line across all bars. */
  readonly target?: { readonly label: string; readonly value: number }
}

const left = 130
const right = 40
const top = 60
const rowHeight = 40
const barHeight = 22

/** Horizontal bars from zero, as SVG. */
export function barChart({ title, axis, bars, target }: BarChart): string {
  const highest = Math.max(...bars.flatMap(({ value, range }) => [value, range?.[1] ?? 0]), target?.value ?? 0)
  const ticks = ticksTo(highest * 1.08) // room for the figures behind the bars
  const scale = (width - left - right) / (ticks.at(-1) ?? 1)
  const at = (value: number) => left + value * scale
  const bottom = top + bars.length * rowHeight
  const grid = ticks.flatMap((tick) => [
    line([at(tick), top, at(tick), bottom], 'faint'),
    text(at(tick), bottom + 18, grouped(tick), { anchor: 'middle' }),
  ])
  const rows = bars.flatMap(({ label, value, range = [value, value] }, index) => {
    const middle = top + (index + 0.5) * rowHeight
    const [least, greatest] = range
    return [
      text(left - 10, middle + 4, label, { anchor: 'end' }),
      `<rect x="${left}" y="${middle - barHeight / 2}" width="${short(value * scale)}" height="${barHeight}" fill="${colours[0]}"/>`,
      ...(greatest > least ? [line([at(least), middle, at(greatest), middle], 'ink')] : []),
      text(at(Math.max(value, greatest)) + 6, middle + 4, grouped(Math.round(value)), {}),
    ]
  })
  const goal = target
    ? [
        line([at(target.value), top - 8, at(target.value), bottom], 'ink', '5 4'),
        text(at(target.value), top - 12, target.label, { anchor: 'middle' }),
      ]
    : []
  const caption = text(left + (width - left - right) / 2, bottom + 40, axis, { anchor: 'middle' })
  return svg(title, bottom + 56, [...grid, ...rows, ...goal, caption])
}
